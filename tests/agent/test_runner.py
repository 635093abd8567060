from __future__ import annotations

import threading
import time
from collections.abc import Iterator

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
