"""The pieces of a sentence about a timer: what it is about, acts, room and name, each taken out when it is found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from agentkit.understanding.durations import Duration, find_durations
from agentkit.understanding.guard import guard
from agentkit.understanding.hanzi import simplify
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.numbers import find_numbers, is_estimate
from agentkit.understanding.timer_words import TimerWords
from agentkit.understanding.when import Found, find_when
from agentkit.understanding.words import Words

_GAP = "\x00"
"""Stands for each character that has a meaning already."""
_MAX_NAME = 40


@dataclass
class Reading:
    """A sentence while its pieces are taken out."""

    text: str
    noun: tuple[int, int] = (0, 0)
    kind: str = ""
    durations: list[Duration] = field(default_factory=list)
    acts: set[str] = field(default_factory=set)
    first: set[str] = field(default_factory=set)
    """Acts of the first phrase: "is my alarm set" asks, "set my alarm" does not."""
    area: str | None = None
    name: str | None = None
    is_many: bool = False
    """The noun means all of its kind ("my alarms")."""
    names_anything: bool = False
    """The noun is a reminder, which is called by what it reminds of."""
    is_wake: bool = False
    """A phrase ("wake me") is the noun, which has no name of its own."""
    is_reminder: bool = False
    """What follows the noun is what to be reminded of, whatever it is: nothing of it is carried out."""
    device_name: tuple[int, int] | None = None
    """Where the name of a timer that is a device stands."""

    def take(self, start: int, end: int) -> None:
        """Blank out a piece that has its meaning."""
        self.text = self.text[:start] + _GAP * (end - start) + self.text[end:]


def plain_text(text: str) -> str:
    """Lower case and without punctuation, every character in its place."""
    lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    return (
        re.sub(r"[?!,;\"]|(?<!\d)\.|\.(?!\d)", " ", lowered)
        .replace("'s", "  ")
        .replace("'", "\u200b")
        .replace("\u200b", " ")
    )


def take_noun(reading: Reading, own: TimerWords) -> bool:
    """Find what the sentence is about; the last noun counts, a second one may follow it ("timer timer").

    What follows "remind me" is what to be reminded of, whatever nouns are in it.
    """
    remind = _pattern(own.acts.get("remind", ())).search(reading.text)
    if remind is not None and _is_noun(remind.end(), reading, own):
        remind = None
    for kind, phrases in (("plan", own.plan), ("alarm", own.alarm), ("timer", own.timer), ("alarm", own.reminder)):
        found = list(_pattern(phrases).finditer(reading.text)) if phrases else []
        if remind is not None and (phrases is own.reminder or (found and remind.start() < found[0].start())):
            break
        if found:
            reading.kind, reading.noun = kind, found[-1].span()
            if kind == "plan" and _pattern(own.timer).search(reading.text[: reading.noun[0]]):
                continue  # "schedule a timer"
            reading.is_many = found[-1].group(0) in own.many
            reading.names_anything = phrases is own.reminder
            reading.take(*reading.noun)
            return True
    wake = remind or _pattern(own.acts.get("wake", ())).search(reading.text)
    if wake is None:
        return False
    reading.kind, reading.noun, reading.is_wake, reading.is_reminder = "alarm", wake.span(), True, remind is not None
    reading.acts.add("set")
    reading.take(*wake.span())
    return True


def _is_noun(end: int, reading: Reading, own: TimerWords) -> bool:
    """Whether "remind" ends a sentence that asks for reminders or cancels one, so that it means the thing."""
    phrases = {a: own.acts.get(a, ()) for a in ("cancel", "status", "all")}
    is_last = not _without(reading.text[end:], (*own.fillers, *(p for ps in phrases.values() for p in ps))).strip()
    return is_last and any(_pattern(phrases[a]).search(reading.text) for a in ("cancel", "status"))


def take_named_device(reading: Reading, own: TimerWords, view: HomeView) -> bool:
    """A device that is a timer is named as one; its name need not hold the word."""
    names = sorted(
        (simplify(n).lower() for d in view.devices if d.type == "timer" for n in d.names), key=len, reverse=True
    )
    hit = next((h for n in names if (h := _pattern((n,)).search(reading.text))), None)
    if hit is None:
        return False
    reading.kind, reading.noun, reading.device_name = "timer", hit.span(), hit.span()
    reading.take(*hit.span())
    for noun in _pattern(own.timer).finditer(reading.text):
        reading.take(*noun.span())
    return True


def is_device(text: str, own: TimerWords, words: Words, view: HomeView) -> bool:
    """Whether the noun is the name of a device that is no timer: "smoke alarm", or "alarm" where it is switched."""
    nouns = _pattern((*own.timer, *own.alarm, *own.plan))
    names = [simplify(n).lower() for d in view.devices if d.type != "timer" for n in d.names]
    for name in (n for n in names if nouns.search(n) and _pattern((n,)).search(text)):
        if not nouns.fullmatch(name):
            return True
        phrases = [p.lower().lstrip("^").split("…") for a in ("on", "off", "toggle") for p in words.verbs.get(a, ())]
        is_switched = any(all(_pattern((c.strip(),)).search(text) for c in p if c.strip()) for p in phrases)
        has_time = bool(find_durations(text, words.time)) or find_when(text, words.time) != Found(rest=text)
        if not has_time and is_switched:
            return True
    return False


def take_area(reading: Reading, words: Words, view: HomeView) -> None:
    """A room that stands before the noun or behind "in"."""
    known = [(simplify(n).lower(), a.name) for a in view.areas for n in a.names]
    taken = {spelling for spelling, _ in known}
    rooms = [(w, w) for listed in words.rooms.values() for w in listed if not w.isascii() and w not in taken]
    for spelling, name in sorted((*known, *rooms), key=lambda row: -len(row[0])):
        if hit := _pattern((spelling,)).search(reading.text):
            reading.area = name
            reading.take(*hit.span())
            return


def take_acts(reading: Reading, own: TimerWords) -> None:
    """All acts that phrases name, the longest phrases first; "off" in the filler "go off" is none."""
    table: dict[str, set[str]] = {}
    for act, phrases in own.acts.items():
        for phrase in phrases:
            table.setdefault(phrase, set()).add(act)
    cancels = set(own.acts.get("cancel", ()))
    table = {f: set[str]() for f in own.fillers if set(f.split()[1:]) & cancels} | table
    if not table:
        return
    for hit in _pattern(tuple(table)).finditer(reading.text):
        acts = table[re.sub(r"\s+", " ", hit.group(0))]
        reading.first = reading.first or acts
        reading.acts |= acts
        reading.take(*hit.span())


def take_name(reading: Reading, original: str, words: Words) -> bool:
    """What is left is a name beside the noun, or nothing; False if it is anything else."""
    own = words.timers
    start, end = reading.noun
    if reading.is_reminder:
        reading.name = original[end:].strip(" ,.!?") or None
        for lead in ("to ", "about ", "that ", "of "):
            reading.name = reading.name.removeprefix(lead) if reading.name else None
        return not _without(reading.text[:start].replace(_GAP, " "), own.fillers).strip()
    names: list[str] = []
    for hit in re.finditer(rf"[^{_GAP}]+", reading.text):
        segment = hit.group(0)
        kept = _without(segment, own.fillers)
        if not kept.strip():
            continue
        named = _pattern(own.named).search(segment)
        is_before = hit.end() == start
        if named and (hit.start() >= end or not is_before):
            if _without(segment[: named.start()], own.fillers).strip():
                return False
            segment, offset = segment[named.end() :], hit.start() + named.end()
        elif is_before:
            n_named = named.end() if named and not segment[: named.start()].strip() else 0
            segment, offset = segment[n_named:], hit.start() + n_named
        else:
            return False
        trimmed, left = _trim(segment, own.fillers)
        if trimmed:
            names.append(original[offset + left : offset + left + len(trimmed)])
    if reading.device_name is not None:
        names.insert(0, original[slice(*reading.device_name)])
    if not names:
        return True
    reading.name = names[0]
    if len(names) > 1 or reading.device_name is not None:
        return len(names) == 1
    return not reading.is_wake and _is_name(names[0], words)


def left_over(reading: Reading, original: str, words: Words) -> str | None:
    """All words that have no meaning yet, as one name."""
    hits = (h for h in re.finditer(rf"[^{_GAP}]+", reading.text) if _without(h.group(0), words.timers.fillers).strip())
    pieces = [(h.start(), *_trim(h.group(0), words.timers.fillers)) for h in hits]
    joiner = " " if original.isascii() else ""
    return joiner.join(original[at + left : at + left + len(piece)] for at, piece, left in pieces if piece) or None


def _is_name(text: str, words: Words) -> bool:
    """Whether a timer may be called so: short, no number, no verb, nothing that forbids acting."""
    lowered = text.lower()
    verbs = set(words.timers.no_names)
    verbs |= {p.strip() for phrases in words.verbs.values() for phrase in phrases for p in phrase.lower().split("…")}
    is_short = len(text) <= _MAX_NAME and len(text.split()) <= 4
    is_counted = bool(find_numbers(lowered)) or is_estimate(lowered)
    return is_short and lowered not in verbs and not is_counted and guard(text, words) is None


def _trim(segment: str, fillers: Sequence[str]) -> tuple[str, int]:
    """Drop fillers from both ends; returns the rest and where it starts."""
    pattern, text = _pattern(fillers), segment
    left = 0
    while True:
        space = len(text) - len(text.lstrip())
        hit = pattern.match(text, space)
        if hit is None or not text.strip():
            break
        left, text = left + hit.end(), text[hit.end() :]
    space = len(text) - len(text.lstrip())
    left, text = left + space, text.strip()
    while hits := [h for h in pattern.finditer(text) if h.end() == len(text)]:
        text = text[: hits[0].start()].rstrip()
    return text, left


def _without(text: str, phrases: Sequence[str]) -> str:
    return _pattern(phrases).sub(" ", text) if phrases else text


@lru_cache(maxsize=4096)
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """Any of some phrases, the longest first: words by their boundaries, Chinese wherever it stands."""
    spelled = [_bounded(p) for p in sorted(set(phrases), key=len, reverse=True)]
    return re.compile("|".join(spelled) or "(?!)")


def _bounded(phrase: str) -> str:
    text = re.escape(phrase).replace(r"\ ", r"\s+")
    return rf"(?<![a-z0-9]){text}(?![a-z0-9])" if phrase.isascii() else text
