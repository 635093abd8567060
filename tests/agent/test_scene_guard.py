"""The smart home app against somebody who wants in: a guarded change runs only after a yes to exactly that change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agentkit.agent.scene_guard import settled
from agentkit.assemble import Assembly, Live
from agentkit.config import App, load_app
from agentkit.devices.adapter import Change, Device
from agentkit.policy_rules import PolicyRule, Verdict
from agentkit.types import Outcome, Reply, Status, Utterance
from agentkit.understanding.tools import Decision

APP = Path(__file__).parents[2] / "apps" / "smart_home"
START = datetime(2030, 1, 7, 9, 0)


class Burgled:
    """One home with a clock that the test sets."""

    def __init__(self, app: App, assembly: Assembly, **options: Any):
        self.now = START
        self.live: Live = assembly.open(app.home, now=lambda: self.now, clock=self.seconds, **options)

    def seconds(self) -> float:
        return (self.now - START).total_seconds()

    def say(self, text: str, **options: Any) -> Reply:
        return self.live.agent.handle(Utterance(text, **{"session": "s", **options}))

    def state(self, device_id: str) -> str | None:
        return self.live.registry.get(device_id).state

    def add(self, device_id: str, name: str, state: str | None = None, **attributes: Any) -> Device:
        kind = device_id.partition(".")[0]
        return self.live.registry.upsert(Device(device_id, name, kind, state=state, attributes=attributes))

    def scene(self, sets: Mapping[str, Any], device_id: str = "scene.party") -> None:
        self.add(device_id, "Party Time", sets=sets)

    def fire(self, minutes: float) -> list[Reply]:
        self.now += timedelta(minutes=minutes)
        return [self.live.agent.carry_out(entry) for entry in self.live.schedule.take_due()]


@pytest.fixture(scope="module")
def app() -> App:
    return load_app(APP)


@pytest.fixture(scope="module")
def assembly(app: App) -> Assembly:
    return Assembly(app)


@pytest.fixture
def home(app: App, assembly: Assembly) -> Burgled:
    return Burgled(app, assembly)


def row(state: str | None = None, **attributes: Any) -> dict[str, Any]:
    return {"state": state, "attributes": attributes}


# scenes and scripts


@pytest.mark.parametrize("state", ["unlocked", "Unlocked", " UNLOCKED ", "unlocking", "ajar", "open", ""])
def test_a_scene_that_does_anything_but_lock_a_lock_is_asked_about(home: Burgled, state: str) -> None:
    home.scene({"light.kitchen": "off", "lock.front_door": row(state)})
    reply = home.say("activate party time")
    assert (reply.outcome, reply.expects_reply) == (Outcome.ASK, True)
    assert "unlock the front door" in reply.say
    assert (home.state("lock.front_door"), home.state("light.kitchen")) == ("locked", "on")


@pytest.mark.parametrize(
    "change",
    [
        row("open"),
        row("Opening"),
        row(current_position=100),
        row(current_position=1),
        row("closed", current_position=100),
        row(device_class="curtain"),
        row("closed", device_class="curtain"),
        row("half way"),
    ],
)
def test_a_scene_that_may_open_the_garage_is_asked_about(home: Burgled, change: dict[str, Any]) -> None:
    home.scene({"cover.garage_door": change})
    reply = home.say("activate party time")
    assert reply.outcome is Outcome.ASK
    assert "garage door" in reply.say
    home.say("no")
    assert home.state("cover.garage_door") == "closed"


@pytest.mark.parametrize("device_id", ["alarm_control_panel.home", "siren.x"])
def test_a_scene_that_moves_what_no_tool_moves_is_asked_about(home: Burgled, device_id: str) -> None:
    home.add(device_id, "Alarm Panel", "armed")
    home.scene({device_id: row("disarmed")})
    assert home.say("activate party time").outcome is Outcome.ASK
    assert home.state(device_id) == "armed"


@pytest.mark.parametrize(
    "sets",
    [
        {"lock.front_door": row("Locked"), "cover.garage_door": row("closing")},
        {"lock.front_door": "locked", "cover.garage_door": "closed"},
        {"light.kitchen": row("On", brightness=3, anything=[1]), "climate.living_room": row("heat", temperature=21)},
        {"cover.living_room_curtain": row("open", current_position=100)},
        {"media_player.living_room_tv": row("playing")},
    ],
)
def test_a_scene_that_only_does_what_is_free_is_not_asked_about(home: Burgled, sets: dict[str, Any]) -> None:
    home.scene(sets)
    assert home.say("activate party time").outcome is not Outcome.ASK


def test_a_yes_runs_what_was_asked_about(home: Burgled) -> None:
    home.scene({"light.kitchen": "off", "lock.front_door": "unlocked"})
    assert home.say("activate party time").outcome is Outcome.ASK
    assert home.say("yes").outcome is Outcome.DONE
    assert (home.state("lock.front_door"), home.state("light.kitchen")) == ("unlocked", "off")


def test_a_script_is_judged_like_a_scene(home: Burgled) -> None:
    home.add("script.x", "Party Time", sets={"lock.front_door": "Unlocked"})
    assert home.say("run party time").outcome is Outcome.ASK
    assert home.state("lock.front_door") == "locked"


def test_a_scene_that_changed_since_it_was_asked_about_is_asked_about_again(home: Burgled) -> None:
    home.scene({"lock.front_door": "unlocked"})
    home.say("activate party time")
    home.scene({"lock.front_door": "unlocked", "lock.back_door": "unlocked"})
    again = home.say("yes")
    assert (again.outcome, "back door" in again.say) == (Outcome.ASK, True)
    assert home.state("lock.front_door") == home.state("lock.back_door") == "locked"
    assert home.say("yes").outcome is Outcome.DONE
    assert home.state("lock.back_door") == "unlocked"


def test_a_direct_action_on_a_scene_needs_a_yes_too(home: Burgled) -> None:
    home.scene({"lock.front_door": "Unlocked"})
    result = home.live.agent.act("scene.party", "activate_scene", {})
    assert (result.status, result.reason) == (Status.SKIPPED, "needs_confirmation")
    done = home.live.agent.act("scene.party", "activate_scene", {}, is_confirmed=True)
    assert (done.status, home.state("lock.front_door")) == (Status.DONE, "Unlocked")


def test_the_code_is_asked_for_where_a_scene_needs_it(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_CODE", "4711")
    with_code = Assembly(load_app(APP, ["pin={env: TEST_CODE}"]))
    home = Burgled(app, with_code, policy=[PolicyRule(Verdict.PIN, tools=("unlock",))])
    home.scene({"lock.front_door": "unlocking"})
    asked = home.say("activate party time")
    assert (asked.outcome, "front door" in asked.say) == (Outcome.ASK, True)
    again = home.say("yes")
    assert (again.outcome, again.say) == (Outcome.ASK, asked.say)  # a yes is no code, and the question stays
    assert home.say("1111").outcome is Outcome.ASK
    home.scene({"lock.front_door": "unlocking", "lock.back_door": "unlocked"})
    assert home.say("4711").outcome is Outcome.ASK
    assert home.state("lock.back_door") == "locked"
    assert home.say("4711").outcome is Outcome.DONE


def test_a_tool_that_cannot_be_asked_beforehand_moves_nothing_guarded(home: Burgled) -> None:
    n_calls = 0

    def moody(device: Device) -> Decision:
        nonlocal n_calls
        n_calls += 1
        if n_calls == 1:
            raise RuntimeError("not now")
        return Decision({"light.kitchen": Change("off"), "lock.front_door": Change("unlocked")})

    home.scene({"lock.front_door": "unlocked"})
    tools = home.live.agent._acting.tools
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(tools, "activate_scene", replace(tools["activate_scene"], function=moody))  # type: ignore[arg-type]
        reply = home.say("activate party time")
    assert (n_calls, reply.outcome, "front door" in reply.say) == (2, Outcome.FAILED, True)
    assert (home.state("lock.front_door"), home.state("light.kitchen")) == ("locked", "off")


def test_putting_back_what_was_open_on_the_way_is_asked_about_by_what_it_does(home: Burgled) -> None:
    home.live.registry.report("cover.garage_door", state="Opening")
    assert home.say("close the garage door").outcome is Outcome.DONE
    asked = home.say("undo")
    assert (asked.outcome, "open the garage door" in asked.say) == (Outcome.ASK, True)
    assert home.state("cover.garage_door") == "closed"


def test_a_risky_device_among_many_is_named(home: Burgled) -> None:
    for n in range(5):
        home.add(f"cover.b{n}", f"Blind {n}", "closed", device_class="blind")
    asked = home.say("open all covers")
    assert (asked.outcome, "the garage door" in asked.say) == (Outcome.ASK, True)


RISKY = ("Burglar alarm", "Deepfreeze", "CPAP", "Router plug", "Fire siren", "Smoke detector")


@pytest.mark.parametrize("text", ["turn everything off", "全部关掉"])
def test_everything_names_each_device_that_would_be_asked_about_alone(home: Burgled, text: str) -> None:
    for n, name in enumerate(RISKY):
        home.add(f"switch.r{n}", name, "on")
    asked = home.say(text)
    assert asked.outcome is Outcome.ASK
    assert [name for name in RISKY if name.lower() not in asked.say.lower()] == []
    assert home.state("switch.r0") == "on"


def test_what_many_guarded_devices_a_scene_moves_is_not_counted(home: Burgled) -> None:
    for n in range(6):
        home.add(f"lock.l{n}", f"Vault {n}", "locked")
    home.scene({f"lock.l{n}": "unlocked" for n in range(6)})
    asked = home.say("activate party time")
    assert (asked.outcome, [n for n in range(6) if f"Vault {n}" not in asked.say]) == (Outcome.ASK, [])


def test_a_scene_that_fails_names_the_devices_that_did(home: Burgled) -> None:
    home.scene({"light.desk": "on", "light.gone": "on"})
    reply = home.say("activate party time")
    assert (reply.outcome, "light.gone" in reply.say, "Party" in reply.say) == (Outcome.FAILED, True, False)
    home.live.registry.report("light.desk", is_available=False)
    home.scene({"light.desk": "on", "light.kitchen": "off"})
    assert home.say("activate party time").say == "The desk lamp is offline."


@pytest.mark.parametrize("sets", [[1, 2], {"scene.dinner": "on"}, {"cover.garage_door": row()}])
def test_a_scene_that_moves_nothing_is_not_said_to_be_on(home: Burgled, sets: Any) -> None:
    home.scene(sets)
    reply = home.say("activate party time")
    assert (reply.outcome, "nothing moved" in reply.say) == (Outcome.FAILED, True)


# plans


def test_a_planned_scene_runs_what_was_asked_about(home: Burgled) -> None:
    home.scene({"light.kitchen": "on", "lock.front_door": "unlocked"})
    asked = home.say("activate party time in 5 minutes")
    assert (asked.outcome, "front door" in asked.say) == (Outcome.ASK, True)
    assert home.say("yes").outcome is Outcome.SCHEDULED
    (reply,) = home.fire(6)
    assert (reply.outcome, home.state("lock.front_door")) == (Outcome.DONE, "unlocked")


@pytest.mark.parametrize("first", [{"light.kitchen": "off"}, {"light.kitchen": "off", "lock.front_door": "unlocked"}])
def test_a_planned_scene_that_changed_leaves_out_what_nobody_was_asked_about(
    home: Burgled, first: dict[str, Any]
) -> None:
    home.scene(first)
    if home.say("activate party time in 5 minutes").outcome is Outcome.ASK:
        home.say("yes")
    home.scene({"light.kitchen": "off", "lock.back_door": "unlocking"})
    (reply,) = home.fire(6)
    assert reply.outcome is not Outcome.DONE
    assert "back door" in reply.say
    assert (home.state("light.kitchen"), home.state("lock.back_door")) == ("off", "locked")


def test_what_was_planned_survives_a_restart_with_its_yes(app: App, assembly: Assembly, tmp_path: Path) -> None:
    before = Burgled(app, assembly, state_dir=tmp_path)
    before.scene({"lock.front_door": {"state": "unlocked", "attributes": {"a": [1, 2]}}})
    before.say("activate party time in 5 minutes")
    assert before.say("yes").outcome is Outcome.SCHEDULED
    before.live.registry.close()
    after = Burgled(app, assembly, state_dir=tmp_path)
    (reply,) = after.fire(6)
    assert (reply.outcome, after.state("lock.front_door")) == (Outcome.DONE, "unlocked")


def test_a_plan_does_not_open_another_device_that_took_the_place_of_the_one_asked_about(home: Burgled) -> None:
    home.add("lock.shed", "Shed Door", "locked")
    home.say("unlock the shed door in 5 minutes")
    assert home.say("yes").outcome is Outcome.SCHEDULED
    home.add("lock.shed", "Vault", "locked")
    (reply,) = home.fire(6)
    assert (reply.outcome, home.state("lock.shed")) == (Outcome.REFUSED, "locked")


# consent


@pytest.mark.parametrize(
    "other",
    [{"name": "Vault"}, {"type": "cover"}, {"endpoint": "http://127.0.0.1:9/"}, {"attributes": {"device_class": "x"}}],
)
def test_a_yes_does_not_count_for_a_device_that_took_the_others_place(home: Burgled, other: dict[str, Any]) -> None:
    shed = home.add("lock.shed", "Shed Door", "locked")
    home.say("unlock the shed door")
    home.live.registry.remove("lock.shed")
    home.live.registry.upsert(replace(shed, **other))
    assert home.say("yes").outcome is not Outcome.DONE
    assert home.state("lock.shed") == "locked"


@pytest.mark.parametrize(
    "text",
    [
        "yes?",
        "ok?",
        "yes ?!",
        "sure?",
        "yes? ...",
        "是吗？",
        "好吗",
        "是吗",
        "可以吗",
        "好么",
        "对吧",
        "是吧",
        "yes back",
        "ok, the back one",
    ],
)
def test_a_question_is_no_consent(home: Burgled, text: str) -> None:
    home.say("unlock the front door")
    assert home.say(text).outcome is not Outcome.DONE
    assert home.state("lock.front_door") == "locked"


@pytest.mark.parametrize(
    "stranger", [{"session": "t"}, {"user": "bob"}, {"source": "voice"}, {"source": "http"}, {"is_dry_run": True}]
)
def test_nobody_can_consent_for_somebody_else(home: Burgled, stranger: dict[str, Any]) -> None:
    home.say("unlock the front door")
    assert home.say("yes", **stranger).outcome is not Outcome.DONE
    assert home.state("lock.front_door") == "locked"
    assert home.say("yes").outcome is Outcome.DONE


def test_states_are_compared_by_where_they_lead() -> None:
    assert [settled(s) for s in ("Un-Locking", " OPENED ", "lock", None)] == ["un_locking", "open", "locked", None]
