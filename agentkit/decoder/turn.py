"""The state of one answer in the making: it outlives a target that fails in the middle of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Literal

from agentkit.decoder.grammar import Grammar, Matcher
from agentkit.decoder.health import RepeatCheck
from agentkit.decoder.sampler import Sampling, make_sampler
from agentkit.decoder.steps import Sampled
from agentkit.decoder.tokenizer import StreamingDetokenizer, Tokenizer

Finish = Literal["stop", "length", "cancelled"]


class Turn:
    """Collects tokens and text of one answer, on whatever target they come from."""

    def __init__(
        self, tokenizer: Tokenizer, prompt_ids: Sequence[int], *, n_prefix: int, grammar: Grammar | None,
        max_tokens: int, sampling: Sampling, on_text: Callable[[str], None] | None,
        cancelled: Callable[[], bool] | None, deadline: float | None, max_repeats: int,
        has_forced_runs: bool = True,
    ):  # fmt: skip
        self.prompt_ids, self.n_prefix = list(prompt_ids), n_prefix
        self.matcher: Matcher | None = grammar.start() if grammar else None
        self.sampler = make_sampler(sampling)
        self.ids: list[int] = []
        """The answer so far; once forced runs are merged in, ids may change behind what settle() kept."""
        self.n_sampled, self.n_cached = 0, 0
        self.logprob, self.min_logprob = 0.0, 0.0
        self.text = ""
        self.finish: Finish | None = None
        self._tokenizer, self._max_tokens, self._has_forced_runs = tokenizer, max_tokens, has_forced_runs
        self._on_text, self._cancelled, self._deadline = on_text, cancelled, deadline
        self._repeats = RepeatCheck(max_repeats)
        self._detokenizer = StreamingDetokenizer(tokenizer)
        self._ends = [0]  # bytes of text up to each id; the last item is behind all of them
        self._n_shown = 0  # bytes given to the detokenizer
        self._has_end_token = False
        self._is_cancelled = False
        self._settle(0)

    def cancel(self) -> None:
        """Stop the answer before its next step; may come from any thread."""
        self._is_cancelled = True

    def is_stopped(self) -> bool:
        """Tell whether the caller cancelled or the deadline (on the clock of time.perf_counter) has passed."""
        return self.is_over_time() or (self._cancelled is not None and self._cancelled())

    def is_over_time(self) -> bool:
        """Tell the same without asking the caller; may come from any thread."""
        return self._is_cancelled or (self._deadline is not None and time.perf_counter() >= self._deadline)

    def accept(self, sampled: Sampled) -> int:
        """Take one sampled token and what the grammar forces after it.

        Returns how many of the ids before it are unchanged; sets `finish` when the answer is complete. Raises
        UnhealthyLogits, with the token not taken, if the target is stuck.
        """
        if self._repeats.note(sampled.token_id, sampled.fingerprint):
            self.finish = "length"
            return len(self.ids)
        self.n_sampled += 1
        self.logprob += sampled.logprob
        self.min_logprob = min(self.min_logprob, sampled.logprob)
        if self._tokenizer.is_special(sampled.token_id) or sampled.token_id in self._tokenizer.eos_ids:
            self.finish, self._has_end_token = "stop", True
            return len(self.ids)
        n_before = len(self.ids)
        self.ids.append(sampled.token_id)
        if self.matcher is not None:
            self.matcher.consume(sampled.token_id)
        return self._settle(n_before)

    def n_forced(self) -> int:
        """Count the tokens that needed no model."""
        return max(0, len(self.ids) - self.n_sampled + int(self._has_end_token))

    def _settle(self, n_before: int) -> int:
        """Merge in forced tokens, emit the new text, notice the end; returns how many of n_before ids are unchanged."""
        n_kept = n_before
        if self.matcher is not None:
            if self._has_forced_runs:
                n_kept = min(n_before, self.matcher.settle())
            self.ids = list(self.matcher.ids)
            if self.matcher.is_finished:
                self.finish = "stop"
        if len(self.ids) > self._max_tokens or (len(self.ids) == self._max_tokens and self.finish is None):
            self.ids, self.finish = self.ids[: self._max_tokens], "length"
        n_kept = min(n_kept, len(self.ids))
        self._emit(n_kept)
        return n_kept

    def _emit(self, n_kept: int) -> None:
        """Show the bytes that came after the first n_kept ids and were not shown before."""
        tokenizer = self._tokenizer
        pieces = [b"" if tokenizer.is_special(i) else tokenizer.token_bytes(i) for i in self.ids[n_kept:]]
        start = self._ends[n_kept]
        self._ends[n_kept:] = list(accumulate(map(len, pieces), initial=start))
        text = self._detokenizer.push_bytes(b"".join(pieces)[self._n_shown - start :])
        self._n_shown = max(self._n_shown, self._ends[-1])
        self.text += text
        if text and self._on_text is not None:
            self._on_text(text)
