from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import pytest

from agentkit.agent.agent import Agent, AgentLimits
from agentkit.agent.execute import Limits
from agentkit.agent.reply import Replies
from agentkit.defaults import replies_over_defaults
from agentkit.devices.adapter import Device
from agentkit.devices.registry import Registry
from agentkit.errors import Abandoned, PromptTooLong, StepFailed
from agentkit.policy_rules import PolicyRule, Verdict
from agentkit.types import Call, Intent, Kind, Outcome, Reply, Selector, Status, Understanding, Utterance
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised
from agentkit.understanding.tools import Decision, Tool
from agentkit.understanding.words import Words
from agentkit.yaml_lines import load_mapping
from tests.agent.house import HOUSE, TOOLS, OddAdapter, with_function

FOLDER = Path(__file__).parents[2] / "apps" / "smart_home" / "replies"
REPLIES = Replies({lang: replies_over_defaults(load_mapping(FOLDER / f"{lang}.yaml"), lang) for lang in ("en", "zh")})
WORDS = {
    "en": Words(
        "en",
        kinds={"light": ("light", "lamp"), "cover": ("cover", "window")},
        verbs={"unlock": ("unlock",), "open_cover": ("open", "roll…up")},
        yes=("yes", "ok", "do it"),
        no=("no", "don't"),
        cancel=("never mind", "cancel"),
        everything=("all", "both"),
        fillers=("the", "one", "it", "please", "in"),
        beside_yes=("please",),
        with_yes=("the", "it"),
        levels={"50": ("half",)},
        modes={"heat": ("heating",), "cool": ("cooling",)},
    ),
    "zh": Words(
        "zh",
        yes=("是的", "好的", "好", "要"),
        no=("不要", "不"),
        cancel=("取消",),
        fillers=("的", "吧", "那个"),
        with_yes=("吧",),
    ),
}
GARAGE = PolicyRule(Verdict.CONFIRM, tools=("open_cover",), device_classes=("garage",), reason="it lets people in")
UNLOCK = PolicyRule(Verdict.CONFIRM, tools=("unlock",), reason="it lets people in")
KIDS = PolicyRule(Verdict.DENY, tools=("unlock",), users=("kid",))
FAST = AgentLimits(execution=Limits(timeout_ms=150, verify_ms=30, max_hung=2))


class Script:
    """Understands exactly the sentences it was given."""

    def __init__(self, sentences: Mapping[str, Understanding]):
        self.sentences = dict(sentences)
        self.heard: list[str] = []

    def understand(self, text: Normalised, view: HomeView) -> Understanding:
        self.heard.append(text.text)
        return self.sentences.get(text.text, Understanding(Kind.NONE, why="not in the script"))

    def lexicon(self, view: HomeView, words: Words) -> Lexicon:
        return Lexicon(view, words)


def calls(*intents: Intent, **more: object) -> Understanding:
    return Understanding(Kind.CALLS, intents, path="template", **more)  # type: ignore[arg-type]


def intent(tool: str, *names: str, args: Mapping[str, object] | None = None, **selector: object) -> Intent:
    return Intent(tool, args or {}, Selector(names=names, **selector))  # type: ignore[arg-type]


SENTENCES = {
    "lamp 1 on": calls(intent("turn_on", "Lamp 1")),
    "lamp 11 on": calls(intent("turn_on", "Lamp 11")),
    "both lamps on": calls(intent("turn_on", "Lamp 1"), intent("turn_on", "Lamp 11")),
    "开灯1": calls(intent("turn_on", "灯1")),
    "开吸顶灯": calls(intent("turn_on", "吸顶灯")),
    "ceiling on": calls(intent("turn_on", "Ceiling")),
    "ceiling and lamp 1 on": calls(intent("turn_on", "Ceiling"), intent("turn_on", "Lamp 1")),
    "plug on": calls(intent("turn_on", "Plug")),
    "plug and lamp 1 on": calls(intent("turn_on", "Plug"), intent("turn_on", "Lamp 1")),
    "twice": calls(intent("turn_on", "Lamp 1"), intent("turn_on", "灯1")),
    "unlock": calls(intent("unlock", "Front Door")),
    "解锁前门": calls(intent("unlock", "前门")),
    "lock": calls(intent("lock", "Front Door")),
    "lamp 1 on, garage open": calls(intent("turn_on", "Lamp 1"), intent("open_cover", "Garage Door")),
    "open a cover": calls(intent("open_cover", types=("cover",))),
    "attic lights on": calls(intent("turn_on", types=("light",), areas=("attic",))),
    "unicorn and lamp 1 on": calls(intent("turn_on", "Unicorn"), intent("turn_on", "Lamp 1")),
    "unicorn on": calls(intent("turn_on", "Unicorn")),
    "dim": calls(intent("set_brightness", "Lamp 1")),
    "way too bright": calls(intent("set_brightness", "Lamp 1", args={"brightness": 300})),
    "mode": calls(intent("set_mode")),
    "night": calls(intent("activate_scene", "Night")),
    "what is open?": calls(intent("get_state", types=("cover",))),
    "what is open": calls(intent("get_state", types=("cover",))),
    "lamp 1 perhaps": calls(intent("turn_on", "Lamp 1"), needs_confirmation=True),
    "all lights on": calls(intent("turn_on", types=("light",), is_all=True)),
    "at nine": Understanding(Kind.REFUSE, (intent("turn_on", "Lamp 1"),), "not_yet", path="template", why="time"),
    "hello": Understanding(Kind.SAY, reply_key="greeting", path="template"),
    "which": Understanding(Kind.ASK, reply_key="repeat", path="model"),
    "teleport": calls(intent("teleport", "Lamp 1")),
}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class House:
    """The real agent in the test house, with scripted understanding."""

    def __init__(
        self,
        *,
        tools: Mapping[str, Tool] = TOOLS,
        rules: Sequence[PolicyRule] = (KIDS, GARAGE, UNLOCK),
        extra: Sequence[Device] = (),
        limits: AgentLimits = FAST,
        **faults: str,
    ):
        self.registry = Registry(HOUSE)
        for device in extra:
            self.registry.upsert(device)
        self.adapter = OddAdapter(self.registry, **faults)
        self.clock, self.script = Clock(), Script(SENTENCES)
        self.agent = Agent(
            tools=tools,
            registry=self.registry,
            adapter=self.adapter,
            understander=self.script,
            replies=REPLIES,
            words=WORDS,
            policy_rules=rules,
            clock=self.clock,
            now=lambda: datetime(2030, 1, 1),
            limits=limits,
        )

    def say(self, text: str, **options: object) -> Reply:
        return self.agent.handle(Utterance(text, **options))  # type: ignore[arg-type]

    def state(self, device_id: str) -> str | None:
        return self.registry.get(device_id).state


def test_a_command_is_done_said_and_recorded():
    house = House()
    reply = house.say("lamp 1 on")
    assert (reply.outcome, reply.say, reply.ok) == (Outcome.DONE, "Turned on the lamp 1.", True)
    assert reply.calls == (Call("turn_on", {}, ("light.lamp_1",)),)
    assert [a.status for a in reply.actions] == [Status.DONE]
    assert house.state("light.lamp_1") == "on"


def test_chinese_is_answered_in_chinese():
    reply = House().say("开灯1")
    assert (reply.language, reply.say) == ("zh", "已打开灯1。")


def test_every_step_is_timed_and_the_total_covers_them():
    timings = House().say("lamp 1 on").timings_ms
    steps = ("normalise", "dialogue", "understand", "resolve", "policy", "execute", "reply")
    assert set(timings) == {*steps, "total"}
    assert timings["total"] >= max(timings[step] for step in steps)


def test_the_reply_tells_which_tier_answered_and_why():
    reply = House().say("at nine")
    assert (reply.outcome, reply.path, reply.why) == (Outcome.REFUSED, "template", "time")
    assert reply.calls == (Call("turn_on", {}, ("light.lamp_1",)),)


@pytest.mark.parametrize(
    ("text", "outcome"), [("hello", Outcome.ANSWER), ("which", Outcome.ASK), ("gibberish", Outcome.NONE)]
)
def test_what_calls_nothing_moves_nothing(text, outcome):
    house = House()
    reply = house.say(text)
    assert (reply.outcome, reply.actions, house.adapter.sent) == (outcome, (), [])
    assert reply.say


@pytest.mark.parametrize("text", ["", "   ", "\x00\x07\x1b", "\udcff\udcfe", "\u200b\n"])
def test_nothing_said_is_met_with_a_polite_sentence(text):
    house = House()
    reply = house.say(text)
    assert (reply.outcome, reply.say) == (Outcome.NONE, "I did not hear anything.")
    assert house.script.heard == []


def test_control_characters_are_dropped():
    assert House().say("lamp\x00 1\x07 on").outcome is Outcome.DONE


def test_a_text_that_is_too_long_raises_with_both_sizes():
    with pytest.raises(PromptTooLong, match="text has 50000 characters, at most 500") as caught:
        House().say("x" * 50_000)
    assert (caught.value.n_tokens, caught.value.max_tokens) == (50_000, 500)


@pytest.mark.parametrize("field", ["session", "user", "area", "language"])
def test_a_label_that_is_too_long_raises(field):
    with pytest.raises(PromptTooLong, match=field):
        House().say("lamp 1 on", **{field: "x" * 1000})


def test_an_unknown_room_of_the_speaker_is_named():
    house = House()
    reply = house.say("lamp 1 on", area="attic")
    assert (reply.outcome, "attic" in reply.say, house.adapter.sent) == (Outcome.REFUSED, True, [])


def test_the_speakers_room_may_be_given_by_name():
    assert House().say("ceiling on", area="BEDROOM").calls[0].targets == ("light.bedroom_ceiling",)


def test_an_unknown_area_or_device_is_refused_by_name():
    assert "attic" in House().say("attic lights on").say
    reply = House().say("unicorn on")
    assert (reply.outcome, "Unicorn" in reply.say) == (Outcome.REFUSED, True)


def test_a_part_that_is_refused_does_not_stop_the_rest():
    house = House()
    reply = house.say("unicorn and lamp 1 on")
    assert reply.outcome is Outcome.PARTIAL
    assert [a.status for a in reply.actions] == [Status.DONE, Status.FAILED]
    assert "Turned on the lamp 1." in reply.say
    assert "Unicorn" in reply.say
    assert reply.calls == (Call("turn_on", {}, ("light.lamp_1",)),)


def test_a_tool_that_does_not_exist_is_refused():
    assert House().say("teleport").outcome is Outcome.REFUSED


def test_an_offline_device_fails_truthfully():
    reply = House().say("plug on")
    assert (reply.outcome, reply.actions[0].reason) == (Outcome.FAILED, "unavailable")
    assert "offline" in reply.say
    assert "Turned on" not in reply.say


def test_some_done_and_some_failed_is_partial_and_says_both():
    reply = House().say("plug and lamp 1 on")
    assert reply.outcome is Outcome.PARTIAL
    assert "offline" in reply.say
    assert "Turned on the lamp 1." in reply.say


def test_a_device_that_ignores_the_command_is_never_called_done():
    reply = House(light__lamp_1="ignores").say("lamp 1 on")
    assert reply.outcome is Outcome.FAILED
    assert "Turned on" not in reply.say


def test_a_device_that_cannot_be_read_back_is_neither_done_nor_failed():
    reply = House(light__lamp_1="unreadable").say("lamp 1 on")
    assert (reply.outcome, reply.ok, reply.actions[0].status) == (Outcome.PARTIAL, False, Status.UNKNOWN)
    assert "Turned on" not in reply.say


def test_a_function_that_raises_hangs_or_returns_nonsense_ends_its_turn_only():
    release = threading.Event()

    def raises(_: Device) -> Decision:
        raise RuntimeError("boom")

    def hangs(_: Device) -> Decision:
        release.wait(20)
        return Decision({}, "late")

    for function, reason in ((raises, "error"), (hangs, "timeout"), (lambda _: "yes", "bad_result")):
        house = House(tools={**TOOLS, "turn_on": with_function("turn_on", function)})
        reply = house.say("lamp 1 on")
        assert (reply.outcome, reply.actions[0].reason) == (Outcome.FAILED, reason)
        assert house.say("lock").outcome is Outcome.DONE
    release.set()


def test_a_decoder_that_fails_ends_its_turn_only():
    house = House()
    good = house.script.understand

    def fails(text: Normalised, view: HomeView) -> Understanding:
        raise StepFailed("core step: device lost")

    house.script.understand = fails  # type: ignore[method-assign]
    reply = house.say("lamp 1 on")
    assert (reply.outcome, "device lost" in reply.why) == (Outcome.FAILED, True)
    house.script.understand = good  # type: ignore[method-assign]
    assert house.say("lamp 1 on").outcome is Outcome.DONE


def test_the_same_call_twice_runs_once():
    house = House()
    reply = house.say("twice")
    assert house.adapter.sent_to == ["light.lamp_1"]
    assert (reply.outcome, len(reply.actions), len(reply.calls)) == (Outcome.DONE, 1, 1)


def test_a_question_is_an_answer_and_shows_what_it_read():
    reply = House().say("what is open?")
    assert reply.outcome is Outcome.ANSWER
    assert reply.calls == (Call("get_state", {}, ("cover.window", "cover.garage")),)
    assert "closed" in reply.say


def test_a_dry_run_resolves_and_executes_nothing():
    house = House()
    reply = house.say("lamp 1 on", is_dry_run=True)
    assert [(a.status, a.reason) for a in reply.actions] == [(Status.SKIPPED, "dry_run")]
    assert reply.calls[0].targets == ("light.lamp_1",)
    assert (house.adapter.sent, "Turned on" in reply.say) == ([], False)


def test_a_dry_run_neither_leaves_nor_answers_a_question():
    house = House()
    house.say("unlock", is_dry_run=True)
    assert house.say("yes").outcome is Outcome.NONE
    house.say("unlock")
    assert house.say("yes", is_dry_run=True).outcome is Outcome.NONE
    assert house.say("yes").outcome is Outcome.DONE


def test_unlocking_is_asked_about_and_yes_unlocks():
    house = House()
    asked = house.say("unlock")
    assert (asked.outcome, asked.expects_reply, house.adapter.sent) == (Outcome.ASK, True, [])
    assert "policy says confirm: it lets people in" in asked.why
    assert asked.calls == (Call("unlock", {}, ("lock.front",)),)
    reply = house.say("Yes, please.")
    assert (reply.outcome, reply.path, house.state("lock.front")) == (Outcome.DONE, "dialogue", "unlocked")


def test_locking_needs_no_question_and_locks():
    house = House()
    house.registry.report("lock.front", state="unlocked")
    assert house.say("lock").outcome is Outcome.DONE
    assert house.state("lock.front") == "locked"


@pytest.mark.parametrize("text", ["no", "No, don't do it.", "cancel", "never mind", "no yes"])
def test_no_leaves_everything_and_closes_the_question(text):
    house = House()
    house.say("unlock")
    reply = house.say(text)
    assert (reply.outcome, reply.say) == (Outcome.ANSWER, "All right, I will not do it.")
    assert house.say("yes").outcome is Outcome.NONE
    assert house.adapter.sent == []


def test_another_command_drops_the_question_and_is_done():
    house = House()
    house.say("unlock")
    assert house.say("lamp 1 on").outcome is Outcome.DONE
    assert house.say("yes").outcome is Outcome.NONE
    assert house.state("lock.front") == "locked"


@pytest.mark.parametrize("text", ["yes but only the lamp", "yes tomorrow", "is it locked"])
def test_a_yes_with_more_beside_it_is_no_yes(text):
    house = House()
    house.say("unlock")
    house.say(text)
    assert house.adapter.sent == []


def test_a_yes_may_repeat_what_was_asked():
    house = House()
    house.say("unlock")
    assert house.say("yes, unlock the front door").outcome is Outcome.DONE


def test_silence_past_the_time_limit_closes_the_question():
    house = House()
    house.say("unlock")
    house.clock.now = 61
    assert house.say("yes").outcome is Outcome.NONE
    assert house.adapter.sent == []


def test_a_yes_of_another_session_or_user_does_not_count():
    house = House()
    house.say("unlock", session="hall", user="ann")
    assert house.say("yes", session="garden", user="ann").outcome is Outcome.NONE
    assert house.say("yes", session="hall", user="bob").outcome is Outcome.NONE
    assert house.adapter.sent == []
    assert house.say("yes", session="hall", user="ann").outcome is Outcome.DONE


def test_a_garage_door_hidden_in_a_list_makes_the_whole_sentence_wait():
    house = House()
    asked = house.say("lamp 1 on, garage open")
    assert (asked.outcome, house.adapter.sent) == (Outcome.ASK, [])
    assert "garage door" in asked.say
    reply = house.say("yes")
    assert (reply.outcome, house.adapter.sent_to) == (Outcome.DONE, ["light.lamp_1", "cover.garage"])


def test_what_was_confirmed_is_what_runs():
    house = House(rules=[PolicyRule(Verdict.CONFIRM, more_than=3)])
    asked = house.say("all lights on")
    house.registry.upsert(Device("light.new", "New", "light", "kitchen", (), "off"))
    house.say("yes")
    assert sorted(house.adapter.sent_to) == sorted(asked.calls[0].targets)
    assert house.state("light.new") == "off"


def test_what_is_forbidden_is_refused_and_nothing_asked():
    house = House()
    reply = house.say("unlock", user="kid")
    assert (reply.outcome, reply.expects_reply, house.adapter.sent) == (Outcome.REFUSED, False, [])
    assert "not allowed" in reply.say


def test_a_scene_cannot_open_the_garage_without_a_question():
    house = House()
    reply = house.say("night")
    assert (reply.outcome, reply.expects_reply, house.adapter.sent) == (Outcome.ASK, True, [])
    assert "garage door" in reply.say.lower()
    assert house.say("yes").outcome is Outcome.DONE
    assert house.state("cover.garage") == "open"


def test_understood_with_little_evidence_is_asked_about():
    house = House()
    assert house.say("lamp 1 perhaps").outcome is Outcome.ASK
    assert house.say("yes").outcome is Outcome.DONE


def test_more_devices_than_the_limit_are_refused_with_their_number():
    house = House(limits=AgentLimits(max_actions=2))
    reply = house.say("all lights on")
    assert (reply.outcome, "7 devices" in reply.say, house.adapter.sent) == (Outcome.REFUSED, True, [])


@pytest.mark.parametrize("answer", ["the bedroom one", "Bedroom", "in the bedroom, please"])
def test_a_choice_between_rooms_is_answered_by_the_room(answer):
    house = House()
    asked = house.say("ceiling on")
    assert (asked.outcome, asked.expects_reply) == (Outcome.ASK, True)
    assert "kitchen" in asked.say
    assert "bedroom" in asked.say
    assert house.say(answer).calls[0].targets == ("light.bedroom_ceiling",)
    assert house.state("light.kitchen_ceiling") == "off"


def test_a_choice_is_answered_in_chinese():
    house = House()
    assert "卧室" in house.say("开吸顶灯").say
    assert house.say("卧室的").calls[0].targets == ("light.bedroom_ceiling",)


def test_the_longer_room_name_is_told_from_the_shorter():
    house = House(extra=[Device("light.master_ceiling", "Ceiling", "light", "master", ("吸顶灯",), "off")])
    house.say("ceiling on")
    assert house.say("the master bedroom").calls[0].targets == ("light.master_ceiling",)
    house.say("ceiling on")
    assert house.say("bedroom").calls[0].targets == ("light.bedroom_ceiling",)


def test_both_answers_a_choice_with_all_of_it():
    house = House()
    house.say("ceiling on")
    assert house.say("both").calls[0].targets == ("light.kitchen_ceiling", "light.bedroom_ceiling")


def test_an_answer_that_fits_several_is_asked_again_among_these():
    extra = [
        Device("cover.left", "Left Blind", "cover", "office"),
        Device("cover.right", "Right Blind", "cover", "office"),
    ]
    house = House(extra=extra)
    house.say("open a cover")
    again = house.say("blind")
    assert (again.outcome, "garage" in again.say, "left blind" in again.say.lower()) == (Outcome.ASK, False, True)
    assert house.say("left").calls[0].targets == ("cover.left",)


def test_an_answer_that_is_no_choice_is_a_new_utterance():
    house = House()
    house.say("ceiling on")
    assert house.say("lamp 1 on").calls[0].targets == ("light.lamp_1",)
    assert house.say("bedroom").outcome is Outcome.NONE


def test_cancelling_a_choice_moves_nothing():
    house = House()
    house.say("ceiling on")
    assert house.say("cancel").outcome is Outcome.ANSWER
    assert house.adapter.sent == []


def test_the_rest_of_the_sentence_waits_for_the_choice_and_then_runs():
    house = House()
    house.say("ceiling and lamp 1 on")
    assert house.adapter.sent == []
    assert house.say("kitchen").outcome is Outcome.DONE
    assert house.adapter.sent_to == ["light.kitchen_ceiling", "light.lamp_1"]


def test_a_choice_may_lead_to_a_confirmation():
    house = House()
    house.say("open a cover")
    assert house.say("the garage door").outcome is Outcome.ASK
    assert house.say("yes").outcome is Outcome.DONE
    assert house.state("cover.garage") == "open"


@pytest.mark.parametrize(("answer", "level"), [("50", 127), ("50 percent", 127), ("half", 127), ("twenty", 51)])
def test_a_missing_number_is_asked_for_and_filled_in(answer, level):
    house = House()
    asked = house.say("dim")
    assert (asked.outcome, asked.say) == (Outcome.ASK, "How bright should the lamp 1 be?")
    assert house.say(answer).outcome is Outcome.DONE
    assert house.registry.get("light.lamp_1").attributes["brightness"] == level


def test_a_missing_choice_is_asked_for_and_filled_in():
    house = House()
    house.say("mode")
    assert house.say("cooling").outcome is Outcome.DONE
    assert house.state("climate.home") == "cool"


def test_a_missing_value_out_of_range_is_refused():
    house = House()
    house.say("dim")
    assert house.say("400").outcome is Outcome.REFUSED


def test_a_new_command_with_a_number_is_no_missing_value():
    house = House()
    house.say("dim")
    assert house.say("lamp 11 on").calls[0].targets == ("light.lamp_11",)


def test_a_value_out_of_range_is_refused_with_the_limits():
    house = House()
    reply = house.say("way too bright")
    assert (reply.outcome, house.adapter.sent) == (Outcome.REFUSED, [])
    assert "100" in reply.say


def test_open_questions_are_bounded():
    house = House(limits=AgentLimits(max_sessions=3))
    for number in range(10):
        house.say("unlock", session=f"s{number}")
    assert house.say("yes", session="s0").outcome is Outcome.NONE
    assert house.say("yes", session="s9").outcome is Outcome.DONE


def test_the_last_turns_are_kept_to_explain_and_no_more():
    house = House(limits=AgentLimits(n_traced=2))
    for session in ("a", "b", "c"):
        house.say("lamp 1 on", session=session)
    assert [t.utterance.session for t in house.agent.trace.turns()] == ["b", "c"]
    last = house.agent.trace.last("b")
    assert last is not None
    assert last.reply.outcome is Outcome.DONE
    assert house.agent.trace.last("a") is None


def test_turns_from_many_threads_run_one_at_a_time():
    house = House()
    running, most = 0, 0
    inner = house.adapter.apply

    def apply(command: object) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        inner(command)  # type: ignore[arg-type]
        running -= 1

    house.adapter.apply = apply  # type: ignore[method-assign]
    threads = [threading.Thread(target=house.say, args=("both lamps on",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, len(house.adapter.sent)) == (1, 16)


def test_a_direct_action_is_done_and_read_back():
    result = House().agent.act("light.lamp_1", "set_brightness", {"brightness": 50.0})
    assert (result.status, result.state, dict(result.action.args)) == (Status.DONE, "on", {"brightness": 50})


@pytest.mark.parametrize(
    ("device", "tool", "args", "reason", "words"),
    [
        ("light.lamp_1", "fly", {}, "unknown_tool", "turn_on"),
        ("light.gone", "turn_on", {}, "not_found", "light.gone"),
        ("lock.front", "turn_on", {}, "unsupported", "light, switch"),
        ("light.lamp_1", "get_time", {}, "unsupported", "get_time"),
        ("light.lamp_1", "turn_on", {"speed": 1}, "unknown_argument", "speed"),
        ("light.lamp_1", "set_brightness", {}, "missing_argument", "brightness"),
        ("light.lamp_1", "set_brightness", {"brightness": 101}, "out_of_range", "0 to 100 %"),
        ("light.lamp_1", "set_brightness", {"brightness": "50"}, "bad_type", "int"),
        ("light.lamp_1", "set_brightness", {"brightness": True}, "bad_type", "int"),
        ("light.lamp_1", "set_brightness", {"brightness": 50.5}, "bad_type", "int"),
        ("climate.home", "set_temperature", {"temperature": float("nan")}, "bad_type", "finite"),
        ("climate.home", "set_temperature", {"temperature": 10**400}, "bad_type", "finite"),
        ("climate.home", "set_mode", {"mode": "turbo"}, "bad_choice", "heat, cool"),
    ],
)
def test_a_direct_action_that_is_wrong_moves_nothing_and_says_why(device, tool, args, reason, words):
    house = House()
    result = house.agent.act(device, tool, args)
    assert (result.status, result.reason) == (Status.FAILED, reason)
    assert words in result.detail
    assert house.adapter.sent == []


def test_a_direct_action_obeys_the_same_policy():
    house = House()
    asked = house.agent.act("lock.front", "unlock", {})
    assert (asked.status, asked.reason, house.adapter.sent) == (Status.SKIPPED, "needs_confirmation", [])
    denied = house.agent.act("lock.front", "unlock", {}, user="kid", is_confirmed=True)
    assert (denied.status, denied.reason, house.adapter.sent) == (Status.SKIPPED, "denied", [])
    assert house.agent.act("lock.front", "unlock", {}, is_confirmed=True).status is Status.DONE


def test_a_device_without_a_room_is_no_problem_for_anything():
    house = House()
    assert house.say("unlock", area="kitchen").outcome is Outcome.ASK
    assert house.agent.act("light.floating", "turn_on", {}).status is Status.DONE
    assert "light.floating" in house.say("all lights on").calls[0].targets


@pytest.fixture
def slow_house() -> Iterator[tuple[House, threading.Thread]]:
    """A house in which a turn waits for Lamp 1."""
    house = House(limits=AgentLimits(execution=Limits(timeout_ms=8000)), light__lamp_1="waits")
    thread = threading.Thread(target=house.say, args=("lamp 1 on",), kwargs={"session": "slow"})
    thread.start()
    assert house.adapter.reached.wait(5)
    yield house, thread
    house.adapter.released.set()
    thread.join()


def test_a_slow_device_of_one_turn_does_not_hold_up_another_turn(slow_house):
    house, thread = slow_house
    assert house.say("lamp 11 on", session="other").outcome is Outcome.DONE
    assert thread.is_alive()


def test_a_session_waits_for_its_own_turn(slow_house):
    house, _ = slow_house
    second = threading.Thread(target=house.say, args=("lamp 11 on",), kwargs={"session": "slow"})
    second.start()
    time.sleep(0.1)
    assert house.adapter.sent_to == ["light.lamp_1"]
    house.adapter.released.set()
    second.join()
    assert house.adapter.sent_to == ["light.lamp_1", "light.lamp_11"]


def test_a_turn_whose_client_went_while_it_waited_for_the_device_sends_nothing(slow_house):
    house, _ = slow_house
    house.script.sentences["lamp 1 off"] = calls(intent("turn_off", "Lamp 1"))
    gone = threading.Event()
    second = threading.Thread(
        target=house.agent.handle,
        args=(Utterance("lamp 1 off", session="other"),),
        kwargs={"is_wanted": lambda: not gone.is_set()},
    )
    second.start()
    time.sleep(0.1)
    gone.set()
    house.adapter.released.set()
    second.join()
    assert [command.tool for command in house.adapter.sent] == ["turn_on"]


def test_a_turn_that_nobody_wants_any_more_is_not_begun():
    house = House()
    with pytest.raises(Abandoned):
        house.agent.handle(Utterance("lamp 1 on"), is_wanted=lambda: False)
    assert house.adapter.sent == []
