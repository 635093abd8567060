"""What is planned survives anything, fires once, and keeps its length whatever happens to the clock."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from agentkit.agent.schedule import Schedule, ScheduleEvent
from agentkit.agent.ticker import Ticker, groups
from agentkit.errors import ScheduleError
from agentkit.planned import Entry, EntryKind, Past, ScheduleRules
from agentkit.types import Intent, Selector
from agentkit.when import When, WhenKind, read_spec

NOON = datetime(2026, 1, 15, 12, 0)


@dataclass
class Clocks:
    """The wall clock and the one that only runs forward."""

    wall: datetime = NOON
    steady: float = 1000.0

    def pass_by(self, seconds: float) -> None:
        self.wall += timedelta(seconds=seconds)
        self.steady += seconds


def make(clocks: Clocks, path: Path | None = None, rules: ScheduleRules | None = None) -> Schedule:
    return Schedule(now=lambda: clocks.wall, clock=lambda: clocks.steady, path=path, rules=rules)


def command(due: datetime, when: When | None = None) -> Entry:
    intents = (Intent("turn_off", {}, Selector(device_ids=("light.kitchen",))),)
    return Entry(EntryKind.COMMAND, due, NOON, text="turn off the light", intents=intents, when=when)


def timer(seconds: float, name: str | None = None) -> Entry:
    return Entry(EntryKind.TIMER, NOON + timedelta(seconds=seconds), NOON, name=name, duration_s=seconds)


def test_an_entry_is_due_once_at_its_time() -> None:
    clocks = Clocks()
    schedule = make(clocks)
    schedule.add(command(NOON + timedelta(minutes=10)))
    clocks.pass_by(599)
    assert schedule.take_due() == ()
    clocks.pass_by(1)
    assert [e.text for e in schedule.take_due()] == ["turn off the light"]
    assert schedule.take_due() == ()
    assert schedule.entries() == ()


def test_everything_survives_a_restart(tmp_path: Path) -> None:
    clocks, path = Clocks(), tmp_path / "schedule.json"
    first = make(clocks, path)
    rule = read_spec("07:00 every 1,2,3,4,5")
    kept = [first.add(e) for e in (timer(600, "pasta"), command(NOON + timedelta(hours=1)))]
    kept.append(first.add(command(NOON + timedelta(hours=19), rule)))
    second = make(clocks, path)
    assert second.entries() == tuple(kept)
    assert second.add(timer(60)).id not in {e.id for e in kept}


def test_an_id_is_never_given_twice_even_after_a_restart(tmp_path: Path) -> None:
    clocks, path = Clocks(), tmp_path / "schedule.json"
    first = make(clocks, path)
    gone = first.add(timer(60))
    first.remove(gone.id)
    assert make(clocks, path).add(timer(60)).id != gone.id


def test_a_broken_file_is_set_aside_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    path.write_text("{ half a file", "utf-8")
    schedule = make(Clocks(), path)
    assert schedule.entries() == ()
    assert "cannot be read" in schedule.warnings[0]
    assert (tmp_path / "schedule.json.corrupt-1").read_text("utf-8") == "{ half a file"


def test_one_broken_entry_leaves_the_others(tmp_path: Path) -> None:
    path, clocks = tmp_path / "schedule.json", Clocks()
    first = make(clocks, path)
    first.add(timer(60))
    first.add(timer(90))
    document = json.loads(path.read_text("utf-8"))
    document["entries"][0]["due"] = "some day"
    path.write_text(json.dumps(document), "utf-8")
    second = make(clocks, path)
    assert [e.duration_s for e in second.entries()] == [90]
    assert "left out" in second.warnings[0]


def test_what_cannot_be_saved_is_not_planned(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "schedule.json"
    schedule = make(Clocks(), path)
    path.parent.write_text("a file where the folder should be")
    with pytest.raises(ScheduleError, match="cannot be saved"):
        schedule.add(timer(60))
    assert schedule.entries() == ()


def test_a_due_entry_is_gone_from_the_file_before_it_runs(tmp_path: Path) -> None:
    clocks, path = Clocks(), tmp_path / "schedule.json"
    first = make(clocks, path)
    first.add(command(NOON + timedelta(seconds=5)))
    clocks.pass_by(5)
    first.take_due()
    second = make(clocks, path)  # as after a kill in the middle
    assert second.take_due() == ()
    assert [(p.entry.text, p.outcome) for p in second.history()] == [("turn off the light", "interrupted")]


@pytest.mark.parametrize(
    ("missed", "late_minutes", "is_run", "is_asked"),
    [("skip", 5, True, False), ("skip", 60, False, False), ("run", 60, True, False), ("ask", 60, False, True)],
)
def test_what_was_missed_goes_by_the_rules(
    missed: str, late_minutes: float, is_run: bool, is_asked: bool, tmp_path: Path
) -> None:
    clocks, path = Clocks(), tmp_path / "schedule.json"
    make(clocks, path).add(command(NOON + timedelta(minutes=1)))
    clocks.pass_by(60 * (1 + late_minutes))
    second = make(clocks, path, ScheduleRules(missed, 10))
    assert bool(second.missed()) is is_asked
    assert bool(second.take_due()) is is_run
    assert ("missed" in [p.outcome for p in second.history()]) is not is_run


def test_what_ends_something_is_done_however_late(tmp_path: Path) -> None:
    clocks, path = Clocks(), tmp_path / "schedule.json"
    make(clocks, path).add(replace(command(NOON + timedelta(minutes=1)), is_end=True, runs_late=True))
    clocks.pass_by(86_400)
    second = make(clocks, path, ScheduleRules("skip", 10))
    assert [e.text for e in second.take_due()] == ["turn off the light"]


def test_a_rule_that_was_missed_goes_on_next_time(tmp_path: Path) -> None:
    clocks, path = Clocks(), tmp_path / "schedule.json"
    make(clocks, path).add(command(datetime(2026, 1, 16, 7), read_spec("07:00 every 1,2,3,4,5")))
    clocks.pass_by(86_400 * 2)  # Saturday noon
    second = make(clocks, path)
    assert second.take_due() == ()
    assert [e.due for e in second.entries()] == [datetime(2026, 1, 19, 7)]


def test_a_rule_is_armed_again_when_it_was_due() -> None:
    clocks = Clocks()
    schedule = make(clocks)
    schedule.add(command(NOON + timedelta(hours=2), When(WhenKind.RECURRING, 7200)))
    clocks.pass_by(7201)
    assert len(schedule.take_due()) == 1
    assert [e.due for e in schedule.entries()] == [NOON + timedelta(hours=4)]


def test_setting_the_wall_clock_leaves_delays_and_moves_clock_times() -> None:
    clocks = Clocks()
    schedule = make(clocks)
    schedule.add(timer(600))
    at_one = schedule.add(command(NOON + timedelta(hours=1), read_spec("13:00")))
    clocks.wall += timedelta(hours=5)
    assert [e.id for e in schedule.take_due()] == [at_one.id]
    clocks.pass_by(599)
    assert schedule.take_due() == ()
    clocks.pass_by(1)
    assert len(schedule.take_due()) == 1


def test_listeners_hear_of_everything() -> None:
    clocks = Clocks()
    schedule = make(clocks)
    heard: list[ScheduleEvent] = []
    stop = schedule.subscribe(heard.append)
    entry = schedule.add(timer(5))
    clocks.pass_by(5)
    schedule.take_due()
    stop()
    schedule.add(timer(5))
    assert [(e.kind, e.entry.id) for e in heard] == [("added", entry.id), ("due", entry.id)]


def test_the_ticker_carries_out_what_is_due_and_goes_on_after_a_fault() -> None:
    clocks, fired = Clocks(), list[str]()
    schedule = make(clocks)
    both = threading.Event()

    def fire(entry: Entry) -> None:
        fired.append(entry.id)
        if len(fired) == 2:
            both.set()
        raise RuntimeError("a bug")

    ticker = Ticker(schedule, fire)
    ticker.start()
    first = schedule.add(timer(5))
    second = schedule.add(timer(6))
    clocks.pass_by(10)
    schedule.wake()
    assert both.wait(5)
    ticker.close()
    assert fired == [first.id, second.id]


def on(device_id: str, *, seconds: float) -> Entry:
    due = command(NOON + timedelta(seconds=seconds))
    return replace(due, intents=(Intent("turn_on", {}, Selector(device_ids=(device_id,))),))


def test_a_plan_that_hangs_holds_up_only_those_for_its_device() -> None:
    clocks, fired, is_free = Clocks(), list[str](), threading.Event()
    schedule, is_done = make(clocks), threading.Event()

    def fire(entry: Entry) -> None:
        if entry.text == "hangs":
            assert is_free.wait(10)
        fired.append(entry.text)
        if entry.text in ("later", "same"):
            is_done.set()

    ticker = Ticker(schedule, fire)
    schedule.add(replace(on("light.a", seconds=5), text="hangs"))
    schedule.add(replace(on("light.a", seconds=6), text="same"))
    schedule.add(replace(on("light.b", seconds=7), text="other"))
    ticker.start()
    clocks.pass_by(7)
    schedule.wake()
    schedule.add(replace(on("light.b", seconds=9), text="later"))
    clocks.pass_by(2)
    schedule.wake()
    assert is_done.wait(5)
    assert fired == ["other", "later"]
    is_done.clear()
    is_free.set()
    assert is_done.wait(5)
    assert fired == ["other", "later", "hangs", "same"]
    ticker.close()


def test_plans_are_put_together_if_they_share_a_device_or_may() -> None:
    a, b, both = on("light.a", seconds=1), on("light.b", seconds=2), on("light.a", seconds=3)
    both = replace(both, intents=(*both.intents, *b.intents))
    assert groups([a, b]) == [[a], [b]]
    assert groups([a, b, both]) == [[a, b, both]]
    unknown = replace(a, intents=(Intent("turn_on", {}, Selector(names=("A",))),))
    assert groups([unknown, b, unknown]) == [[b], [unknown, unknown]]


def test_the_history_says_what_became_of_it() -> None:
    clocks = Clocks()
    schedule = make(clocks)
    schedule.add(command(NOON + timedelta(seconds=5)))
    clocks.pass_by(5)
    [entry] = schedule.take_due()
    schedule.record(Past(clocks.wall, entry, "fired", "Turned off the light."))
    assert [(p.outcome, p.say) for p in schedule.history()] == [("fired", "Turned off the light.")]
