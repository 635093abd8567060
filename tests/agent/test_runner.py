from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest

from agentkit.agent.runner import Runner


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def release() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def problems(runner: Runner, release: threading.Event, n: int) -> list[str | None]:
    return [runner.call("key", lambda: release.wait(20), timeout_ms=20).problem for _ in range(n)]


def test_a_key_that_was_refused_is_tried_again_after_a_while(release: threading.Event) -> None:
    clock = Clock()
    runner = Runner(max_hung=2, recover_s=60, clock=clock)
    assert problems(runner, release, 3) == ["timeout", "timeout", "hung"]
    clock.now = 61
    assert runner.call("key", lambda: "well", timeout_ms=2000).value == "well"


def test_a_key_that_hangs_again_is_refused_for_twice_as_long(release: threading.Event) -> None:
    clock = Clock()
    runner = Runner(max_hung=2, recover_s=60, clock=clock)
    problems(runner, release, 2)
    clock.now = 61
    assert problems(runner, release, 2) == ["timeout", "hung"]
    clock.now = 61 + 119
    assert problems(runner, release, 1) == ["hung"]
    clock.now = 61 + 121
    assert problems(runner, release, 1) == ["timeout"]


def test_a_key_is_taken_again_at_once_when_its_threads_end(release: threading.Event) -> None:
    runner = Runner(max_hung=1)
    assert problems(runner, release, 2) == ["timeout", "hung"]
    release.set()
    deadline = time.monotonic() + 5
    while runner.hung() and time.monotonic() < deadline:
        time.sleep(0.005)
    assert runner.hung() == {}
    assert runner.call("key", lambda: 1, timeout_ms=2000).value == 1


def test_without_time_left_nothing_is_started() -> None:
    started: list[int] = []
    assert Runner().call("key", lambda: started.append(1), timeout_ms=0).problem == "timeout"
    assert started == []


def test_calls_after_each_other_share_a_thread_that_ends_when_no_more_come() -> None:
    runner = Runner(linger_s=0.05)
    threads = [runner.call(f"key {n}", threading.current_thread, timeout_ms=2000).value for n in range(5)]
    assert len({t.ident for t in threads}) == 1
    assert threads[0].name == "agentkit key 4"
    threads[0].join(5)
    assert not threads[0].is_alive()
    assert runner.call("key", lambda: "still there", timeout_ms=2000).value == "still there"


def test_a_call_beside_one_that_hangs_has_a_thread_of_its_own(release: threading.Event) -> None:
    runner = Runner()
    assert problems(runner, release, 1) == ["timeout"]
    assert runner.call("other", lambda: 1, timeout_ms=2000).value == 1
    assert runner.hung() == {"key": 1}


def test_what_a_function_leaves_behind_in_its_thread_does_not_meet_the_next_one() -> None:
    kept: ContextVar[str] = ContextVar("kept", default="clean")
    runner = Runner()
    runner.call("key", lambda: kept.set("used"), timeout_ms=2000)
    assert runner.call("key", kept.get, timeout_ms=2000).value == "clean"


def test_calls_from_many_threads_all_come_back() -> None:
    runner = Runner()
    with ThreadPoolExecutor(8) as pool:
        ran = list(pool.map(lambda n: runner.call("key", lambda: n, timeout_ms=5000).value, range(200)))
    assert ran == list(range(200))
