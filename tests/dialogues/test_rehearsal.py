"""Every dialogue is played against the real agent, and what is not as written is told with both sides."""

from __future__ import annotations

import pytest

from tests.dialogues.conftest import Play


@pytest.mark.parametrize(
    "turn",
    [
        "{say: turn on the north fan, outcome: done, calls: [{tool: turn_on, targets: [fan.north]}]}",
        "{say: turn on the north fan, outcome: done, states: {fan.north: 'on'}, answer: [turned ON, north fan]}",
        "{say: start the fan and the lamp, outcome: done, calls: [{tool: turn_on, targets: [light.grow, fan.north]}]}",
        "{say: turn on the north fan, given: {fan.north: {available: false}}, outcome: failed, reason: unavailable}",
        "{say: never turn on the north fan, outcome: refused, reason: not_yet, calls: []}",
        "{say: start the water pump, outcome: ask, reason: ask.confirm, states: {pump.water: 'off'}}",
        "{wait: 10 min, planned: 0}",
    ],
)
def test_what_is_as_written_passes(play: Play, turn: str) -> None:
    report = play(f"- turns: [{turn}]")
    assert (report.n_passed, report.failures) == (1, ())


@pytest.mark.parametrize(
    ("turn", "wanted", "got"),
    [
        ("{say: turn on the north fan, outcome: ask}", "ask", "done: Turned on the north fan."),
        ("{say: turn on the north fan, outcome: done}", "nothing else changed (list fan.north", "fan.north: state on"),
        (
            "{say: turn on the north fan, outcome: done, states: {fan.north: 'off'}}",
            "fan.north state = off",
            "on; Turned on the north fan.",
        ),
        (
            "{say: turn on the north fan, outcome: done, calls: [{tool: turn_off, targets: [fan.north]}]}",
            "call turn_off() → fan.north",
            "turn_on() → fan.north",
        ),
        (
            "{say: turn on the north fan, outcome: done, calls: [{tool: turn_on, targets: [fan.north], args: {a: 1}}]}",
            "call turn_on(a=1) → fan.north",
            "turn_on() → fan.north",
        ),
        ("{say: turn on the north fan, outcome: done, calls: []}", "no other call", "turn_on() → fan.north"),
        ("{say: start the water pump, outcome: ask, reason: which}", "reason which", "ask.confirm"),
        ("{say: start the water pump, outcome: ask, answer: lamp}", "answer with 'lamp'", "'Turn on the water pump?'"),
        ("{say: start the water pump, outcome: ask, planned: 2}", "2 planned", "0"),
    ],
)
def test_what_is_not_as_written_is_told_with_both_sides(play: Play, turn: str, wanted: str, got: str) -> None:
    report = play(f"- name: x\n  turns:\n  - {turn}")
    assert report.n_passed == 0
    failure = report.failures[0]
    assert (failure.line, failure.turn) == (3, 1)
    assert failure.wanted.startswith(wanted)
    assert failure.got.startswith(got)
    assert "\n" not in str(failure)


def test_no_dialogue_sees_what_another_one_did(play: Play) -> None:
    turn = "- turns: [{say: turn on the north fan, outcome: done, states: {fan.north: 'on'}}]\n"
    asked = "- turns: [{say: start the water pump, outcome: ask}]\n- turns: [{say: 'yes', outcome: refused}]\n"
    still_off = "- turns: [{wait: 1 s, states: {fan.north: 'off', pump.water: 'off'}}]\n"
    assert play(turn + asked + still_off).n_passed == 4


def test_a_question_ends_when_the_clock_of_the_script_says_so(play: Play) -> None:
    ask = "- turns:\n  - {say: start the water pump, outcome: ask}\n  - {wait: %s}\n"
    ask += "  - {say: 'yes', outcome: %s, states: {pump.water: %s}}\n"
    assert play(ask % ("50 s", "done", "'on'") + ask % ("70 s", "refused", "'off'")).n_passed == 2


def test_a_code_and_rules_of_the_dialogue_hold(play: Play) -> None:
    given = "- given: {pin: '5829', policy: [{tools: [turn_off], then: pin}]}\n  turns:\n"
    ask = "  - {say: turn off the lamp, outcome: ask, reason: pin}\n"
    assert play(given + ask).n_passed == 1


def test_a_rule_that_wants_a_code_needs_none_from_the_environment(play: Play) -> None:
    given = "- given: {policy: [{tools: [turn_off], then: pin}]}\n  turns:\n"
    ask = (
        "  - {say: turn off the lamp, outcome: ask, reason: pin}\n  - {say: '1234', outcome: ask, reason: pin_again}\n"
    )
    assert play(given + ask).failures == ()


def test_an_error_of_the_agent_fails_that_dialogue_and_the_others_go_on(play: Play) -> None:
    too_long = f"- turns: [{{say: {'on ' * 300}, outcome: refused}}]\n"
    report = play(too_long + "- turns: [{wait: 1 s}]\n")
    assert report.n_passed == 1
    assert report.failures[0].got.startswith("PromptTooLong: ")


def test_a_gap_is_counted_apart(play: Play) -> None:
    report = play("- gap: later\n  turns: [{say: juggle the lamp, outcome: done}]\n- turns: [{wait: 1 s}]")
    assert (report.n_passed, len(report.failures), len(report.gaps)) == (1, 0, 1)


def test_mutations_are_counted_by_their_fate(play: Play) -> None:
    text = "- turns: [{say: Turn on the north fan., outcome: done, states: {fan.north: 'on'}}]"
    report = play(text, seed=0)
    assert set(report.fates) == {"dropped", "homophone", "bare", "doubled", "polite", "scope"}
    assert report.total("same") >= 2
    assert report.total("same") + report.total("safe") == 6
    assert report.wrong == ()
    assert play(text, seed=0).as_dict()["mutations"] == report.as_dict()["mutations"]


def test_a_dialogue_that_failed_or_is_spared_is_not_mutated(play: Play) -> None:
    turns = "turns: [{say: turn on the north fan, outcome: %s, states: {fan.north: 'on'}}]\n"
    assert play("- " + turns % "ask" + "- mutate: false\n  " + turns % "done", seed=0).fates == {}
