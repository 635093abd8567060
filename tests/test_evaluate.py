"""Every evaluation record runs in its own home and state, and nothing of what is expected is read."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from agentkit.agent.schedule import Schedule
from agentkit.agent.trace import Trace
from agentkit.assemble import Assembly
from agentkit.config import load_app
from agentkit.devices.adapter import Area, Change, Command, Device, Home
from agentkit.devices.memory import MemoryAdapter
from agentkit.devices.registry import Registry
from agentkit.errors import ConfigError
from agentkit.evaluate import Evaluation, Now, called, changes, put_back, write_predictions
from agentkit.records import GENERIC, NOON, Record, area_of, devices_of, read_homes, read_records
from agentkit.types import Call, Intent, Outcome, Reply, Selector, Utterance
from tests.support.shared import shared_dir

LAMP = Device("light.lamp", "Lamp", "light", "kitchen", state="off", attributes={"brightness": 10})
TV = Device("media_player.tv", "TV", "media_player", "den", state="off")
DEN_LAMP = Device("light.den", "Den lamp", "light", "den", state="off")
HOME = Home("home", areas=(Area("kitchen", "Kitchen", ("厨房",)), Area("den", "Den")), devices=(LAMP, TV, DEN_LAMP))


@dataclass
class Flipper:
    """Flips the device whose id is the text, remembers sessions, and breaks on demand."""

    registry: Registry
    now: Now
    heard: list[Utterance] = field(default_factory=list)
    times: list[datetime] = field(default_factory=list)
    is_closed: bool = False
    trace: Trace = field(default_factory=lambda: Trace(1))

    def handle(self, utterance: Utterance) -> Reply:
        self.heard.append(utterance)
        self.times.append(self.now())
        if utterance.text == "break":
            raise RuntimeError("a bug")
        device = self.registry.get(utterance.text)
        new = "off" if device.state == "on" else "on"
        MemoryAdapter(self.registry).apply(Command(device.id, "toggle", {}, Change(new, {"brightness": 99})))
        n_turns = sum(u.session == utterance.session for u in self.heard)
        return Reply(
            Outcome.DONE, f"{new} {n_turns}", utterance.session, "en", "test", "", (Call("toggle", {}, (device.id,)),)
        )


@dataclass(frozen=True)
class Open:
    agent: Flipper
    registry: Registry
    schedule: Schedule

    def close(self) -> None:
        self.agent.is_closed = True


def evaluation(agents: list[Flipper] | None = None) -> Evaluation:
    def open_home(home: Home, now: Now) -> Open:
        registry = Registry(home)
        agent = Flipper(registry, now)
        if agents is not None:
            agents.append(agent)
        return Open(agent, registry, Schedule(now=now, clock=lambda: 0.0))

    return Evaluation({"home": HOME, GENERIC: HOME}, open_home, clock=lambda: 0.0)


RECORDS = (
    Record("a", "light.lamp", "home"),
    Record("b", "light.lamp", "home"),
    Record("c", "light.lamp", "home", home_state={"light.lamp": {"state": "on"}}),
    Record("d", "light.new", "home", home_state={"light.new": {"state": None, "attributes": {"friendly_name": "New"}}}),
    Record("e", "media_player.tv"),
    Record("f", "light.den", "home", area="Den"),
)


def test_a_record_starts_from_its_own_state() -> None:
    say = {p["id"]: p["say"] for p in evaluation().run(RECORDS)}
    assert say == {"a": "on 1", "b": "on 1", "c": "off 1", "d": "on 1", "e": "on 1", "f": "on 1"}


def test_no_record_influences_another() -> None:
    straight = {p["id"]: p for p in evaluation().run(RECORDS)}
    for seed in range(5):
        shuffled = random.Random(seed).sample(RECORDS, len(RECORDS))
        assert {p["id"]: p for p in evaluation().run(shuffled)} == straight


def test_the_prediction_has_the_fields_that_the_judge_reads() -> None:
    (p,) = evaluation().run(RECORDS[:1])
    assert p == {
        "id": "a",
        "outcome": "done",
        "calls": [{"tool": "toggle", "args": {}, "targets": ["light.lamp"]}],
        "say": "on 1",
        "state_after": {"light.lamp": {"state": "on", "attributes": {"brightness": 99}}},
        "path": "test",
        "why": "",
        "ms": 0.0,
    }


def test_a_call_that_reached_no_device_carries_the_words_that_were_to_find_one() -> None:
    meant = (Intent("turn_on", {}, Selector(names=("toaster",), areas=("den",))), Intent("mute", {}, Selector()))
    assert called(Call("turn_on", {}, ()), meant, HOME, None)["args"] == {"name": "toaster", "area": "Den"}
    assert called(Call("turn_on", {}, ("light.den",)), meant, HOME, None)["args"] == {}
    assert called(Call("mute", {}, ()), meant, HOME, "kitchen")["args"] == {"area": "Kitchen"}
    assert called(Call("mute", {}, ()), meant, HOME, None)["args"] == {}


def test_earlier_turns_run_first_and_do_not_count_as_changes() -> None:
    agents: list[Flipper] = []
    (p,) = evaluation(agents).run([Record("h", "light.den", "home", history=("light.lamp",))])
    assert [u.text for u in agents[0].heard] == ["light.lamp", "light.den"]
    assert (p["say"], list(p["state_after"])) == ("on 2", ["light.den"])


def test_a_record_that_breaks_the_agent_is_none_and_the_next_one_runs(caplog: pytest.LogCaptureFixture) -> None:
    broken, fine = evaluation().run([Record("x", "break", "home"), Record("y", "light.lamp", "home")])
    assert (broken["outcome"], broken["error"]) == ("none", "RuntimeError: a bug")
    assert fine["say"] == "on 1"


def test_a_home_that_does_not_exist_is_named_before_anything_runs() -> None:
    agents: list[Flipper] = []
    with pytest.raises(ConfigError, match="no home 'elsewhere'; it is named by record z"):
        list(evaluation(agents).run([*RECORDS, Record("z", "light.lamp", "elsewhere")]))
    assert not agents


def test_every_home_is_closed_at_its_end() -> None:
    agents: list[Flipper] = []
    list(evaluation(agents).run(RECORDS))
    assert [a.is_closed for a in agents] == [True, True]


def test_it_is_the_time_that_the_record_says_or_else_always_the_same() -> None:
    agents: list[Flipper] = []
    morning = datetime(2031, 5, 1, 7, 30)
    list(evaluation(agents).run([Record("m", "light.lamp", "home", now=morning), RECORDS[0]]))
    assert agents[0].times == [morning, NOON]


def test_the_speakers_room_is_passed_on() -> None:
    agents: list[Flipper] = []
    list(evaluation(agents).run([RECORDS[5], RECORDS[0]]))
    assert [u.area for u in agents[0].heard] == ["den", None]


@pytest.mark.parametrize(
    ("record", "area"),
    [
        (Record("r", "on", area="Kitchen"), "kitchen"),
        (Record("r", "on", area="den"), "den"),
        (Record("r", "开灯", area="厨房"), "kitchen"),
        (Record("r", "on", area="Attic"), None),
        (Record("r", "on"), None),
        (Record("r", "on", device="media_player.tv"), "den"),
        (Record("r", "on", device="tv"), "den"),
        (Record("r", "light on", is_implicit=True), "den"),
        (Record("r", "music on", is_implicit=True), "den"),
    ],
)
def test_a_room_is_found_by_name_id_or_device(record: Record, area: str | None) -> None:
    assert area_of(record, HOME, [("media_player", "music"), ("light", "light")]) == area


def test_any_room_is_the_built_in_speakers_if_there_is_one() -> None:
    home = Home("h", areas=HOME.areas, devices=HOME.devices, speaker_area="kitchen")
    assert area_of(Record("r", "light on", is_implicit=True), home) == "kitchen"


def test_record_states_override_and_add_devices() -> None:
    state = {
        "light.lamp": {"state": "on", "attributes": {"brightness": 200}},
        "sensor.new": {"state": 21, "attributes": {"friendly_name": "New sensor"}},
    }
    devices = {d.id: d for d in devices_of(Record("r", "", home_state=state), HOME)}
    assert (devices["light.lamp"].state, devices["light.lamp"].attributes) == ("on", {"brightness": 200})
    new = devices["sensor.new"]
    assert (new.name, new.type, new.state, new.area) == ("New sensor", "sensor", "21", None)
    assert devices["media_player.tv"] == TV


def test_putting_back_removes_what_was_added() -> None:
    registry = Registry(HOME)
    registry.upsert(Device("light.new", "New", "light"))
    registry.report("light.lamp", state="on", attributes={"color": "red"})
    put_back(registry, HOME.devices)
    assert registry.devices() == HOME.devices


def test_changes_name_only_what_differs() -> None:
    after = Device("light.lamp", "Lamp", "light", "kitchen", state="on", attributes={"color": "red"})
    assert changes([LAMP, TV], [after, TV]) == {
        "light.lamp": {"state": "on", "attributes": {"brightness": None, "color": "red"}}
    }


def data_folder(tmp_path: Path, expected: Any) -> Path:
    rows = [
        {"id": "1", "source": "one", "utterance": "hi", "home": None, "expected": expected},
        {"id": "2", "source": "two", "utterance": "ho", "home": "h", "context": {"area": None, "implicit": True}},
    ]
    (tmp_path / "x.dev.jsonl").write_text("\n".join(json.dumps(r | {"expected": expected}) for r in rows), "utf-8")
    (tmp_path / "suites.dev.json").write_text(json.dumps({"core": ["1"], "rest": ["2", "1"]}), "utf-8")
    return tmp_path


def test_records_are_the_same_whatever_is_expected(tmp_path: Path) -> None:
    first = read_records(data_folder(tmp_path, {"type": "action"}), suite="all")
    assert read_records(data_folder(tmp_path, "nonsense"), suite="all") == first
    assert first == (Record("1", "hi"), Record("2", "ho", "h", is_implicit=True))


def test_suites_and_sources_are_chosen_by_name(tmp_path: Path) -> None:
    data = data_folder(tmp_path, {})
    assert [r.id for r in read_records(data, suite="rest")] == ["2", "1"]
    assert [r.id for r in read_records(data, suite="core,rest")] == ["1", "2"]
    assert [r.id for r in read_records(data, source="two")] == ["2"]
    with pytest.raises(ConfigError, match="no suite 'cor'; there are core, rest"):
        read_records(data, suite="cor")


def test_a_broken_record_names_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "x.dev.jsonl").write_text('{"id": "1", "source": "s", "utterance": "a"}\n{oops', "utf-8")
    with pytest.raises(ConfigError, match=r"x\.dev\.jsonl:2: not a JSON object"):
        read_records(tmp_path)


def test_a_folder_without_records_says_what_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no \*\.dev\.jsonl in this folder"):
        read_records(tmp_path, suite="core")


def test_a_missing_generic_home_says_which_option_to_use(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--generic-home"):
        read_homes(tmp_path, tmp_path / "generic.yaml")


def test_predictions_are_written_in_the_order_of_the_records(tmp_path: Path) -> None:
    out = tmp_path / "pred.jsonl"
    write_predictions(out, reversed(list(evaluation().run(RECORDS))), RECORDS)
    assert [json.loads(line)["id"] for line in out.read_text("utf-8").splitlines()] == [r.id for r in RECORDS]
    assert not list(tmp_path.glob("*.part"))


APP = Path(__file__).parents[1] / "apps" / "smart_home"


@pytest.mark.shared
def test_real_records_do_not_influence_each_other() -> None:
    shared = shared_dir()
    records = read_records(shared / "data", suite="all")[::20]
    homes = read_homes(shared / "data", shared / "eval" / "homes" / "generic.yaml")
    app = load_app(APP)
    assembly = Assembly(app)

    def run(order: Sequence[Record]) -> dict[str, Any]:
        frozen = Evaluation(homes, lambda home, now: assembly.open(home, policy=(), now=now), clock=lambda: 0.0)
        return {p["id"]: p for p in frozen.run(order)}

    straight = run(records)
    assert len(straight) == len(records)
    assert not [p for p in straight.values() if "error" in p]
    assert run(random.Random(3).sample(records, len(records))) == straight
