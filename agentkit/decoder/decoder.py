"""Turns a prompt into an answer: prefix reuse, forced tokens, grammar, streaming, cancellation and fallback."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from agentkit.decoder import score
from agentkit.decoder.backend import Logits
from agentkit.decoder.chat import CHATML, Message, Prompt, split_chat
from agentkit.decoder.grammar import Grammar
from agentkit.decoder.lane import Lane
from agentkit.decoder.prompt_encoder import PromptEncoder
from agentkit.decoder.sampler import Sampling
from agentkit.decoder.steps import StageTimes, post_step
from agentkit.decoder.targets import Planned, Targets
from agentkit.decoder.tokenizer import Tokenizer
from agentkit.decoder.turn import Finish, Turn
from agentkit.errors import DecoderError, StepFailed

__all__ = ["Decoder", "Generation", "Prompt"]

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
    """Owns the targets; one lock lets one turn run at a time, so a callback must not call the decoder."""

    def __init__(
        self, sessions: Sequence[tuple[str, Planned]], tokenizer: Tokenizer, *, chat_template: str | None = None,
        max_repeats: int = 64,
    ):  # fmt: skip
        """`sessions` are targets in planned order, each open or how to open it; the later ones are fallbacks."""
        self.tokenizer = tokenizer
        self.chat_template = chat_template or tokenizer.chat_template or CHATML
        self._targets, self._encoder = Targets(sessions), PromptEncoder(tokenizer)
        self._max_repeats = max_repeats
        self._lock = threading.Lock()
        self._n_turns = 0

    def generate(
        self, prompt: Prompt, *, grammar: Grammar | None = None, max_tokens: int, sampling: Sampling = _GREEDY,
        on_text: Callable[[str], None] | None = None, cancelled: Callable[[], bool] | None = None,
        deadline_s: float | None = None,
    ) -> Generation:  # fmt: skip
        """Answer a prompt; on_text gets whole characters as they come.

        Raises PromptTooLong, GrammarError, and StepFailed once the last planned target has failed.
        """
        if max_tokens < 1:
            raise DecoderError(f"max_tokens is {max_tokens}, wanted 1 or more")
        started = time.perf_counter()
        with self._lock:
            locked = time.perf_counter()
            prompt_ids, n_prefix = self._encoder.encode(prompt)
            tokenized = time.perf_counter()
            turn = Turn(
                self.tokenizer, prompt_ids, n_prefix=n_prefix, grammar=grammar, max_tokens=max_tokens,
                sampling=sampling, on_text=on_text, cancelled=cancelled, max_repeats=self._max_repeats,
                deadline=None if deadline_s is None else started + deadline_s,
            )  # fmt: skip
            timings = {"wait": locked - started, "tokenize": tokenized - locked, "prefill": 0.0, "decode": 0.0}
            times = self._with_fallback(lambda lane: self._decode(lane, turn, timings))
            self._n_turns += 1
            timings |= {"pre": times.pre_s, "core": times.core_s, "post": times.post_s}
            timings["total"] = time.perf_counter() - started
            return self._generation(turn, timings, times.n_steps)

    def score(self, prompt: Prompt, answers: Sequence[str]) -> list[float]:
        """Return each answer's log-probability after the prompt, as a whole: its tokens and then the end.

        Raises PromptTooLong, and StepFailed once the last planned target has failed.
        """
        with self._lock:
            prompt_ids, n_prefix = self._encoder.encode(prompt)
            encoded = [self.tokenizer.encode_continuation(answer) for answer in answers]

            def run(lane: Lane) -> list[float]:
                slot = lane.place(prompt_ids, n_prefix)
                with lane.distrusting(slot):
                    lane.run_prefix(slot, prompt_ids[:n_prefix], is_stopped=lambda: False)
                    return score.score_answers(lane, slot, prompt_ids[n_prefix:], encoded, self.tokenizer.eos_ids)

            return self._with_fallback(run)

    def chat_prompt(self, messages: Sequence[Message], *, n_static: int = 1) -> Prompt:
        """Render a conversation whose first n_static messages stay the same from turn to turn."""
        return split_chat(self.tokenizer, messages, n_static=n_static, template=self.chat_template)

    def warm_up(self) -> None:
        """Run every bucket three times (rule A14) and seal the pools; a target that fails is replaced by the next."""
        with self._lock:
            self._targets.warm_up()

    def status(self) -> dict[str, Any]:
        """Return target, planned order, fallback reason, pools and slots, without waiting for a running turn."""
        return {**self._targets.describe(), "n_turns": self._n_turns}

    def close(self) -> None:
        """Close every session."""
        with self._lock:
            self._targets.close()

    def _with_fallback(self, run: Callable[[Lane], _Result]) -> _Result:
        while True:
            lane = self._targets.current()
            try:
                return run(lane)
            except StepFailed as err:
                self._targets.fail(err)

    def _decode(self, lane: Lane, turn: Turn, timings_s: dict[str, float]) -> StageTimes:
        """Run the turn, from wherever it stands, to its end on one target."""
        lane.times = StageTimes()
        if turn.finish is not None:  # the grammar left nothing to decide
            return lane.times
        started = time.perf_counter()
        slot = lane.place(turn.prompt_ids, turn.n_prefix)
        turn.n_cached = lane.kv.length(slot)
        with lane.distrusting(slot):
            if not lane.run_prefix(slot, turn.prompt_ids[: turn.n_prefix], is_stopped=turn.is_stopped):
                turn.finish = "cancelled"
                return lane.times
            logits = self._run(lane, slot, turn, turn.prompt_ids[turn.n_prefix :] + turn.ids)
            prefilled = time.perf_counter()
            timings_s["prefill"] += prefilled - started
            while logits is not None:
                logits = self._next_logits(lane, slot, turn, logits)
        timings_s["decode"] += time.perf_counter() - prefilled
        return lane.times

    def _next_logits(self, lane: Lane, slot: int, turn: Turn, logits: Logits) -> Logits | None:
        """Choose a token and run it, with those that it forces, in one go; None when the answer is complete."""
        sampled = post_step(
            lane.front, logits, lane.times, matcher=turn.matcher, sampler=turn.sampler,
            n_known=self.tokenizer.vocab_size,
        )  # fmt: skip
        n_kept = turn.accept(sampled)
        if turn.finish is not None:
            return None
        lane.kv.truncate(slot, len(turn.prompt_ids) + n_kept)  # rows of ids that forced bytes merged with
        return self._run(lane, slot, turn, turn.ids[n_kept:])

    def _run(self, lane: Lane, slot: int, turn: Turn, ids: list[int]) -> Logits | None:
        """Append ids to the slot; None, with the reason in turn.finish, if the cache is full or the turn stopped."""
        if lane.kv.length(slot) + len(ids) > lane.kv.capacity:
            turn.finish = "length"
            return None
        logits = lane.run(slot, ids, is_stopped=turn.is_stopped)
        if logits is None:
            turn.finish = "cancelled"
        return logits

    def _generation(self, turn: Turn, timings_s: Mapping[str, float], n_steps: int) -> Generation:
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
            target=self._targets.name,
            fallback_reason=self._targets.fallback_reason,
            logprob=turn.logprob,
            min_logprob=turn.min_logprob,
            n_steps=n_steps,
        )
