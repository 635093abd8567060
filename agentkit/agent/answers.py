"""Read an answer to a question the agent asked. Strict: what is left over beside the answer makes it none."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from agentkit.agent.question import Option
from agentkit.understanding.durations import read_duration
from agentkit.understanding.normalise import Normalised, fold, fold_all, fold_listed, less_led, spell
from agentkit.understanding.numbers import find_numbers, plain
from agentkit.understanding.tools import Param
from agentkit.understanding.when import find_when
from agentkit.understanding.words import Words
from agentkit.when import WhenKind

CLOSED = ("color", "mode", "time")
"""Texts that have to be words the app knows."""
_CJK = re.compile(r"[\u3400-\u9fff]+")
_DOUBLED = re.compile(r"\b([a-z]+)(?:[, ]+\1\b)+|([\u3400-\u9fff])\2+", re.IGNORECASE)


def read_yes_or_no(
    text: Normalised, words: Words, *, known: Iterable[str] = (), telling: Collection[str] = ()
) -> bool | None:
    """Read a confirmation. `known` may be said beside it: the verb and the names of what was asked about.

    A yes is nothing but yes words and what is polite beside them; who names what was asked about may use small words
    too, without those that tell devices apart: "yes, the back one" is about another door. A no anywhere wins over a
    yes; one that asks ("yes?"), doubts or is about somebody ("it's me") is none.
    """
    known = tuple(known)
    beside = (*words.fillers, *known)
    spellings = {fold(text.text, words), fold(text.original, words)}
    whole = fold(text.original, words)
    said = _without_hesitation(whole, words)
    if {said, whole} & fold_all(words.yes, words) and not _is_open(text, words):
        return True  # "no problem" is no no
    if any(_says(s, (*words.no, *words.cancel), (*beside, words.talk.it, *words.yes), words) for s in spellings):
        return False
    return True if not _is_open(text, words) and _is_plain_yes(said, known, telling, words) else None


def _is_open(text: Normalised, words: Words) -> bool:
    return text.is_question or "?" in spell(text.original) or is_doubt(text, words)


def _is_plain_yes(said: str, known: tuple[str, ...], telling: Collection[str], words: Words) -> bool:
    if _says(said, words.yes, words.beside_yes, words):
        return True
    if not any(said.startswith(y) for y in fold_all(words.yes, words)):  # "the door is open" has a yes word in Chinese
        return False
    rest = without(said, words.yes, words)
    small = tuple(w for w in words.with_yes if w not in telling)
    told = without(without(rest, words.beside_yes, words), known, words)
    return rest != said and told != rest and not without(told, small, words)


def _without_hesitation(said: str, words: Words) -> str:
    """The text without sounds before it; those behind a yes leave it unfinished."""
    while True:
        rest = next((said[len(h) :].strip() for h in words.hesitations if said.startswith((f"{h} ", f"{h},"))), said)
        if rest == said:
            return said
        said = rest


def is_half_yes(text: Normalised, words: Words) -> bool:
    """Tell whether a yes stands beside words that mean nothing and yet make it none ("ok so", "it's me")."""
    return any(_says(fold(s, words), words.yes, words.fillers, words) for s in (text.text, text.original))


def is_doubt(text: Normalised, words: Words) -> bool:
    """Tell whether a text only sounds like a yes ("yeah, right"), or leaves it open."""
    bare = {spell(s).strip(" .,!?。，！？") for s in (text.text, text.original)}
    bare |= {r for s in bare for r in less_led(s, words) if not _has_yes(s.removesuffix(r), words)}
    bare |= {_DOUBLED.sub(r"\1\2", s) for s in bare}  # "yeah yeah, right" is no more of a yes
    return any(pattern.fullmatch(s) for s in bare for pattern in words.talk.doubts)


def _has_yes(text: str, words: Words) -> bool:
    folded = fold(text, words)
    return without(folded, words.yes, words) != folded


def is_cancel(text: Normalised, words: Words) -> bool:
    """Tell whether a question, or what was just planned, is waved away."""
    beside = (*words.fillers, words.talk.it)
    spellings = (fold(s, words) for s in (text.text, text.original))
    return any(_says(s, (*words.no, *words.cancel), beside, words) for s in spellings)


def is_everything(text: Normalised, words: Words) -> bool:
    """Tell whether all that was offered is wanted."""
    everything = (*words.everything, *words.talk.everything)
    return any(_says(fold(s, words), everything, words.fillers, words) for s in (text.text, text.original))


def ordinal(text: Normalised, options: Sequence[Option], words: Words) -> tuple[Option, ...]:
    """Find the option that an answer counts off: "the second one". Nothing if that many were not offered."""
    whole = fold(text.text, words)
    said = without(whole, words.fillers, words)
    for place, spellings in words.talk.ordinals.items():
        number = int(place)
        is_there = number <= len(options) and bool(options)
        listed = {fold_listed(w, words) for w in spellings}
        if is_there and (whole in listed or said in {without(w, words.fillers, words) or w for w in listed}):
            return (options[number - 1 if number > 0 else number],)
    return ()


def is_free_text(param: Param) -> bool:
    """Whether a missing value may be any words: an item of a list, a title."""
    return param.type is str and not param.choices and param.name not in CLOSED


def choose(text: Normalised, options: Sequence[Option], words: Words) -> tuple[Option, ...]:
    """Find the options that an answer fits: by whole name first, else by words that all belong to the option."""
    said = without(without(fold(text.text, words), words.talk.ones, words), words.fillers, words)
    if not said:
        return ()
    whole = tuple(o for o in options if said in {fold(w, words) for w in o.words})
    return whole or tuple(o for o in options if _belongs(said, o, words))


def read_value(text: Normalised, param: Param, words: Words) -> str | int | float | None:
    """Read a missing value. Free text is not read: it could as well be a new command."""
    if param.name == "seconds":
        seconds = read_duration(text.text, words.time) or _delay(text, words)
        return None if seconds is None else plain(seconds)
    if param.name == "time":
        found = find_when(text.text, words.time, is_time=True)
        is_clock = found.when is not None and found.when.hour is not None and not found.rest
        return found.when.spec() if found.when is not None and is_clock else None
    said = without(fold(text.text, words), words.fillers, words)
    if param.type in (int, float):
        return _number(said, words)
    tables = {"color": (words.colors,), "mode": (words.modes, *words.choices.values())}
    own = (words.choices.get(param.name, {}),)
    for canonical, spellings in (row for table in tables.get(param.name, own) for row in table.items()):
        is_taken = not param.choices or canonical in param.choices
        if is_taken and said in {fold(w, words) for w in (canonical, *spellings)}:
            return canonical
    return next((c for c in param.choices if said == fold(c, words)), None)


def _delay(text: Normalised, words: Words) -> float | None:
    """How long from now a time is: "in ten minutes"."""
    found = find_when(text.text, words.time)
    is_delay = found.when is not None and found.when.kind is WhenKind.DELAY and not found.rest
    return found.when.seconds if found.when is not None and is_delay else None


def _number(said: str, words: Words) -> int | float | None:
    for level, spellings in words.levels.items():
        if said in {fold(w, words) for w in spellings}:
            return plain(float(level))
    numbers = find_numbers(said)
    if len(numbers) != 1:
        return None
    beside = (said[: numbers[0].start] + said[numbers[0].end :]).split()
    is_unit = len(beside) <= 1 and all(len(w) <= (2 if _CJK.search(w) else 10) for w in beside)
    return plain(numbers[0].value) if is_unit else None


def _belongs(said: str, option: Option, words: Words) -> bool:
    """True if every part of an answer is part of the option's names, room or kind."""
    names = [fold(w, words) for w in (*option.words, *(w for t in option.types for w in words.kinds.get(t, ())))]
    rest = without(said, names, words)
    vocabulary = {token for name in names for token in name.split()}
    runs = _CJK.findall(rest)
    tokens = _CJK.sub(" ", rest).split()
    return all(any(run in name for name in names) for run in runs) and all(token in vocabulary for token in tokens)


def _says(text: str, phrases: Iterable[str], beside: Iterable[str], words: Words) -> bool:
    rest = without(text, phrases, words)
    return rest != text and not without(rest, beside, words)


def without(text: str, phrases: Iterable[str], words: Words) -> str:
    """Remove whole phrases, the longest first: words by their boundaries, Chinese wherever it stands."""
    for phrase in sorted({fold_listed(p, words) for p in phrases} - {""}, key=len, reverse=True):
        if phrase in text:
            cjk = _CJK.search(phrase)
            pattern = re.escape(phrase) if cjk else rf"(?<![a-z0-9]){re.escape(phrase)}(?![a-z0-9])"
            text = re.sub(pattern, " ", text)
    return " ".join(text.split())
