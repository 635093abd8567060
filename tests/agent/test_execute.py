from __future__ import annotations

import copy
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from agentkit.agent.execute import Executor, Limits, Moved
from agentkit.agent.resolve import Step
from agentkit.devices.adapter import Change, Command, Device
from agentkit.devices.memory import MemoryAdapter
from agentkit.devices.registry import Registry
from agentkit.errors import DeviceUnavailable
from agentkit.types import ActionResult, Status
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.tools import Answer, Decision, Tool, read_tool, tool
from tests.agent.house import HOUSE, TOOLS, OddAdapter, house_view, with_function

FAST = Limits(timeout_ms=150, verify_ms=40, max_hung=2)


class Bench:
    """A house, its adapter and an executor."""

    def __init__(self, limits: Limits = FAST, **faults: str):
        self.registry = Registry(HOUSE)
        self.adapter = OddAdapter(self.registry, **faults)
        self.executor = Executor(self.adapter, limits=limits)
        self.released = threading.Event()

    def run(self, *steps: Step, **options: object) -> tuple[ActionResult, ...]:
        return self.executor.execute(steps, house_view(), **options)  # type: ignore[arg-type]

    def one(self, tool: Tool | str, device_id: str, **args: object) -> ActionResult:
        (result,) = self.run(step(tool, device_id, **args))
        return result

    def hang(self, _: Device) -> Decision:
        self.released.wait(20)
        return Decision({}, "late")


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.released.set()


def step(tool: Tool | str, *device_ids: str, **args: object) -> Step:
    return Step(TOOLS[tool] if isinstance(tool, str) else tool, args, device_ids)  # type: ignore[arg-type]


def test_a_device_that_did_it_is_done_with_the_state_read_back(bench):
    result = bench.one("set_brightness", "light.lamp_1", brightness=50)
    assert (result.status, result.state, result.attributes["brightness"]) == (Status.DONE, "on", 127)
    assert bench.registry.get("light.lamp_1").state == "on"


def test_unlock_unlocks_and_lock_locks(bench):
    assert bench.one("unlock", "lock.front").state == "unlocked"
    assert bench.one("lock", "lock.front").state == "locked"


def test_a_device_that_ignores_the_command_is_a_failure():
    bench = Bench(light__lamp_1="ignores")
    result = bench.one("turn_on", "light.lamp_1")
    assert (result.status, result.reason, result.state) == (Status.FAILED, "ignored", "off")


def test_what_is_already_so_is_sent_all_the_same(bench):
    assert bench.one("turn_off", "light.lamp_1").status is Status.DONE
    assert bench.adapter.sent_to == ["light.lamp_1"]


def test_an_offline_device_is_not_sent_anything(bench):
    result = bench.one("turn_on", "switch.plug")
    assert (result.status, result.reason) == (Status.FAILED, "unavailable")
    assert bench.adapter.sent == []


@pytest.mark.parametrize(("fault", "reason"), [("refuses", "rejected"), ("crashes", "error")])
def test_what_the_device_does_wrong_is_the_reason(fault, reason):
    bench = Bench(light__lamp_1=fault)
    result = bench.one("turn_on", "light.lamp_1")
    assert (result.status, result.reason) == (Status.FAILED, reason)
    assert bench.one("turn_on", "light.lamp_11").status is Status.DONE
    bench.adapter.released.set()


@pytest.mark.parametrize("fault", ["hangs", "stays_silent"])
def test_a_device_that_took_the_command_and_did_not_answer_is_unknown(fault):
    bench = Bench(light__lamp_1=fault)
    result = bench.one("turn_on", "light.lamp_1")
    assert (result.status, result.reason) == (Status.UNKNOWN, "timeout")
    assert "may have carried out" in result.detail
    bench.adapter.released.set()


def test_a_silent_device_that_reads_back_as_wanted_is_done():
    assert Bench(light__lamp_1="acts_silently").one("turn_on", "light.lamp_1").status is Status.DONE


def test_silence_about_a_change_that_cannot_be_read_back_is_unknown():
    bench = Bench(light__lamp_1="acts_silently")
    ring = with_function("turn_on", lambda device: Decision({device.id: Change()}))
    assert bench.one(ring, "light.lamp_1").status is Status.UNKNOWN


def test_the_detail_of_a_failure_is_for_people():
    bench = Bench(light__lamp_1="ignores")
    dim = with_function("turn_on", lambda device: Decision({device.id: Change("on", {"brightness": 5, "mode": "夜"})}))
    detail = bench.one(dim, "light.lamp_1").detail
    assert detail == 'light.lamp_1 is still off, wanted on, brightness 5, mode "夜"'


def test_a_device_that_did_it_but_answers_late_is_done():
    bench = Bench(light__lamp_1="answers_late")
    assert bench.one("turn_on", "light.lamp_1").status is Status.DONE
    bench.adapter.released.set()


def test_a_device_that_cannot_be_read_back_is_unknown():
    bench = Bench(light__lamp_1="unreadable")
    assert bench.one("turn_on", "light.lamp_1").status is Status.UNKNOWN


def test_a_device_on_its_way_is_unknown_not_ignored():
    bench = Bench(cover__window="moves_slowly")
    result = bench.one("open_cover", "cover.window")
    assert (result.status, result.reason, result.state) == (Status.UNKNOWN, "in_progress", "opening")


def test_a_device_that_needs_a_moment_is_waited_for():
    bench = Bench(Limits(timeout_ms=500, verify_ms=2000), light__lamp_1="ignores")
    timer = threading.Timer(0.1, bench.registry.report, args=("light.lamp_1",), kwargs={"state": "on"})
    timer.start()
    assert bench.one("turn_on", "light.lamp_1").status is Status.DONE
    timer.join()


class Watch:
    """A clock that only sleeping moves, and what happens at its moments."""

    def __init__(self, **at: Any):
        self.now, self.pauses, self.at = 0.0, [], at

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.pauses.append(seconds)
        if self.now >= self.at["seconds"]:
            self.at["then"]()


def watched(registry: Registry, watch: Watch) -> Executor:
    adapter = OddAdapter(registry, light__lamp_1="ignores")
    return Executor(adapter, limits=Limits(verify_ms=3000), clock=lambda: watch.now, sleep=watch.sleep)


def test_a_slow_device_is_read_back_until_the_limit_with_growing_pauses():
    registry = Registry(HOUSE)
    watch = Watch(seconds=2.9, then=lambda: registry.report("light.lamp_1", state="on"))
    (result,) = watched(registry, watch).execute([step("turn_on", "light.lamp_1")], house_view())
    assert result.status is Status.DONE
    assert watch.pauses[:7] == sorted(watch.pauses[:7])
    assert watch.pauses[0] < 0.01
    assert len(watch.pauses) < 20


def test_a_device_that_still_says_the_old_state_at_the_limit_has_ignored_the_command():
    registry = Registry(HOUSE)
    watch = Watch(seconds=3.1, then=lambda: registry.report("light.lamp_1", state="on"))
    (result,) = watched(registry, watch).execute([step("turn_on", "light.lamp_1")], house_view())
    assert (result.status, result.reason) == (Status.FAILED, "ignored")
    assert watch.now == pytest.approx(3.0)


def test_a_device_that_reports_nothing_about_the_change_is_unseen_not_ignored():
    registry = Registry(HOUSE)
    watch = Watch(seconds=9, then=lambda: None)
    glow = with_function("turn_on", lambda device: Decision({device.id: Change(None, {"glow": 5})}))
    (result,) = watched(registry, watch).execute([step(glow, "light.lamp_1")], house_view())
    assert (result.status, result.reason) == (Status.UNKNOWN, "unseen")


def test_a_device_that_answers_with_an_error_is_not_said_to_be_silent():
    bench = Bench(light__lamp_1="is_faulty")
    result = bench.one("turn_on", "light.lamp_1")
    assert (result.status, result.reason) == (Status.UNKNOWN, "error")
    assert "500" in result.detail


def test_a_removed_device_is_reported_as_not_found(bench):
    bench.registry.remove("light.lamp_1")
    assert bench.one("turn_on", "light.lamp_1").reason == "not_found"


def test_the_function_sees_the_state_of_now_not_of_the_snapshot(bench):
    seen = []

    def look(device: Device) -> Decision:
        seen.append(device.state)
        return Decision({device.id: Change("on")})

    bench.registry.report("light.lamp_1", state="on")
    bench.one(with_function("turn_on", look), "light.lamp_1")
    assert seen == ["on"]


def raises(_: Device) -> Decision:
    raise RuntimeError("boom\nwith a second line")


def leaves(_: Device) -> Decision:
    sys.exit(3)


@pytest.mark.parametrize("function", [raises, leaves])
def test_a_function_that_raises_is_an_error_in_one_line(bench, function):
    result = bench.one(with_function("turn_on", function), "light.lamp_1")
    assert (result.status, result.reason) == (Status.FAILED, "error")
    assert "\n" not in result.detail
    assert bench.one("turn_on", "light.lamp_1").status is Status.DONE


@pytest.mark.parametrize(
    "nonsense",
    [
        None,
        "on",
        Decision(),
        Decision({"light.lamp_1": "on"}),
        Decision({3: Change("on")}),
        Decision(None),
        Decision({}, 7),
    ],
)
def test_a_function_that_returns_nonsense_moves_nothing(bench, nonsense):
    result = bench.one(with_function("turn_on", lambda _: nonsense), "light.lamp_1")
    assert (result.status, result.reason) == (Status.FAILED, "bad_result")
    assert bench.adapter.sent == []


def test_a_question_that_decides_a_change_moves_nothing(bench):
    ask = with_function("get_state", lambda _: Decision({"light.lamp_1": Change("on")}))
    assert bench.one(ask, "light.lamp_1").reason == "bad_result"
    assert bench.adapter.sent == []


def test_a_function_that_hangs_times_out_and_the_next_command_works(bench):
    began = time.monotonic()
    result = bench.one(with_function("turn_on", bench.hang), "light.lamp_1")
    assert (result.status, result.reason) == (Status.FAILED, "timeout")
    assert bench.one("turn_on", "light.lamp_11").status is Status.DONE
    assert time.monotonic() - began < 2


def test_a_tool_with_too_many_hung_calls_is_refused_until_one_ends(bench):
    stuck = with_function("turn_on", bench.hang)
    reasons = [bench.one(stuck, "light.lamp_1").reason for _ in range(3)]
    assert reasons == ["timeout", "timeout", "hung"]
    assert bench.one("turn_off", "light.lamp_1").status is Status.DONE
    bench.released.set()
    deadline = time.monotonic() + 2
    while bench.executor.runner.hung() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert bench.one(stuck, "light.lamp_1").reason == "late"


def test_hung_threads_do_not_hold_up_the_end_of_the_process(bench):
    bench.one(with_function("turn_on", bench.hang), "light.lamp_1")
    stuck = [t for t in threading.enumerate() if t.name == "agentkit tool turn_on light.lamp_1"]
    assert stuck
    assert all(t.daemon for t in stuck)


def test_a_reason_of_the_function_reaches_the_result(bench):
    refused = with_function("turn_on", lambda _: Decision({}, "out_of_range", {"low": 1}))
    result = bench.one(refused, "light.lamp_1")
    assert (result.status, result.reason, result.facts["low"]) == (Status.FAILED, "out_of_range", 1)


def test_the_same_step_twice_runs_once(bench):
    results = bench.run(step("turn_on", "light.lamp_1"), step("turn_on", "light.lamp_1"))
    assert len(results) == len(bench.adapter.sent) == 1


def test_the_same_tool_with_other_arguments_runs_again(bench):
    bench.run(
        step("set_brightness", "light.lamp_1", brightness=1), step("set_brightness", "light.lamp_1", brightness=9)
    )
    assert len(bench.adapter.sent) == 2


def test_a_failure_does_not_stop_the_steps_after_it():
    bench = Bench(light__lamp_1="ignores")
    results = bench.run(step("turn_on", "light.lamp_1"), step("turn_on", "light.lamp_11"))
    assert [r.status for r in results] == [Status.FAILED, Status.DONE]


def test_steps_past_the_turns_time_are_skipped():
    bench = Bench(Limits(timeout_ms=5000, turn_ms=150))
    slow = with_function("turn_on", bench.hang)
    began = time.monotonic()
    results = bench.run(step(slow, "light.lamp_1"), step("open_cover", "cover.window"))
    assert time.monotonic() - began < 2
    assert [(r.status, r.reason) for r in results] == [(Status.FAILED, "timeout"), (Status.SKIPPED, "timeout")]
    assert bench.adapter.sent == []
    bench.released.set()


SLOW_S = 0.15
LIGHTS = tuple(Device(f"light.n{i}", f"N{i}", "light", None, (), "off") for i in range(20))


class SlowAdapter:
    """Devices on a network that take a while for everything, and some that never answer."""

    def __init__(self, registry: Registry, *, dead: frozenset[str] = frozenset(), slow_s: float = SLOW_S):
        self._inner, self._dead, self._slow_s = MemoryAdapter(registry), dead, slow_s
        self.log: list[tuple[str, str]] = []

    def apply(self, command: Command) -> None:
        self.log.append(("apply", command.device_id))
        self._wait(command.device_id)
        self._inner.apply(command)
        self.log.append(("applied", command.device_id))

    def read(self, device_id: str) -> Device:
        self._wait(device_id)
        return self._inner.read(device_id)

    def _wait(self, device_id: str) -> None:
        time.sleep(self._slow_s)
        if device_id in self._dead:
            raise DeviceUnavailable(f"device {device_id}: no answer")


def many_lights(**options: Any) -> tuple[Registry, SlowAdapter]:
    registry = Registry(replace(HOUSE, devices=(*HOUSE.devices, *LIGHTS)))
    return registry, SlowAdapter(registry, **options)


def test_slow_devices_are_moved_side_by_side():
    _, adapter = many_lights()
    steps = [step("turn_on", light.id) for light in LIGHTS]
    began = time.monotonic()
    results = Executor(adapter).execute(steps, house_view())
    assert {r.status for r in results} == {Status.DONE}
    assert [r.action.device_id for r in results] == [light.id for light in LIGHTS]
    assert time.monotonic() - began < 6 * SLOW_S  # one after the other: 60 times


def test_slow_devices_are_asked_side_by_side():
    _, adapter = many_lights()
    began = time.monotonic()
    (result,) = Executor(adapter).execute([step("get_state", *(light.id for light in LIGHTS))], house_view())
    assert len(result.facts["items"]) == len(LIGHTS)
    assert time.monotonic() - began < 4 * SLOW_S


def test_the_turns_time_is_kept_inside_a_step_and_nothing_is_sent_after_it():
    _, adapter = many_lights(slow_s=0.4)
    limits = Limits(timeout_ms=1000, turn_ms=600)
    began = time.monotonic()
    results = Executor(adapter, limits=limits).execute([step("turn_on", LIGHTS[0].id)], house_view())
    assert time.monotonic() - began < 0.9
    assert [(r.status, r.reason) for r in results] == [(Status.UNKNOWN, "timeout")]
    results = Executor(adapter, limits=replace(limits, turn_ms=200)).execute(
        [step("turn_on", LIGHTS[1].id)], house_view()
    )
    assert [r.status for r in results] == [Status.FAILED]
    time.sleep(0.5)
    assert ("apply", LIGHTS[1].id) not in adapter.log


def test_many_turns_for_one_slow_device_end_as_done_or_not_sent_and_never_as_the_devices_fault():
    _, adapter = many_lights(slow_s=0.1)
    executor = Executor(adapter, limits=Limits(turn_ms=2400))
    results: list[ActionResult] = []

    def turn() -> None:
        results.extend(executor.execute([step("turn_on", "light.n0")], house_view()))

    threads = [threading.Thread(target=turn) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ends = {(r.status, r.reason) for r in results}
    assert ends == {(Status.DONE, None), (Status.SKIPPED, "timeout")}
    assert len([kind for kind, _ in adapter.log if kind == "apply"]) == sum(r.status is Status.DONE for r in results)


def test_the_journal_has_the_order_of_the_steps_though_devices_move_side_by_side():
    _, adapter = many_lights()
    journal: list[Moved] = []
    Executor(adapter).execute([step("turn_on", light.id) for light in LIGHTS], house_view(), journal=journal)
    assert [moved.before.id for moved in journal] == [light.id for light in LIGHTS]


def test_a_dead_device_is_left_out_of_a_question_about_many_and_named():
    _, adapter = many_lights(dead=frozenset({"light.n3"}), slow_s=0)
    answer, missing = Executor(adapter).execute([step("get_state", *(light.id for light in LIGHTS))], house_view())
    assert answer.status is Status.DONE
    assert len(answer.facts["items"]) == len(LIGHTS) - 1
    assert (missing.action.device_id, missing.status, missing.reason) == ("light.n3", Status.FAILED, "unavailable")
    assert missing.action.tool == "get_state"


def test_a_dead_device_is_left_out_of_an_action_on_many_and_named():
    _, adapter = many_lights(dead=frozenset({"light.n1"}), slow_s=0)
    together = replace(
        with_function("turn_on", lambda devices: Decision({d.id: Change("on") for d in devices})), scope="devices"
    )
    results = Executor(adapter).execute([step(together, "light.n0", "light.n1", "light.n2")], house_view())
    assert [(r.action.device_id, r.status) for r in results] == [
        ("light.n0", Status.DONE),
        ("light.n2", Status.DONE),
        ("light.n1", Status.FAILED),
    ]


def test_a_turn_that_nobody_wants_any_more_is_not_begun_but_ended_once_it_began(bench):
    steps = [step("turn_on", "light.lamp_1"), step("open_cover", "cover.window")]
    results = bench.run(*steps, is_wanted=lambda: False)
    assert {r.status for r in results} == {Status.SKIPPED}
    results = bench.run(*steps, is_wanted=lambda: not bench.adapter.sent)
    assert {r.status for r in results} == {Status.DONE}


def test_a_question_about_dead_devices_alone_names_each():
    _, adapter = many_lights(dead=frozenset({"light.n3", "light.n4"}), slow_s=0)
    results = Executor(adapter).execute([step("get_state", "light.n3", "light.n4")], house_view())
    assert [(r.action.device_id, r.reason) for r in results] == [
        ("light.n3", "unavailable"),
        ("light.n4", "unavailable"),
    ]


def test_commands_of_two_turns_for_one_device_do_not_mix():
    _, adapter = many_lights(slow_s=0.05)
    executor = Executor(adapter)
    results: list[ActionResult] = []

    def turn(name: str) -> None:
        results.extend(executor.execute([step(name, "light.n0")], house_view()))

    threads = [threading.Thread(target=turn, args=(name,)) for name in ("turn_on", "turn_off", "turn_on", "turn_off")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {r.status for r in results} == {Status.DONE}
    assert [kind for kind, _ in adapter.log] == ["apply", "applied"] * 4


def test_a_command_whose_device_stays_busy_is_skipped_when_the_time_is_up():
    _, adapter = many_lights(slow_s=0.3)
    executor = Executor(adapter, limits=Limits(turn_ms=1000))
    first = threading.Thread(target=executor.execute, args=([step("turn_on", "light.n0")], house_view()))
    first.start()
    time.sleep(0.05)
    (result,) = _hurried(executor).execute([step("turn_off", "light.n0")], house_view())
    first.join()
    assert (result.status, result.reason) == (Status.SKIPPED, "timeout")
    assert [kind for kind, _ in adapter.log] == ["apply", "applied"]


def _hurried(executor: Executor) -> Executor:
    """The same executor with less time for a turn."""
    other = copy.copy(executor)
    other._limits = Limits(turn_ms=100)
    return other


def test_a_function_that_hangs_for_one_device_still_works_for_the_others(bench):
    def choosy(device: Device) -> Decision:
        return bench.hang(device) if device.id == "light.lamp_1" else Decision({device.id: Change("on")})

    stuck = with_function("turn_on", choosy)
    assert [bench.one(stuck, "light.lamp_1").reason for _ in range(3)] == ["timeout", "timeout", "hung"]
    assert bench.one(stuck, "light.lamp_11").status is Status.DONE


def test_a_scene_that_moves_others_reports_the_worst_of_them(bench):
    (result,) = bench.run(step("activate_scene", "scene.night"))
    assert (result.status, result.action.device_id) == (Status.DONE, "scene.night")
    assert bench.registry.get("cover.garage").state == "open"


def test_the_guard_stops_a_scene_from_moving_a_device_it_did_not_name(bench):
    def guard(_: Step, device: Device, change: Change) -> str | None:
        return "denied" if (device.device_class, change.state) == ("garage", "open") else None

    (result,) = bench.run(step("activate_scene", "scene.night"), guard=guard)
    assert (result.status, result.reason) == (Status.FAILED, "denied")
    assert bench.registry.get("cover.garage").state == "closed"


def test_a_question_reads_live_states_in_one_call(bench):
    bench.registry.report("cover.window", state="open")
    (result,) = bench.run(step("get_state", "cover.window", "cover.garage"))
    assert [row["state"] for row in result.facts["items"]] == ["open", "closed"]
    assert result.reply_key == "state.many"


def test_a_question_about_an_offline_device_says_so(bench):
    bench.registry.report("light.lamp_1", is_available=False)
    assert bench.one("get_state", "light.lamp_1").reason == "unavailable"


def test_a_tool_may_look_at_the_home_beside_its_devices(bench: Bench) -> None:
    @tool(types=("light",), is_query=True)
    def neighbours(devices: tuple[Device, ...], home: HomeView | None = None) -> Answer:
        """Count what there is beside the devices."""
        return Answer("state.count", {"total": len(home.devices) if home else 0})

    (result,) = bench.run(step(read_tool(neighbours), "light.lamp_1"))
    assert result.facts["total"] == len(HOUSE.devices)
    assert [p.name for p in read_tool(neighbours).params] == []


def test_every_device_that_is_offline_is_told_if_all_are(bench: Bench) -> None:
    for device_id in ("light.lamp_1", "light.lamp_11"):
        bench.registry.report(device_id, is_available=False)
    results = bench.run(step("get_state", "light.lamp_1", "light.lamp_11"))
    assert [(r.action.device_id, r.reason) for r in results] == [
        ("light.lamp_1", "unavailable"),
        ("light.lamp_11", "unavailable"),
    ]
