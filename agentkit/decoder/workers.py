"""A thread for each stage, talking through the pipeline's rings only.

Worth it where a core-step leaves the processor idle. On a CPU target it does not: see docs/runtime.md for figures.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from agentkit.decoder.pipeline import Pipeline

POLL_S: Final = 0.05
"""How often whoever waits for a finished sequence looks whether there is something new to let in."""


class Workers:
    """Takes the place of `Pipeline.advance`; the threads live until `stop`."""

    def __init__(self, pipeline: Pipeline):
        self._error: BaseException | None = None
        self._is_stopped = False
        self._news = threading.Event()
        pre, core, post = threading.Event(), threading.Event(), threading.Event()
        self._wakes = (pre, core, post)
        stages: tuple[tuple[str, Callable[[], bool], threading.Event, tuple[threading.Event, ...]], ...] = (
            ("pre", pipeline.pre, pre, (core, self._news)),
            ("core", pipeline.core, core, (post,)),
            ("post", pipeline.post, post, (pre, self._news)),
        )
        self._threads = [
            threading.Thread(target=self._serve, args=(stage, wake, nexts), name=f"decoder-{name}", daemon=True)
            for name, stage, wake, nexts in stages
        ]
        for thread in self._threads:
            thread.start()

    def advance(self) -> None:
        """Wait until a sequence may have ended; raises what a stage raised."""
        self._wakes[0].set()  # something may have come in
        self._news.wait(POLL_S)
        self._news.clear()
        if self._error is not None:
            raise self._error

    def stop(self, *, is_hung: bool = False) -> None:
        """End the threads; the one that hangs in the target is left behind."""
        self._is_stopped = True
        for wake in self._wakes:
            wake.set()
        pre, core, post = self._threads
        for thread in (pre, post) if is_hung else (pre, core, post):
            thread.join()

    def _serve(self, stage: Callable[[], bool], wake: threading.Event, nexts: tuple[threading.Event, ...]) -> None:
        while not self._is_stopped:
            try:
                has_moved = stage()
            except BaseException as err:  # noqa: BLE001 - whoever waits gets it
                self._error = err
                self._news.set()
                return
            if not has_moved:
                wake.wait()
                wake.clear()
            for other in nexts if has_moved else ():
                other.set()
