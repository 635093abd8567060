from __future__ import annotations

import threading
import time

import pytest

from agentkit.agent.lines import Lines, side_by_side


def test_who_comes_first_is_served_first() -> None:
    lines, served = Lines(), []

    def come(number: int) -> None:
        with lines.hold("lamp"):
            served.append(number)

    with lines.hold("lamp"):
        threads = [threading.Thread(target=come, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
            time.sleep(0.01)
    for thread in threads:
        thread.join()
    assert served == list(range(8))


def test_other_names_are_not_waited_for() -> None:
    lines = Lines()
    with lines.hold("lamp", 0) as first, lines.hold("fan", 0) as second:
        assert first
        assert second


def test_who_gives_up_leaves_the_line() -> None:
    lines = Lines()
    with lines.hold("lamp"), lines.hold("lamp", 0.01) as is_held:
        assert not is_held
    with lines.hold("lamp", 0) as is_held:
        assert is_held


def test_jobs_go_side_by_side_on_so_many_threads_and_come_back_in_order() -> None:
    lock, running, most = threading.Lock(), 0, 0

    def job(number: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1
        return number

    jobs = [lambda n=n: job(n) for n in range(10)]
    assert side_by_side(jobs, n_threads=3) == list(range(10))
    assert most == 3


def test_what_a_job_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        side_by_side([lambda: 1 / 0, lambda: 1.0], n_threads=2)
