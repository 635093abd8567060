"""The smart home app in conversation: what the last turn lends to the next, and for how long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agentkit.agent.pin import PinLock
from agentkit.agent.pin_memory import PinMemory
from agentkit.assemble import Assembly, Live
from agentkit.config import App, load_app
from agentkit.errors import ConfigError
from agentkit.evaluate import put_back
from agentkit.policy_rules import PolicyRule, Verdict
from agentkit.types import Outcome, Reply, Utterance

APP = Path(__file__).parents[2] / "apps" / "smart_home"
CODE = "4711"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Talk:
    """One home with a clock; sessions and users by name."""

    def __init__(self, app: App, live: Live, clock: Clock):
        self.app, self.live, self.clock = app, live, clock
        put_back(live.registry, app.home.devices)

    def say(self, text: str, *, session: str = "s", user: str | None = None, is_dry_run: bool = False) -> Reply:
        return self.live.agent.handle(Utterance(text, session=session, user=user, is_dry_run=is_dry_run))

    def state(self, device_id: str) -> str | None:
        return self.live.registry.get(device_id).state


@pytest.fixture(scope="module")
def app() -> App:
    return load_app(APP)


@pytest.fixture(scope="module")
def assembly(app: App) -> Assembly:
    return Assembly(app)


@pytest.fixture
def talk(app: App, assembly: Assembly) -> Talk:
    clock = Clock()
    return Talk(app, assembly.open(app.home, clock=clock), clock)


def with_rules(app: App, monkeypatch: pytest.MonkeyPatch, rules: Sequence[PolicyRule], code: str | None = CODE) -> Talk:
    """The home under other rules, with the code in a variable."""
    if code is None:
        monkeypatch.delenv("TEST_CODE", raising=False)
    else:
        monkeypatch.setenv("TEST_CODE", code)
    other = load_app(APP, ["pin={env: TEST_CODE}"])
    clock = Clock()
    return Talk(app, Assembly(other).open(app.home, policy=rules, clock=clock), clock)


# memory


def test_it_reaches_back_only_so_long(talk: Talk) -> None:
    talk.say("turn on the desk lamp")
    talk.clock.now = talk.app.limits.memory_s - 1
    assert talk.say("turn it off").outcome is Outcome.DONE
    talk.clock.now += talk.app.limits.memory_s
    reply = talk.say("turn it on")
    assert (reply.outcome, reply.expects_reply) == (Outcome.ASK, True)


def test_undo_reaches_back_only_so_long(talk: Talk) -> None:
    talk.say("turn on the desk lamp")
    talk.clock.now = talk.app.limits.memory_s + 1
    assert talk.say("undo").outcome is Outcome.REFUSED
    assert talk.state("light.desk") == "on"


def test_neither_session_nor_user_shares_its_memory(talk: Talk) -> None:
    talk.say("turn on the desk lamp", user="ann")
    assert talk.say("turn it off", session="other", user="ann").outcome is Outcome.ASK
    assert talk.say("undo", user="bob").outcome is Outcome.REFUSED
    assert talk.state("light.desk") == "on"


def test_state_is_read_when_it_is_needed_not_remembered(talk: Talk) -> None:
    talk.say("set the kitchen light to 30 percent")
    talk.live.registry.report("light.kitchen", attributes={"brightness": 204})
    reply = talk.say("a bit brighter")
    assert reply.actions[0].attributes["brightness"] > 204


def test_a_dry_run_refers_to_the_last_turn_and_leaves_no_trace(talk: Talk) -> None:
    talk.say("turn on the desk lamp")
    reply = talk.say("turn it off", is_dry_run=True)
    assert [c.targets for c in reply.calls] == [("light.desk",)]
    assert talk.say("undo").outcome is Outcome.DONE
    assert talk.state("light.desk") == "off"


def test_what_failed_was_spoken_of_too(talk: Talk) -> None:
    lamp = talk.live.registry.get("light.desk")
    talk.live.registry.upsert(replace(lamp, is_available=False))
    assert talk.say("turn on the desk lamp").outcome is Outcome.FAILED
    talk.live.registry.upsert(lamp)
    assert talk.say("again").outcome is Outcome.DONE
    assert talk.state("light.desk") == "on"


def test_another_subject_in_between_does_not_change_what_it_is(talk: Talk) -> None:
    talk.say("turn on the desk lamp")
    talk.say("who wrote that song")
    assert talk.say("turn it off").outcome is Outcome.DONE


def test_the_number_of_remembered_conversations_is_bounded(talk: Talk) -> None:
    for n in range(300):
        talk.say("turn on the desk lamp", session=f"s{n}")
    assert talk.say("undo", session="s0").outcome is Outcome.REFUSED
    assert talk.say("undo", session="s299").outcome in (Outcome.DONE, Outcome.REFUSED)
    assert len(talk.live.agent._memory) <= 256


# undo


def test_undo_restores_values_as_well_as_states(talk: Talk) -> None:
    before = talk.live.registry.get("light.kitchen")
    talk.say("set the kitchen light to 30 percent")
    talk.say("undo")
    assert talk.live.registry.get("light.kitchen") == before


def test_undo_takes_an_item_off_the_list_again(talk: Talk) -> None:
    before = talk.live.registry.get("todo.shopping")
    talk.say("add oat milk to the shopping list")
    assert talk.live.registry.get("todo.shopping") != before
    talk.say("undo")
    assert talk.live.registry.get("todo.shopping") == before


def test_undo_of_an_undo_does_the_thing_again(talk: Talk) -> None:
    talk.say("turn on the desk lamp")
    talk.say("undo")
    talk.say("undo")
    assert talk.state("light.desk") == "on"


def test_undo_says_when_a_device_has_gone(talk: Talk) -> None:
    talk.say("turn on the desk lamp")
    talk.live.registry.remove("light.desk")
    reply = talk.say("undo")
    assert (reply.outcome, reply.actions) == (Outcome.REFUSED, ())
    assert "cannot take back" in reply.say


def test_a_forbidden_undo_does_not_happen(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = with_rules(app, monkeypatch, [PolicyRule(Verdict.DENY, tools=("unlock",))])
    talk.live.registry.report("lock.front_door", state="unlocked")
    talk.say("lock the front door")
    assert talk.say("undo").outcome is Outcome.REFUSED
    assert talk.state("lock.front_door") == "locked"


def test_values_are_put_back_under_the_rule_of_the_tool_that_set_them(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = with_rules(app, monkeypatch, [PolicyRule(Verdict.CONFIRM, tools=("set_temperature",))])
    talk.say("set the bedroom ac to 22 degrees")
    talk.say("yes")
    reply = talk.say("undo")
    assert (reply.outcome, reply.expects_reply) == (Outcome.ASK, True)


def test_nobody_can_call_restore_by_name(talk: Talk) -> None:
    result = talk.live.agent.act("lock.front_door", "restore", {"state": "unlocked"})
    assert result.reason == "unknown_tool"
    assert talk.state("lock.front_door") == "locked"


# pending questions


def test_an_answer_after_the_time_limit_is_none(talk: Talk) -> None:
    assert talk.say("set the bedroom ac").expects_reply
    talk.clock.now = talk.app.limits.question_timeout_s
    reply = talk.say("add oat milk")
    assert not reply.actions
    before = talk.live.registry.get("climate.bedroom")
    talk.say("21")
    assert talk.live.registry.get("climate.bedroom") == before


def test_free_text_may_hold_anything_but_a_command(talk: Talk) -> None:
    talk.say("add something to the shopping list")
    reply = talk.say("light bulbs")
    assert [dict(c.args) for c in reply.calls] == [{"item": "light bulbs"}]
    talk.say("add something to the shopping list")
    assert not [c for c in talk.say("blarg the kitchen light on").calls if c.tool == "add_to_list"]


def test_a_reply_is_expected_exactly_while_a_question_is_open(talk: Talk) -> None:
    assert talk.say("unlock the front door").expects_reply
    assert not talk.say("no").expects_reply
    assert talk.say("make it cozy in here").expects_reply
    assert not talk.say("turn on the desk lamp").expects_reply
    assert not talk.say("unlock the front door", is_dry_run=True).expects_reply


def test_a_proposal_runs_only_after_a_yes(talk: Talk) -> None:
    asked = talk.say("switch on the kitchen light for my grandmother")
    assert (asked.outcome, asked.expects_reply) == (Outcome.ASK, True)
    assert talk.say("yes").outcome is Outcome.DONE


# the code


RULES = (PolicyRule(Verdict.PIN, tools=("unlock",)), PolicyRule(Verdict.CONFIRM, tools=("open_cover",)))


@pytest.mark.parametrize("said", ["4711", "4 7 1 1", "four seven one one", "四七一一", "four seven, one one please"])
def test_the_right_code_unlocks(app: App, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    talk = with_rules(app, monkeypatch, RULES)
    asked = talk.say("unlock the front door")
    assert (asked.outcome, asked.expects_reply) == (Outcome.ASK, True)
    assert talk.say(said).outcome is Outcome.DONE
    assert talk.state("lock.front_door") == "unlocked"


def test_a_yes_is_no_code(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = with_rules(app, monkeypatch, RULES)
    talk.say("unlock the front door")
    assert not talk.say("yes").actions
    assert talk.state("lock.front_door") == "locked"


def test_three_wrong_codes_lock_for_a_while_in_every_session(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = with_rules(app, monkeypatch, RULES)
    for n, wrong in enumerate(("1111", "2222")):
        talk.say("unlock the front door", session=str(n))
        assert talk.say(wrong, session=str(n)).expects_reply
        talk.say("never mind", session=str(n))
    talk.say("unlock the front door")
    last = talk.say("3333")
    assert (last.outcome, last.expects_reply) == (Outcome.REFUSED, False)
    assert talk.say("unlock the front door", session="new").outcome is Outcome.REFUSED
    talk.clock.now = 301
    talk.say("unlock the front door")
    assert talk.say(CODE).outcome is Outcome.DONE


def test_every_lock_is_longer_than_the_last_until_the_right_code(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = with_rules(app, monkeypatch, RULES)
    for seconds in (300, 600, 1200):
        for _ in range(3):
            talk.say("unlock the front door")
            talk.say("1111")
        talk.clock.now += seconds - 1
        assert talk.say("unlock the front door").outcome is Outcome.REFUSED
        talk.clock.now += 2
    talk.say("unlock the front door")
    assert talk.say(CODE).outcome is Outcome.DONE


def test_the_code_stands_in_no_record(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    talk = with_rules(app, monkeypatch, RULES)
    replies = [talk.say("unlock the front door"), talk.say("9999"), talk.say(CODE)]
    turns = talk.live.agent.trace.turns()
    intents = [t.understanding.intents for t in turns if t.understanding]
    records = [(t.utterance, intents, replace(t.reply, timings_ms={})) for t in turns]
    seen = repr(records) + repr([replace(r, timings_ms={}) for r in replies]) + caplog.text
    assert replies[-1].outcome is Outcome.DONE
    assert CODE not in seen
    assert "9999" not in seen


def test_a_direct_action_cannot_do_without_the_code(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = with_rules(app, monkeypatch, RULES)
    result = talk.live.agent.act("lock.front_door", "unlock", {}, is_confirmed=True)
    assert result.reason == "needs_pin"
    assert talk.state("lock.front_door") == "locked"


def test_a_rule_with_a_code_wants_a_code(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="there is no code"):
        with_rules(app, monkeypatch, RULES, code=None)
    with pytest.raises(ConfigError, match="digits") as caught:
        with_rules(app, monkeypatch, RULES, code="secret")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "said", ["yes {}", "unlock the front door {}", "not {}", "{} 打开前门", "４７１１", "4 7-1 1 please"]
)
def test_the_code_stands_in_no_record_however_it_was_said(app: App, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    talk = with_rules(app, monkeypatch, [PolicyRule(Verdict.PIN, tools=("unlock",))])
    talk.say("unlock the front door")
    talk.say(said.format(CODE))
    kept = [(t.utterance.text, t.reply.say, t.reply.why) for t in talk.live.agent.trace.turns()]
    assert len(kept) == 2
    assert not any(CODE in "".join(c for c in text if c.isdigit()) for turn in kept for text in turn)


@pytest.mark.parametrize("said", ["yes {}", "{}, yes", "yes please, 4 7 1 1", "好的 {}"])
def test_a_yes_with_the_code_answers_the_question_for_it(app: App, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    talk = with_rules(app, monkeypatch, [PolicyRule(Verdict.PIN, tools=("unlock",))])
    talk.say("unlock the front door")
    assert talk.say(said.format(CODE)).outcome is Outcome.DONE
    assert talk.state("lock.front_door") == "unlocked"
    assert CODE not in repr([(t.utterance, t.reply.say, t.reply.why) for t in talk.live.agent.trace.turns()])


@pytest.mark.parametrize("said", ["no {}", "yes 9999", "yes", "maybe {}", "yes {} 打开前门"])
def test_nothing_but_a_yes_stands_beside_the_code(app: App, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    talk = with_rules(app, monkeypatch, [PolicyRule(Verdict.PIN, tools=("unlock",))])
    talk.say("unlock the front door")
    assert talk.say(said.format(CODE)).outcome is not Outcome.DONE
    assert talk.state("lock.front_door") == "locked"


def test_the_question_for_the_code_of_a_plan_tells_its_time(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = with_rules(app, monkeypatch, [PolicyRule(Verdict.PIN, tools=("unlock",))])
    reply = talk.say("unlock the front door tomorrow at 7")
    assert reply.say == "Unlock the front door, tomorrow at 07:00? That needs the code."
    assert talk.say(CODE).outcome is Outcome.SCHEDULED


def test_wrong_codes_are_counted_over_a_restart(app: App, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TEST_CODE", CODE)
    assembly = Assembly(load_app(APP, ["pin={env: TEST_CODE}"]))
    rules = [PolicyRule(Verdict.PIN, tools=("unlock",))]

    def start(now: float = 0.0) -> Talk:
        clock = Clock()
        clock.now = now
        return Talk(app, assembly.open(app.home, policy=rules, clock=clock, state_dir=tmp_path), clock)

    for _ in range(2):
        talk = start()
        talk.say("unlock the front door")
        assert talk.say("9999").expects_reply
    talk = start()
    talk.say("unlock the front door")
    talk.say("9999")
    for jump in (0.0, 1e7):  # the lock holds for its whole length, whatever the clock says
        talk = start(jump)
        assert talk.say("unlock the front door").outcome is Outcome.REFUSED
        talk.clock.now += 299
        assert talk.say("unlock the front door").outcome is Outcome.REFUSED
    talk.clock.now += 2
    assert talk.say("unlock the front door").expects_reply
    talk = start()
    talk.say("unlock the front door")
    assert talk.say(CODE).outcome is Outcome.DONE
    assert CODE not in (tmp_path / "pin.json").read_text()


LATER = "1" + "0" * 400


@pytest.mark.parametrize(
    "text",
    [
        *("{", "[]", "3"),
        '{"n_wrong": 0, "locked_s": 300, "n_locks": 1, "until": ' + LATER + "}",
        '{"n_wrong": 0, "locked_s": 300, "n_locks": 1}',
        '{"n_wrong": 0, "locked_s": 300, "n_locks": 1, "until": NaN}',
    ],
)
def test_a_lock_whose_end_nobody_knows_holds_for_its_length(tmp_path: Path, text: str) -> None:
    file, clock = tmp_path / "pin.json", Clock()
    file.write_text(text)
    lock = PinLock(CODE, clock, PinMemory(file))
    clock.now += 299
    assert lock.is_locked
    clock.now += 2
    assert not lock.is_locked


@pytest.mark.parametrize("text", ["{", "[]", '{"n_wrong": "0"}', '{"n_wrong": 0, "locked_s": -5, "n_locks": 0}'])
def test_a_file_of_wrong_codes_that_cannot_be_read_locks(tmp_path: Path, text: str) -> None:
    file, clock = tmp_path / "pin.json", Clock()
    file.write_text(text)
    lock = PinLock(CODE, clock, PinMemory(file))
    assert lock.is_locked
    assert not lock.try_code(CODE)
    clock.now += 301
    assert lock.try_code(CODE)
    assert not PinLock(CODE, clock, PinMemory(file)).is_locked


@pytest.mark.parametrize(
    ("passed_s", "left_s"),
    [
        (0, 300),
        (100, 200),
        (299, 1),
        (301, 0),
        (-1e6, 300),  # the clock was set back
    ],
)
def test_a_lock_ends_when_it_would_have_without_a_restart(tmp_path: Path, passed_s: float, left_s: float) -> None:
    file, start = PinMemory(tmp_path / "pin.json"), 1.7e9
    lock = PinLock(CODE, Clock(), file, lambda: start)
    for _ in range(3):
        lock.try_code("0000")
    clock = Clock()
    again = PinLock(CODE, clock, file, lambda: start + passed_s)
    clock.now += max(0, left_s - 0.5)
    assert again.is_locked is (left_s > 0)
    clock.now += 1
    assert not again.is_locked
    assert again.try_code(CODE)


@pytest.mark.parametrize("text", ["do the usual bedtime routine", "my usual, please", "set the lights like always"])
def test_what_is_usual_is_asked_about(text: str, talk: Talk) -> None:
    reply = talk.say(text)
    assert reply.outcome is Outcome.ASK
    assert not reply.calls


@pytest.mark.parametrize("text", ["kitchen light", "the oven", "床头灯"])
def test_a_device_without_a_verb_is_asked_about(text: str, talk: Talk) -> None:
    reply = talk.say(text)
    assert reply.outcome is Outcome.ASK
    assert not reply.calls


def test_it_is_the_device_that_was_named_without_a_verb(talk: Talk) -> None:
    talk.say("kitchen light")
    assert talk.say("again").outcome is Outcome.REFUSED
    talk.say("kitchen light")
    talk.say("turn it on")
    assert talk.state("light.kitchen") == "on"


def test_a_room_or_a_mere_kind_is_no_device(talk: Talk) -> None:
    assert [talk.say(t).outcome for t in ("kitchen", "music", "卧室")] == [Outcome.REFUSED] * 3
