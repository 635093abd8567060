"""One turn while it runs, and how it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from agentkit.types import ActionResult, Call, Kind, Outcome, Status, Understanding, Utterance
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised, detect_language
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

PREFIX: Mapping[Kind, str] = {Kind.ASK: "ask", Kind.REFUSE: "refused", Kind.SAY: "say", Kind.NONE: "refused"}
OUTCOME: Mapping[Kind, Outcome] = {
    Kind.ASK: Outcome.ASK,
    Kind.REFUSE: Outcome.REFUSED,
    Kind.SAY: Outcome.ANSWER,
    Kind.NONE: Outcome.NONE,
}


@dataclass(frozen=True)
class Sentence:
    """A sentence of the app with the values it may use."""

    key: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class End:
    """How a turn ended; the reply is made of nothing else."""

    outcome: Outcome
    sentences: tuple[Sentence, ...] = ()
    """Said after what the results say."""
    results: tuple[ActionResult, ...] = ()
    """Said and listed."""
    failures: tuple[ActionResult, ...] = ()
    """Listed only: `sentences` say them."""
    expects_reply: bool = False


@dataclass
class Turn:
    """What is known so far. Lives as long as the turn and in one thread."""

    utterance: Utterance
    view: HomeView
    text: Normalised
    language: str
    """Of the reply: as spoken, or as the question that is being answered."""
    understanding: Understanding | None = None
    path: str = "none"
    why: list[str] = field(default_factory=list)
    calls: tuple[Call, ...] = ()
    timings_ms: dict[str, float] = field(default_factory=dict)
    is_wanted: Callable[[], bool] = lambda: True
    """Whether somebody still waits for it."""

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Add the time of a block to a step."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.timings_ms[step] = self.timings_ms.get(step, 0.0) + (time.perf_counter() - start) * 1000


def choose_language(utterance: Utterance, words: Mapping[str, Words]) -> str:
    """The language asked for, else the one of the text, else the app's first."""
    asked = (utterance.language or "").replace("_", "-").split("-")[0].lower()
    return next(x for x in (asked, detect_language(utterance.text), *words) if x in words)


def end_of(understanding: Understanding) -> End:
    """The end of a turn that calls nothing."""
    kind, key = understanding.kind, understanding.reply_key or "not_understood"
    sentence = Sentence(key if "." in key else f"{PREFIX[kind]}.{key}", understanding.reply_values)
    return End(OUTCOME[kind], (sentence,), expects_reply=kind is Kind.ASK)


def outcome_of(results: Sequence[ActionResult], failures: Sequence[ActionResult], tools: Mapping[str, Tool]) -> Outcome:
    """Sum up: done only if everything was done, failed only if nothing was or may have been."""
    statuses = {r.status for r in (*results, *failures)}
    if statuses == {Status.DONE}:
        is_answer = all(tools[r.action.tool].is_query for r in results)
        return Outcome.ANSWER if is_answer else Outcome.DONE
    return Outcome.PARTIAL if statuses & {Status.DONE, Status.UNKNOWN} else Outcome.FAILED
