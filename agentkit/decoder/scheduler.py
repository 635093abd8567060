"""Shares one target among several callers: bounded queue, priorities, deadlines, fair interleaving (A10, A11, B9).

One thread drives the stages; it lives while there is work. A caller waits for its own turn only, and while it waits it
watches over the target: one that does not come back from a step is given up, with the thread that is stuck in it, and
everything on its way is replayed on the next.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

from agentkit.decoder.backend import CancellableSession
from agentkit.decoder.caller import Priority
from agentkit.decoder.governor import Governor
from agentkit.decoder.job import Job
from agentkit.decoder.pipeline import Pipeline
from agentkit.decoder.run import Run
from agentkit.decoder.targets import Targets
from agentkit.decoder.trace import StageTrace
from agentkit.decoder.turn import Turn
from agentkit.decoder.watch import HANG_S, GivenUp, Watch
from agentkit.decoder.workers import Workers
from agentkit.errors import AgentKitError, Busy, DecoderError, StepFailed

LINGER_S: Final = 0.25
"""How long the thread waits for more work before it ends."""
POLL_S: Final = 0.1
"""How often a caller that waits looks whether the target hangs."""
Result = TypeVar("Result")


class Scheduler:
    """Runs turns on the targets; as many at once as the cache has slots, the others wait."""

    def __init__(
        self, targets: Targets, *, n_known: int, max_waiting: int = 64, hang_s: float = HANG_S,
        clock: Callable[[], float] = time.monotonic, governor: Governor | None = None,
        n_in_flight: int | None = None, has_workers: bool = False,
    ):  # fmt: skip
        """`n_known` ids can be chosen; the governor may pause between steps and asks for leaner targets.

        `n_in_flight` and `has_workers` change how the stages are driven; the defaults are the faster way.
        """
        self.trace: StageTrace | None = None
        """Notes the stages of every turn that begins while it is set."""
        self._targets, self._n_known, self._max_waiting = targets, n_known, max_waiting
        self._hang_s, self._clock, self._governor = hang_s, clock, governor
        self._cond = threading.Condition()
        self._waiting: list[Job] = []  # a heap
        self._active: dict[Run, Job] = {}  # the driving thread's own, as is the pipeline
        self._pipeline: Pipeline | None = None
        self._workers: Workers | None = None
        self._n_in_flight, self._has_workers = n_in_flight, has_workers
        self._watch: Watch | None = None  # of the driving thread; None = there is none
        self._thread: threading.Thread | None = None
        self._n_jobs, self._most_active, self._is_closed = 0, 0, False

    def run(self, turn: Turn, priority: Priority = Priority.CHAT) -> Job:
        """Run a turn to its end and return what became of it.

        Raises Busy if too many wait already, and whatever ended the turn: PromptTooLong, GrammarError, what its
        callback raised, StepFailed once the last target has failed.
        """
        job = self._submit(priority, turn, None)
        try:
            self._await(job)
        except BaseException:  # the caller goes away: nobody wants the answer
            turn.cancel()
            self._interrupt(job)
            raise
        if job.error is not None:
            raise job.error
        return job

    def call(self, call: Callable[[], Result], priority: int = Priority.BACKGROUND) -> Result:
        """Run something while no turn is on its way, and return its result."""
        job = self._submit(priority, None, call)
        self._await(job)
        if job.error is not None:
            raise job.error
        result: Result = job.result
        return result

    def close(self) -> None:
        """Cancel every turn and close the targets; returns when the step in flight has ended."""
        with self._cond:
            if self._is_closed:
                return
            jobs = [*self._waiting, *self._active.values()]
        for job in jobs:
            if job.turn is not None:
                job.turn.cancel()
                self._interrupt(job)
        self.call(self._targets.close, priority=-1)
        self._is_closed = True

    def describe(self) -> dict[str, int]:
        """Return the load for health reports."""
        return {
            "n_active": len(self._active), "n_waiting": len(self._waiting), "max_waiting": self._max_waiting,
            "most_active": self._most_active,
        }  # fmt: skip

    def _submit(self, priority: int, turn: Turn | None, call: Callable[[], Any] | None) -> Job:
        with self._cond:
            if self._is_closed:
                raise DecoderError("the decoder is closed; open the model again")
            if threading.current_thread() is self._thread:
                raise DecoderError("a callback asked the decoder, which waits for the callback; ask after the turn")
            if turn is not None and len(self._waiting) >= self._max_waiting:
                raise Busy(f"{self._max_waiting} requests wait for the model already; try again in a second")
            self._n_jobs += 1
            job = Job(priority, self._n_jobs, turn, call)
            heapq.heappush(self._waiting, job)
            if self._watch is None:
                self._start(None)
            self._cond.notify()
        return job

    def _start(self, hung: StepFailed | None) -> None:
        """Start a driving thread; the caller holds the lock."""
        self._watch = watch = Watch(limit_s=self._hang_s, clock=self._clock)
        self._thread = threading.Thread(target=self._drive, args=(watch, hung), name="decoder", daemon=True)
        self._thread.start()

    def _await(self, job: Job) -> None:
        while not job.done.wait(POLL_S):
            if job.turn is not None and job.turn.is_over_time():
                self._interrupt(job)
            with self._cond:
                if self._watch is not None and self._watch.give_up_if_hung():
                    limit = self._watch.describe()
                    self._start(StepFailed(f"no answer to a step within {limit}; the target hangs and is given up"))

    def _interrupt(self, job: Job) -> None:
        """End the step in progress if nobody may want it any more; other turns that it serves run theirs again."""
        pipeline = self._pipeline
        if job.begun_s is None or job.is_interrupted or job.done.is_set() or pipeline is None:
            return
        job.is_interrupted = True
        if isinstance(pipeline.lane.session, CancellableSession):
            pipeline.lane.session.cancel()

    def _drive(self, watch: Watch, hung: StepFailed | None) -> None:
        try:
            if hung is not None:
                self._fall_back(hung, is_hung=True)
            while self._watch is watch and self._has_work():
                self._round(watch)
        except GivenUp:  # another thread has taken over
            return

    def _has_work(self) -> bool:
        """Wait for work; False, with the thread signed off, if none comes."""
        if self._active:
            return True
        with self._cond:
            if not self._waiting:
                self._targets.recover()
                if not self._cond.wait_for(lambda: bool(self._waiting), timeout=LINGER_S):
                    self._drop_pipeline()
                    self._watch = None
                    return False
        return True

    def _round(self, watch: Watch) -> None:
        """Let in what there is room for and move every stage once."""
        try:
            self._admit(watch)
            if self._active and self._pipeline is not None:
                if self._governor is not None:
                    self._governor.pace()
                (self._workers or self._pipeline).advance()
        except GivenUp:
            raise
        except StepFailed as err:
            self._fall_back(err, is_hung=False)
        except BaseException as err:  # noqa: BLE001 - an edge: whoever waits gets it, and this thread goes on
            self._end_all(err)
        if self._watch is not watch:
            raise GivenUp("a stage hung; another thread has taken over")
        self._collect()

    def _collect(self) -> None:
        """Hand every finished turn to its caller."""
        while self._pipeline is not None and self._pipeline.finished:
            run = self._pipeline.finished.popleft()
            self._finish(self._active.pop(run), run)

    def _admit(self, watch: Watch) -> None:
        while (job := self._next_waiting()) is not None:
            if job.call is not None:
                self._run_call(job)
                continue
            assert job.turn is not None, job
            job.begun_s = job.begun_s or time.perf_counter()
            try:
                self._begin(job, job.turn, watch)
            except BaseException as err:  # noqa: BLE001 - an edge: whoever waits for the turn gets it
                job.error = err
                self._finish(job, None)

    def _next_waiting(self) -> Job | None:
        """Take the next job that may start now."""
        with self._cond:
            for job in [job for job in self._waiting if job.is_unwanted()]:
                self._waiting.remove(job)
                heapq.heapify(self._waiting)
                self._finish(job, None)
            n_slots = self._pipeline.lane.kv.n_slots if self._pipeline is not None and self._active else 1
            if not self._waiting or len(self._active) >= n_slots:
                return None
            if self._waiting[0].call is not None and self._active:
                return None  # it wants the target for itself; nothing else starts before it
            return heapq.heappop(self._waiting)

    def _begin(self, job: Job, turn: Turn, watch: Watch) -> None:
        if not self._active:  # only now may the target change
            if self._governor is not None:
                self._targets.set_level(self._governor.level)
            lane = self._targets.current()
            if self._pipeline is None or self._pipeline.lane is not lane:
                self._drop_pipeline()
                self._pipeline = Pipeline(lane, watch=watch, n_in_flight=self._n_in_flight)
                self._workers = Workers(self._pipeline) if self._has_workers else None
        assert self._pipeline is not None
        self._pipeline.watch = watch
        run = Run(
            self._pipeline.lane, turn, n_known=self._n_known, busy={run.slot for run in self._active},
            sequence=job.number, priority=job.priority, trace=self.trace,
        )  # fmt: skip
        self._active[run] = job
        self._most_active = max(self._most_active, len(self._active))
        if run.is_over:
            self._pipeline.finished.append(run)
        else:
            self._pipeline.entry.push(run)

    def _run_call(self, job: Job) -> None:
        assert job.call is not None, job
        try:
            self._drop_pipeline()
            job.result = job.call()
        except BaseException as err:  # noqa: BLE001 - an edge: whoever called gets it
            job.error = err
        job.done.set()

    def _finish(self, job: Job, run: Run | None) -> None:
        if run is not None:
            self._add_times(job, run)
            job.run, job.error = run, run.error
        job.target, job.fallback_reason = self._targets.name, self._targets.fallback_reason
        job.done.set()

    def _fall_back(self, err: StepFailed, *, is_hung: bool) -> None:
        """Give up the target and queue everything on its way again, each turn where it stands."""
        self._collect()  # what was complete by then stays so
        runs, self._active = dict(self._active), {}
        pipeline = self._drop_pipeline(is_hung=is_hung)
        if pipeline is not None:
            pipeline.lane.distrust(err, *(run.slot for run in runs))
        try:
            self._targets.fail(err, is_hung=is_hung)
        except AgentKitError as last:
            self._active = runs
            self._end_all(last)
            return
        with self._cond:
            for run, job in runs.items():
                self._add_times(job, run)
                heapq.heappush(self._waiting, job)

    def _end_all(self, err: BaseException) -> None:
        """Give an error to every turn on its way."""
        self._collect()
        for run, job in self._active.items():
            run.error = err
            self._finish(job, run)
        self._active = {}
        self._drop_pipeline()

    def _drop_pipeline(self, *, is_hung: bool = False) -> Pipeline | None:
        """Take the pipeline apart; what was on its way in it is the caller's to save."""
        if self._workers is not None:
            self._workers.stop(is_hung=is_hung)
        pipeline, self._pipeline, self._workers = self._pipeline, None, None
        return pipeline

    def _add_times(self, job: Job, run: Run) -> None:
        job.prefill_s += run.prefill_s
        job.decode_s += run.decode_s
