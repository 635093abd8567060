"""What each session was asked and is expected to answer: a confirmation, a choice, or a missing value.

An answer counts only in its session, from its user, by the same way and in time. Whatever is no answer drops the
question and is a new utterance, so nothing that was asked long ago can be set off by a stray "yes".
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from agentkit.agent.answers import choose, is_cancel, is_everything, is_free_text, ordinal, read_value, read_yes_or_no
from agentkit.agent.question import Option, Question, among
from agentkit.agent.turn import Sentence
from agentkit.planned import NO_CONSENT, Consent
from agentkit.types import Intent, Selector
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised, fold
from agentkit.understanding.tools import Param
from agentkit.understanding.words import Words
from agentkit.when import When


class Wanted(StrEnum):
    """What kind of answer is awaited."""

    YES_OR_NO = "yes_or_no"
    CHOICE = "choice"
    VALUE = "value"
    TARGET = "target"
    """Which device a pronoun means."""
    PIN = "pin"
    OPEN = "open"
    """Anything: the next sentence is understood on its own."""


@dataclass(frozen=True)
class Answered:
    """What the turn is about, from an answer or from a tier."""

    intents: tuple[Intent, ...] = ()
    is_confirmed: bool = False
    is_cancelled: bool = False
    is_unsure: bool = False
    """Understood with too little evidence to act without a yes."""
    question: tuple[int, Question] | None = None
    """The answer still leaves several options: ask again among these, about the intent of that number."""
    has_pin: bool = False
    """The code was given, which counts as a yes too."""
    n_back: int = 0
    """How many of the intents, from the first, only put back what a correction replaces."""
    notes: tuple[Sentence, ...] = ()
    """Said beside what comes of the intents."""
    why: str = ""
    when: When | None = None
    """When it is due; None = now."""
    text: str | None = None
    """The sentence that asked for it, if it was an earlier one."""
    asked: Consent = NO_CONSENT
    """What a yes or the code was given for."""
    is_further: bool = False
    """Joined to the last turn by "and", so that "them" means the devices of both."""
    then: tuple[Answered, ...] = ()
    """What else was said in the same sentence, each at a time of its own."""


@dataclass(frozen=True)
class Pending:
    """A turn that waits for an answer, whole: nothing of it has run."""

    wanted: Wanted
    intents: tuple[Intent, ...]
    language: str
    user: str | None = None
    index: int = 0
    """Which intent is unclear."""
    question: Question | None = None
    """What was asked, with CHOICE and VALUE."""
    is_unsure: bool = False
    when: When | None = None
    text: str | None = None
    """The sentence that asked for it."""
    asked: Consent = NO_CONSENT
    """What a yes or the code covers."""
    source: str = "cli"
    """Edge by which it was asked; the answer has to come the same way."""
    sentence: Sentence | None = None
    """How it was asked."""
    n_back: int = 0
    """How many of the intents only put back what a correction replaces."""

    def read(self, text: Normalised, words: Words, view: HomeView) -> Answered | None:
        """Read a text as the answer. None if it is none; when it is due is for the caller to carry over."""
        if self.wanted is Wanted.YES_OR_NO:
            answer = read_yes_or_no(text, words, known=self._known(words, view), telling=self._telling(words, view))
            if answer is None:
                return None
            return Answered(self.intents, answer, not answer, why="confirmed" if answer else "answered with no")
        if is_cancel(text, words):
            return Answered(self.intents, is_cancelled=True, why="the question was waved away")
        if self.wanted is Wanted.CHOICE:
            return self._chosen(text, words)
        return self._filled(text, words) if self.wanted is Wanted.VALUE else None

    @property
    def wants_text(self) -> bool:
        """True if what is missing is free text, so that any sentence may be the answer."""
        param = self.question.param if self.question is not None and self.wanted is Wanted.VALUE else None
        return param is not None and is_free_text(param)

    def filled_with(self, value: str | int | float, param: Param | None = None) -> Answered:
        """The intents with the missing value, or with that of another argument which does instead."""
        assert self.question is not None, self
        assert self.question.param is not None, self
        name, unclear = (param or self.question.param).name, self.intents[self.index]
        filled = replace(unclear, args={**unclear.args, name: value})
        intents = (*self.intents[: self.index], filled, *self.intents[self.index + 1 :])
        return Answered(intents, is_unsure=self.is_unsure, why=f"{name} is {value}")

    def _known(self, words: Words, view: HomeView) -> Iterator[str]:
        """Verbs and names of what was asked about, which may be repeated beside a yes."""
        for intent in self.intents:
            yield from (part for phrase in words.verbs.get(intent.tool, ()) for part in phrase.split("…"))
            for device in filter(None, map(view.device, intent.selector.device_ids)):
                area = view.area(device.area)
                yield from (*device.names, *(area.names if area else ()))

    def _telling(self, words: Words, view: HomeView) -> set[str]:
        """Words that would mean another device of the same type than those asked about."""
        ids = {i for intent in self.intents for i in intent.selector.device_ids}
        types = {device.type for i in ids if (device := view.device(i))}
        spelled: dict[bool, set[str]] = {True: set(), False: set()}
        for device in view.devices:
            if device.type in types:
                spelled[device.id in ids].update(w for name in device.names for w in fold(name, words).split())
        return spelled[False] - spelled[True]

    def _chosen(self, text: Normalised, words: Words) -> Answered | None:
        assert self.question is not None, self
        options = self.question.options
        chosen = (
            options if is_everything(text, words) else (ordinal(text, options, words) or choose(text, options, words))
        )
        if not chosen:
            return None
        if len(chosen) > 1 and len(chosen) < len(options):
            return Answered(
                self.intents,
                is_unsure=self.is_unsure,
                question=(self.index, among(self.question, chosen)),
                why="several still fit",
            )
        if len(chosen) > 1 and not is_everything(text, words):
            return None
        labels = ", ".join(option.label for option in chosen)
        return Answered(self._bound_to(chosen), is_unsure=self.is_unsure, why=f"chosen: {labels}")

    def _bound_to(self, options: tuple[Option, ...]) -> tuple[Intent, ...]:
        """The intents with the unclear one bound to the choice; names still unclear become one of their own."""
        assert self.question is not None, self
        unclear = self.intents[self.index]
        chosen = tuple(i for option in options for i in option.device_ids)
        if self.question.param is not None:  # no devices: what is chosen is an argument
            return self.filled_with(",".join(chosen)).intents
        bound = [replace(unclear, selector=Selector(device_ids=(*self.question.settled_ids, *chosen)))]
        if self.question.open_names:
            bound.append(replace(unclear, selector=replace(unclear.selector, names=self.question.open_names)))
        return (*self.intents[: self.index], *bound, *self.intents[self.index + 1 :])

    def _filled(self, text: Normalised, words: Words) -> Answered | None:
        assert self.question is not None, self
        assert self.question.param is not None, self
        for param in (self.question.param, *self.question.or_params):
            if (value := read_value(text, param, words)) is not None:
                return self.filled_with(value, param)
        return None


class Dialogue:
    """Owns the open questions, one per session, bounded in number and time."""

    def __init__(self, clock: Callable[[], float], *, ttl_s: float = 60, max_sessions: int = 256):
        self._clock, self._ttl_s, self._max_sessions = clock, ttl_s, max_sessions
        self._pending: OrderedDict[str, tuple[float, Pending]] = OrderedDict()

    def ask(self, session: str, pending: Pending) -> None:
        """Keep a question; it replaces the session's old one, and the oldest of all makes room."""
        self._pending.pop(session, None)
        self._pending[session] = (self._clock() + self._ttl_s, pending)
        while len(self._pending) > self._max_sessions:
            self._pending.popitem(last=False)

    def take(self, session: str, user: str | None, source: str = "cli") -> Pending | None:
        """Remove and return the session's question. None if there is none, it is too old, or somebody else's."""
        expires, pending = self._pending.get(session, (0.0, None))
        if pending is None or (pending.user, pending.source) != (user, source):
            return None
        del self._pending[session]
        return pending if self._clock() < expires else None

    def is_open(self, session: str) -> bool:
        """Whether the session's next utterance may be an answer."""
        return session in self._pending

    def __len__(self) -> int:
        return len(self._pending)
