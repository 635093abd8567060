"""Find how long something is to last and cut it out: "for ten minutes", "until ten", "from 8 to 10", "and off at 10".

What is left is the command that the end undoes. Its own time, if it has one, is left in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from agentkit.types import Intent
from agentkit.understanding.evidence import acts_of
from agentkit.understanding.phrase_map import PhraseMap
from agentkit.understanding.time_marks import Sentence, marked
from agentkit.understanding.time_words import TimeWords
from agentkit.understanding.tools import Tool
from agentkit.understanding.when import moment
from agentkit.understanding.words import Words
from agentkit.when import When

_EDGES = " ,.;:!?-"


@dataclass(frozen=True)
class Lasting:
    """What a sentence says about an end."""

    kind: str
    """hold, until, span or back: the frame that said it."""
    rest: str
    """The sentence without it; of a span, with the beginning as a plain time."""
    until: When
    back: str = ""
    """Word for what happens at the end ("off"), which must be what undoes the command."""
    clause: str | None = None
    """What stands in the same clause; None if the sentence is but one, or the end a clause of its own."""


def find_lasting(text: str, words: TimeWords) -> Lasting | None:
    """Find the one end of a sentence. None if it tells none, or several."""
    sentence = marked(text, words, is_end=True)
    if not sentence.marks or words.says("command", sentence.text):
        return None  # "set a timer for ten minutes, then …"
    seen = {text: sentence}
    for kind in ("back", "span", "until", "hold"):
        found = list(_found(kind, text, words, seen))
        if len(found) == 1:
            return found[0] if find_lasting(found[0].rest, words) is None else None
        if found:
            return None
    return None


def read_end(text: str, words: TimeWords) -> When | None:
    """Read a text that is nothing but an end. None if it is not."""
    for kind in ("until", "hold"):
        found = _in_part(kind, text, words, {})
        if found is not None and not found.rest and not found.back:
            return found.until
    return None


def is_undone_by(
    back: str, intents: Collection[Intent], tools: Mapping[str, Tool], phrases: PhraseMap, words: Words
) -> bool:
    """Whether a word for the end means what the app names as undoing every call ("off" for what was turned on)."""
    return bool(intents) and all(_means(back, tools.get(i.tool), phrases, words) for i in intents)


def _means(back: str, tool: Tool | None, phrases: PhraseMap, words: Words) -> bool:
    inverse = {(name, device_type) for device_type, name in tool.undone_by.items()} if tool is not None else set()
    acts = {act for name, device_type in inverse for act in acts_of(name, {device_type}, phrases)}
    said = [p for verb, listed in words.verbs.items() if verb.split(".")[0] in acts for p in listed]
    return any(back in (p.replace("…", " ").split() if back.isascii() else p) for p in said)


def _found(kind: str, text: str, words: TimeWords, seen: dict[str, Sentence]) -> Iterator[Lasting]:
    parts = [(0, len(text))] if kind == "back" else _parts(text, words)
    for start, end in parts:
        if (one := _in_part(kind, text[start:end], words, seen)) is not None:
            rest = " ".join(f"{text[:start]} {one.rest} {text[end:]}".split()).strip(_EDGES)
            if rest:
                clause = one.rest if len(parts) > 1 and one.rest else None
                yield replace(one, rest=_stays(rest, words), clause=clause and _stays(clause, words))


def _in_part(kind: str, text: str, words: TimeWords, seen: dict[str, Sentence]) -> Lasting | None:
    """What one frame finds in a clause; `seen` holds what was marked before."""
    whole = seen.setdefault(text, seen.get(text) or marked(text, words, is_end=True))
    for pattern in words.frames.get(kind, ()) if whole.marks else ():
        hit = pattern.search(whole.text)
        if hit is None:
            continue
        sentence = Sentence(whole.text, list(whole.marks))
        at, back = hit.start(), (hit.groupdict().get("back") or "").lower()
        marks = sentence.cut(at, hit.end())
        until = moment(marks[1:] if kind == "span" else marks)
        begins = moment(marks[:1]) if kind == "span" else None
        if until is None or (kind == "span" and begins is None):
            continue
        if begins is not None:
            sentence.text = f"{sentence.text[:at]} {_spelled(begins, until, text)} {sentence.text[at:].lstrip()}"
        return Lasting(kind, " ".join(sentence.spelled().split()).strip(_EDGES), until, back)
    return None


def _parts(text: str, words: TimeWords) -> list[tuple[int, int]]:
    """The clauses of a text by their places, with the words that begin them."""
    breaks = sorted({m.start() for p in words.frames.get("break", ()) for m in p.finditer(text)} - {0})
    return list(zip([0, *breaks], [*breaks, len(text)], strict=True))


def _stays(text: str, words: TimeWords) -> str:
    for word, patterns in words.stays.items():
        for pattern in patterns:
            text = pattern.sub(word, text)
    return " ".join(text.split())


def _spelled(begins: When, until: When, text: str) -> str:
    """The beginning of a span as a time that reads the same; "from 8 to 10 pm" begins in the evening."""
    if begins.is_half_open and begins.hour is not None and until.hour is not None and not until.is_half_open:
        evening = begins.hour % 12 + 12
        begins = replace(begins, hour=evening, is_half_open=False) if evening < until.hour else begins
    return f"at {begins.spec()}" if text.isascii() else begins.spec()
