"""Keeps other work of the machine away from a measurement, or from a service that must not wait."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

NICE = -10
BREATHE_EVERY_S, BREATHE_S = 0.7, 0.1


@contextmanager
def realtime(n_threads: int = 0) -> Iterator[str]:
    """Give this thread and those that it starts the last n_threads cores and the real-time scheduler, else nice -10.

    0 threads = all cores. Yields why not if the system refuses. Threads of a session inherit it, so it must be opened
    inside.
    """
    cores, policy, parameter = os.sched_getaffinity(0), os.sched_getscheduler(0), os.sched_getparam(0)
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    os.sched_setaffinity(0, sorted(cores)[-n_threads:] if n_threads else cores)
    refused = _raise_priority()
    try:
        yield refused
    finally:
        os.sched_setaffinity(0, cores)
        os.sched_setscheduler(0, policy, parameter)
        if os.getpriority(os.PRIO_PROCESS, 0) != nice:
            os.setpriority(os.PRIO_PROCESS, 0, nice)


def _raise_priority() -> str:
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        try:
            os.setpriority(os.PRIO_PROCESS, 0, NICE)
        except PermissionError:
            return "real-time priority was refused; give the service LimitRTPRIO= and LimitNICE=, or CAP_SYS_NICE"
    return ""


class Breather:
    """Pauses between measured steps before the kernel does: it stops a real-time thread for 50 ms in every second."""

    def __init__(self) -> None:
        self._is_needed = os.sched_getscheduler(0) == os.SCHED_RR
        self._since_s = time.perf_counter()

    def pause(self) -> bool:
        """Sleep if it is time to; True if caches are cold now, so that one step should go uncounted."""
        if not self._is_needed or time.perf_counter() - self._since_s < BREATHE_EVERY_S:
            return False
        time.sleep(BREATHE_S)
        self._since_s = time.perf_counter()
        return True
