"""Keeps the model inside a Lark grammar, and knows what needs no model at all: bytes that the grammar forces.

Forced runs are tokenised together with the tokens before them, so ids are those that the whole text would get
(canonical): a sampled "ki" before a forced "tchen" becomes one "kitchen". Bytes whose token still depends on what
follows are left to the next sampled token.
"""

from __future__ import annotations

import re
from typing import Any, Final

import llguidance
import numpy as np

from agentkit.decoder.backend import Logits, Mask
from agentkit.decoder.tokenizer import Tokenizer
from agentkit.errors import GrammarError

_STRING: Final = re.compile(r'"(?:\\.|[^"\\\n])*"')
_UNBOUNDED_SPACE: Final = re.compile(
    r"""%ignore|\\s\s*[*+]|\\s\{\d+,\}|\[(?:\ |\\[tnrfvs])+\][*+]|/[^/\n]*\ [*+]|"\ "\s*[*+]""", re.VERBOSE
)
_MAX_LEXER_STATES: Final = 50_000  # about 1.5 kB each
_MAX_GRAMMAR_SIZE: Final = 500_000  # symbols
_MAX_SOURCE: Final = 1_000_000  # characters; a home of 500 devices and 40 tools takes about 50,000
_MAX_MESSAGE: Final = 300


class Grammar:
    """A compiled grammar; immutable, so threads may share it."""

    def __init__(self, ll_matcher: Any, tokenizer: Tokenizer):
        """Use `compile` instead."""
        self._ll, self._tokenizer = ll_matcher, tokenizer

    @classmethod
    def compile(cls, lark: str, tokenizer: Tokenizer) -> Grammar:
        """Compile a Lark grammar whose root is `start`.

        Raises GrammarError if it does not compile, is too large, matches nothing or allows endless white space.
        """
        if len(lark) > _MAX_SOURCE:
            raise GrammarError(
                f"grammar has {len(lark)} characters, at most {_MAX_SOURCE} compile; offer fewer devices"
            )
        if space := _UNBOUNDED_SPACE.search(_STRING.sub(_blank_string, lark)):
            raise GrammarError(
                f'grammar allows endless white space ({space[0]!r}); write the spaces out, as " " or " "?'
            )
        limits = llguidance.LLParserLimits(max_lexer_states=_MAX_LEXER_STATES, max_grammar_size=_MAX_GRAMMAR_SIZE)
        source = llguidance.LLMatcher.grammar_from_lark(lark)
        ll_matcher = llguidance.LLMatcher(tokenizer.for_grammars, source, log_level=0, limits=limits)
        _check(ll_matcher, "grammar does not compile")
        grammar = cls(ll_matcher, tokenizer)
        bits = np.frombuffer(ll_matcher.compute_bitmask(), np.uint8)
        _check(ll_matcher, "grammar cannot be started")
        if not bits.any():
            raise GrammarError("grammar matches no text at all; check its rules for endless recursion")
        return grammar

    def start(self) -> Matcher:
        """Begin one answer."""
        return Matcher(self._ll.deep_copy(), self._tokenizer)


class Matcher:
    """One answer's way through the grammar; belongs to one thread."""

    def __init__(self, ll_matcher: Any, tokenizer: Tokenizer):
        self._ll, self._tokenizer = ll_matcher, tokenizer
        self._bits = np.zeros((tokenizer.vocab_size + 31) // 32, np.int32)  # [ceil(vocab_size / 32)] i32
        self.ids: list[int] = []
        """Everything consumed so far."""

    @property
    def is_finished(self) -> bool:
        """True if nothing but the end can follow."""
        return bool(self._ll.is_stopped())

    def mask(self, logits: Logits) -> None:
        """Set logits [vocab_size] of every token that the grammar does not allow next to -inf, in place."""
        self._ll.unsafe_compute_mask_ptr(self._bits.ctypes.data, self._bits.nbytes)
        _check(self._ll, "grammar fails to compute a mask")
        n_known = min(len(logits), self._tokenizer.vocab_size)
        allowed = np.unpackbits(self._bits.view(np.uint8), count=n_known, bitorder="little")  # [n_known] u8
        np.copyto(logits[:n_known], -np.inf, where=allowed == 0)
        logits[n_known:] = -np.inf

    def write_mask(self, into: Mask) -> None:
        """Set the bits of what the grammar allows next; `into` may have more ids than the tokenizer."""
        self._ll.unsafe_compute_mask_ptr(self._bits.ctypes.data, self._bits.nbytes)
        _check(self._ll, "grammar fails to compute a mask")
        n_words = min(len(into), len(self._bits))
        into[:n_words] = self._bits[:n_words]
        into[n_words:] = 0

    def consume(self, token_id: int) -> None:
        """Take one token that the mask allowed. Raises GrammarError if it did not."""
        if not self._ll.consume_token(token_id):
            raise GrammarError(f"token {token_id} is not allowed here: {_message(self._ll)}")
        self.ids.append(token_id)

    def forced(self) -> list[int]:
        """Return the tokens that must come next, without consuming them; often none."""
        kept, ids = self._settled()
        return ids[len(self.ids) :] if kept == len(self.ids) else []

    def settle(self) -> int:
        """Consume the forced run and return how many of the earlier ids stayed as they were.

        That is all of them, unless the forced bytes merge with the tokens before them.
        """
        n_kept, ids = self._settled()
        if len(self.ids) > n_kept:
            self._ll.rollback(len(self.ids) - n_kept)
        self._ll.consume_tokens(ids[n_kept:])
        _check(self._ll, "grammar refuses its own forced tokens")
        self.ids = ids
        return n_kept

    def _settled(self) -> tuple[int, list[int]]:
        """Return how many ids stay, and all ids with the forced run behind them."""
        forced = self._ll.compute_ff_bytes()
        if not forced:
            return len(self.ids), list(self.ids)
        first = 1 + max((i for i, id_ in enumerate(self.ids) if self._tokenizer.is_special(id_)), default=-1)
        known = b"".join(self._tokenizer.token_bytes(id_) for id_ in self.ids[first:])
        certain, open_bytes = self._tokenizer.for_grammars.tokenize_partial(known + forced)
        for run, is_whole in ((self._tokenizer.for_grammars.tokenize_bytes(known + forced), True), (certain, False)):
            if not is_whole and len(open_bytes) >= len(forced):
                break
            ids = [*self.ids[:first], *run]
            n_kept = _n_common(self.ids, ids)
            if self._accepts(n_kept, ids[n_kept:], must_end=is_whole):
                return n_kept, ids
        return len(self.ids), self.ids + self._ll.compute_ff_tokens()

    def _accepts(self, n_kept: int, run: list[int], *, must_end: bool) -> bool:
        """Try on a copy whether the grammar takes the run after n_kept ids, and ends there if it must."""
        trial = self._ll.deep_copy()
        if len(self.ids) > n_kept and not trial.rollback(len(self.ids) - n_kept):
            return False
        if trial.validate_tokens(run) < len(run):
            return False
        return not must_end or bool(trial.consume_tokens(run) and trial.is_stopped())


class _Vocabulary:
    """A tokenizer as `llguidance.TokenizerWrapper` wants it."""

    def __init__(self, tokenizer: Tokenizer):
        self._tokenizer = tokenizer
        self.eos_token_id = tokenizer.eos_ids[0]
        self.bos_token_id = tokenizer.bos_id
        self.tokens = list(tokenizer.vocabulary.token_bytes)
        self.special_token_ids = sorted(tokenizer.vocabulary.special_ids.values())

    def __call__(self, text: bytes | str) -> list[int]:
        return self._tokenizer.encode_continuation(text.decode() if isinstance(text, bytes) else text)


def build_ll_tokenizer(tokenizer: Tokenizer) -> Any:
    """Hand the vocabulary to llguidance. Raises GrammarError if it has no end token."""
    if not tokenizer.eos_ids:
        raise GrammarError(
            "the tokenizer names no end token, so no grammar can end; fix eos_token_id in the checkpoint"
        )
    wrapper = llguidance.TokenizerWrapper(_Vocabulary(tokenizer))
    return llguidance.LLTokenizer(wrapper, eos_token=list(tokenizer.eos_ids))


def _n_common(left: list[int], right: list[int]) -> int:
    """Count equal ids at the front."""
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def _blank_string(literal: re.Match[str]) -> str:
    """Hide what a string literal says, keeping apart those that are only white space."""
    return '" "' if literal[0][1:-1].isspace() else '""'


def _message(ll_matcher: Any) -> str:
    """Return llguidance's complaint on one line."""
    return " ".join(str(ll_matcher.get_error()).split())[:_MAX_MESSAGE]


def _check(ll_matcher: Any, what: str) -> None:
    if ll_matcher.is_error():
        raise GrammarError(f"{what}: {_message(ll_matcher)}")
