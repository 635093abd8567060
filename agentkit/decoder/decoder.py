"""Turns a prompt into an answer: prefix reuse, forced tokens, grammar, streaming, cancellation and fallback.

The scheduler runs the steps; here is what callers see.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from agentkit.decoder import score
from agentkit.decoder.caller import Caller, Priority, calling, current_caller
from agentkit.decoder.chat import CHATML, Message, Prompt, split_chat
from agentkit.decoder.governor import Governor
from agentkit.decoder.grammar import Grammar
from agentkit.decoder.job import Job
from agentkit.decoder.lane import Lane
from agentkit.decoder.prompt_encoder import PromptEncoder
from agentkit.decoder.sampler import Sampling
from agentkit.decoder.scheduler import Scheduler
from agentkit.decoder.steps import StageTimes
from agentkit.decoder.targets import Planned, Targets
from agentkit.decoder.tokenizer import Tokenizer
from agentkit.decoder.turn import Finish, Turn
from agentkit.decoder.watch import HANG_S
from agentkit.errors import DecoderError, StepFailed

__all__ = ["Caller", "Decoder", "Generation", "Priority", "Prompt", "calling"]

_GREEDY: Final = Sampling()
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Generation:
    """One answer."""

    text: str
    token_ids: tuple[int, ...]
    """Without the end token."""
    n_prompt: int
    n_cached: int
    """Prompt tokens whose cache rows were there already."""
    n_forced: int
    """Tokens that the grammar dictated."""
    n_sampled: int
    """Tokens that the model chose, the end token included."""
    finish: Finish
    """stop, length (max_tokens, capacity, or one token max_repeats times) or cancelled (also past the deadline)."""
    timings_ms: Mapping[str, float]
    """wait (for other turns), tokenize, prefill, decode, total; pre, core and post sum up the stages of all steps."""
    target: str
    fallback_reason: str | None
    logprob: float
    """Sum over sampled tokens of log-softmax among those that the grammar allowed."""
    min_logprob: float
    """The least likely of them; 0 if nothing was sampled."""
    n_steps: int
    """Core steps run for this answer."""


class Decoder:
    """Owns the targets; turns of several callers are interleaved, so a callback must not wait for another turn."""

    def __init__(
        self, sessions: Sequence[tuple[str, Planned]], tokenizer: Tokenizer, *, chat_template: str | None = None,
        max_repeats: int = 64, max_waiting: int = 64, hang_s: float = HANG_S,
        clock: Callable[[], float] = time.monotonic, has_workers: bool = False,
        has_forced_runs: bool = True, lean: Sequence[tuple[str, Planned]] = (), governor: Governor | None = None,
    ):  # fmt: skip
        """`sessions` are targets in planned order, each open or how to open it; the later ones are fallbacks.

        `max_waiting` requests may wait for a slot; a step that takes longer than `hang_s` counts as failed. With
        workers each stage of a step has a thread of its own, and without forced runs every token is sampled, even where
        the grammar leaves one; both are for measuring. The governor paces the steps; at its
        level n the lean way n, which may be fewer threads or a smaller model with the same tokenizer, goes first.
        """
        self.tokenizer = tokenizer
        self.chat_template = chat_template or tokenizer.chat_template or CHATML
        self._targets, self._encoder = Targets(sessions, lean=lean, clock=clock), PromptEncoder(tokenizer)
        self._governor = governor
        self.scheduler = Scheduler(
            self._targets, n_known=tokenizer.vocab_size, max_waiting=max_waiting, hang_s=hang_s, clock=clock,
            has_workers=has_workers, governor=governor,
        )  # fmt: skip
        self._max_repeats, self._has_forced_runs = max_repeats, has_forced_runs
        self._lock = threading.Lock()  # guards the encoder's memory
        self._n_turns = 0

    def generate(
        self, prompt: Prompt, *, grammar: Grammar | None = None, max_tokens: int, sampling: Sampling = _GREEDY,
        on_text: Callable[[str], None] | None = None, cancelled: Callable[[], bool] | None = None,
        deadline_s: float | None = None, priority: Priority | None = None,
    ) -> Generation:  # fmt: skip
        """Answer a prompt; on_text gets whole characters as they come, from the thread that drives the target.

        Both callbacks must return quickly. What is not said of the caller here is taken from `calling`. Raises Busy if
        too many requests wait, PromptTooLong, GrammarError, what a callback raises, and StepFailed once the last
        planned target has failed.
        """
        if max_tokens < 1:
            raise DecoderError(f"max_tokens is {max_tokens}, wanted 1 or more")
        started, caller = time.perf_counter(), current_caller()
        with self._lock:
            prompt_ids, n_prefix = self._encoder.encode(prompt)
        tokenized = time.perf_counter()
        turn = Turn(
            self.tokenizer, prompt_ids, n_prefix=n_prefix, grammar=grammar, max_tokens=max_tokens,
            sampling=sampling, on_text=on_text, cancelled=cancelled or caller.is_gone, max_repeats=self._max_repeats,
            deadline=None if deadline_s is None else started + deadline_s, has_forced_runs=self._has_forced_runs,
        )  # fmt: skip
        job = None
        if turn.finish is None:  # else the grammar leaves no choice
            with caller.while_waiting():
                job = self.scheduler.run(turn, caller.priority if priority is None else priority)
        self._n_turns += 1
        timings = {"tokenize": tokenized - started, **_timings_s(job, tokenized)}
        return self._generation(turn, job, {**timings, "total": time.perf_counter() - started})

    def score(self, prompt: Prompt, answers: Sequence[str]) -> list[float]:
        """Return each answer's log-probability after the prompt, as a whole: its tokens and then the end.

        Raises PromptTooLong, and StepFailed once the last planned target has failed.
        """
        with self._lock:
            prompt_ids, n_prefix = self._encoder.encode(prompt)
        encoded = [self.tokenizer.encode_continuation(answer) for answer in answers]

        def run(lane: Lane) -> list[float]:
            slot = lane.place(prompt_ids, n_prefix)
            try:
                lane.run_prefix(slot, prompt_ids[:n_prefix])
                return score.score_answers(lane, slot, prompt_ids[n_prefix:], encoded, self.tokenizer.eos_ids)
            except StepFailed as err:
                lane.distrust(err, slot)
                raise

        return self.scheduler.call(lambda: self._with_fallback(run))

    def chat_prompt(self, messages: Sequence[Message], *, n_static: int = 1) -> Prompt:
        """Render a conversation whose first n_static messages stay the same from turn to turn."""
        return split_chat(self.tokenizer, messages, n_static=n_static, template=self.chat_template)

    def warm_up(self) -> None:
        """Run every bucket three times (rule A14) and seal the pools; a target that fails is replaced by the next."""
        self.scheduler.call(self._targets.warm_up)

    def status(self) -> dict[str, Any]:
        """Return target, planned order, fallback reason, pools, slots and queue, without waiting for a turn."""
        return {
            **self._targets.describe(),
            "queue": self.scheduler.describe(),
            "governor": self._governor.describe() if self._governor else None,
            "n_turns": self._n_turns,
        }

    def close(self) -> None:
        """Cancel what is on its way and close every session."""
        self.scheduler.close()

    def _with_fallback(self, run: Callable[[Lane], _Result]) -> _Result:
        while True:
            lane = self._targets.current()
            try:
                return run(lane)
            except StepFailed as err:
                self._targets.fail(err)

    def _generation(self, turn: Turn, job: Job | None, timings_s: Mapping[str, float]) -> Generation:
        assert turn.finish is not None, turn.ids
        return Generation(
            text=turn.text,
            token_ids=tuple(turn.ids),
            n_prompt=len(turn.prompt_ids),
            n_cached=turn.n_cached,
            n_forced=turn.n_forced(),
            n_sampled=turn.n_sampled,
            finish=turn.finish,
            timings_ms={stage: seconds * 1e3 for stage, seconds in timings_s.items()},
            target=job.target if job else self._targets.name,
            fallback_reason=job.fallback_reason if job else self._targets.fallback_reason,
            logprob=turn.logprob,
            min_logprob=turn.min_logprob,
            n_steps=job.run.times.n_steps if job and job.run else 0,
        )


def _timings_s(job: Job | None, since_s: float) -> dict[str, float]:
    """Return the seconds of each part of a turn that was handed to the scheduler at since_s."""
    times = job.run.times if job and job.run else StageTimes()
    return {
        "wait": job.begun_s - since_s if job and job.begun_s else 0.0,
        "prefill": job.prefill_s if job else 0.0,
        "decode": job.decode_s if job else 0.0,
        "pre": times.pre_s,
        "core": times.core_s,
        "post": times.post_s,
    }
