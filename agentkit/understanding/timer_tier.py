"""Sentences about timers, alarms and plans: used up by their words, lengths of time, a room and a name, or not taken."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from agentkit.types import Intent, Kind, Understanding, Value
from agentkit.understanding.durations import Duration, find_durations
from agentkit.understanding.guard import guard
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised
from agentkit.understanding.numbers import plain
from agentkit.understanding.timer_words import TimerWords
from agentkit.understanding.when import Found, find_when
from agentkit.understanding.words import Words
from agentkit.when import WhenKind

_GAP = "\x00"
"""Stands for each character that has a meaning already."""
_MAX_NAME = 40
_NOTHING = Understanding(Kind.NONE, why="not about a timer")


@dataclass
class _Reading:
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
    device_name: tuple[int, int] | None = None
    """Where the name of a timer that is a device stands."""

    def take(self, start: int, end: int) -> None:
        """Blank out a piece that has its meaning."""
        self.text = self.text[:start] + _GAP * (end - start) + self.text[end:]


def read_timer(text: Normalised, words: Words, view: HomeView) -> Understanding:
    """Understand a sentence about a timer, an alarm or the plans; kind NONE if it is about something else."""
    own = words.timers
    if not own.timer or len(text.text) > 200:
        return _NOTHING
    reading = _Reading(_plain(text.text))
    if not _take_named_device(reading, own, view) and not _take_noun(reading, own):
        return _NOTHING
    if _is_device(_plain(text.text), own, words, view):
        return _NOTHING
    if reading.kind == "alarm":
        return _read_alarm(text, reading, words, view)
    reading.durations = find_durations(reading.text, words.time)
    for duration in reading.durations:
        reading.take(duration.start, duration.end)
    if reading.kind == "timer" and reading.device_name is None:
        _take_area(reading, words, view)
    _take_acts(reading, own)
    if not _take_name(reading, text.text, words):
        return _NOTHING
    intent = _plan_intent(reading) if reading.kind == "plan" else _timer_intent(reading, text)
    return _NOTHING if intent is None else _calls(intent)


def _calls(intent: Intent) -> Understanding:
    return Understanding(Kind.CALLS, (intent,), path="template", why=f"words of time: {intent.tool}")


def _plain(text: str) -> str:
    """Lower case and without punctuation, every character in its place."""
    lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    return re.sub(r"[?!,;\"]|(?<!\d)\.|\.(?!\d)", " ", lowered).replace("'s", "  ").replace("'", "\u200b").replace(
        "\u200b", " "
    )


def _take_noun(reading: _Reading, own: TimerWords) -> bool:
    """Find what the sentence is about; the last noun counts, a second one may follow it ("timer timer")."""
    for kind, phrases in (("plan", own.plan), ("alarm", own.alarm), ("timer", own.timer)):
        found = list(_pattern(phrases).finditer(reading.text)) if phrases else []
        if found:
            reading.kind, reading.noun = kind, found[-1].span()
            if kind == "plan" and _pattern(own.timer).search(reading.text[: reading.noun[0]]):
                continue  # "schedule a timer"
            reading.take(*reading.noun)
            return True
    wake = _pattern(own.acts.get("wake", ())).search(reading.text) if own.acts.get("wake") else None
    if wake is None:
        return False
    reading.kind, reading.noun = "alarm", wake.span()
    reading.acts.add("set")
    reading.take(*wake.span())
    return True


def _take_named_device(reading: _Reading, own: TimerWords, view: HomeView) -> bool:
    """A device that is a timer is named as one; its name need not hold the word."""
    names = sorted((n.lower() for d in view.devices if d.type == "timer" for n in d.names), key=len, reverse=True)
    hit = next((h for n in names if (h := _pattern((n,)).search(reading.text))), None)
    if hit is None:
        return False
    reading.kind, reading.noun, reading.device_name = "timer", hit.span(), hit.span()
    reading.take(*hit.span())
    for noun in _pattern(own.timer).finditer(reading.text):
        reading.take(*noun.span())
    return True


def _is_device(text: str, own: TimerWords, words: Words, view: HomeView) -> bool:
    """Whether the noun is the name of a device that is no timer: "smoke alarm", or "alarm" where it is switched."""
    nouns = _pattern((*own.timer, *own.alarm, *own.plan))
    names = [n.lower() for d in view.devices if d.type != "timer" for n in d.names]
    for name in (n for n in names if nouns.search(n) and _pattern((n,)).search(text)):
        if not nouns.fullmatch(name):
            return True
        chunks = {c.strip() for a in ("on", "off", "toggle") for p in words.verbs.get(a, ()) for c in p.split("…")}
        spoken = tuple(c.lower() for c in chunks if c.strip())
        has_time = bool(find_durations(text, words.time)) or find_when(text, words.time) != Found(rest=text)
        if not has_time and _pattern(spoken).search(text):
            return True
    return False


def _take_area(reading: _Reading, words: Words, view: HomeView) -> None:
    """A room that stands before the noun or behind "in"."""
    rows = sorted(((n.lower(), a.name) for a in view.areas for n in a.names), key=lambda row: -len(row[0]))
    for spelling, name in rows:
        if hit := _pattern((spelling,)).search(reading.text):
            reading.area = name
            reading.take(*hit.span())
            return


def _take_acts(reading: _Reading, own: TimerWords) -> None:
    """All acts that phrases name, the longest phrases first."""
    table: dict[str, set[str]] = {}
    for act, phrases in own.acts.items():
        for phrase in phrases:
            table.setdefault(phrase, set()).add(act)
    if not table:
        return
    for hit in _pattern(tuple(table)).finditer(reading.text):
        acts = table[re.sub(r"\s+", " ", hit.group(0))]
        reading.first = reading.first or acts
        reading.acts |= acts
        reading.take(*hit.span())


def _take_name(reading: _Reading, original: str, words: Words) -> bool:
    """What is left is a name beside the noun, or nothing; False if it is anything else."""
    own = words.timers
    start, end = reading.noun
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
    is_short = len(names[0]) <= _MAX_NAME and len(names[0].split()) <= 4
    return len(names) == 1 and is_short and (reading.device_name is not None or guard(names[0], words) is None)


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


def _timer_intent(reading: _Reading, text: Normalised) -> Intent | None:
    args: dict[str, Value] = {}
    if reading.name:
        args["name"] = reading.name
    if reading.area:
        args["area"] = reading.area
    starts = [d for d in reading.durations if _is_attached(d, reading, text.text)]
    amounts = [d for d in reading.durations if d not in starts]
    act = _act(reading.acts, starts, amounts)
    if len(reading.durations) > (2 if act in ("add", "subtract") else 1) or act is None:
        return None
    if act in ("add", "subtract"):
        if len(amounts) != 1:
            return None
        sign = 1 if act == "add" else -1
        args["seconds"] = plain(sign * amounts[0].seconds)
    elif act == "set" and reading.durations:
        args["seconds"] = plain(reading.durations[0].seconds)
        starts = []
    if act != "set" and (starts or act not in ("add", "subtract")):
        for duration in (*starts, *(amounts if act not in ("add", "subtract") else ())):
            args["start_seconds"] = plain(duration.seconds)
    if act == "cancel" and "all" in reading.acts:
        return Intent("cancel_all_timers", {k: v for k, v in args.items() if k == "area"})
    return Intent(_TOOLS[act], args)


_TOOLS = {
    "set": "set_timer",
    "cancel": "cancel_timer",
    "pause": "pause_timer",
    "resume": "resume_timer",
    "add": "adjust_timer",
    "subtract": "adjust_timer",
    "status": "timer_status",
}


def _act(acts: set[str], starts: Sequence[Duration], amounts: Sequence[Duration]) -> str | None:
    """The one act that all words together mean."""
    if amounts and acts & {"add", "subtract"}:
        return "subtract" if "subtract" in acts and "add" not in acts else "add" if "add" in acts else None
    named = [a for a in ("cancel", "pause", "resume") if a in acts]
    if "set" in acts and not named and (starts or amounts):
        return "set"
    if "status" in acts and not named:
        return "status"
    if len(named) == 1:
        return named[0]
    if len(named) > 1:
        return "pause" if "pause" in named and "cancel" not in named else named[0]
    if "set" in acts or starts or amounts:
        return "set"
    return None


def _is_attached(duration: Duration, reading: _Reading, text: str) -> bool:
    """Whether a length belongs to the timer itself: "5 minute timer", "timer for 5 minutes"."""
    start, end = reading.noun
    if duration.end <= start:
        between = text[duration.end : start]
        if reading.name:
            between = between.replace(reading.name, "")
        return not re.sub(r"[\s\-的嘅个個]|[a-z]*\s*$" if between.isascii() else r"[\s\-的嘅个個]", "", between) and not (
            re.search(r"\b(?:to|off|from|on|of)\b", between)
        )
    return bool(re.fullmatch(r"\s*(?:for|of|with)\s+(?:the\s+|a\s+)?", text[end : duration.start].lower()))


def _plan_intent(reading: _Reading) -> Intent | None:
    if reading.durations:
        return None
    if "cancel" in reading.acts:
        args: dict[str, Value] = {"scope": "all"} if "all" in reading.acts else {}
        return Intent("cancel_schedule", args | ({"name": reading.name} if reading.name else {}))
    if "status" in reading.acts and not reading.name:
        return Intent("list_schedules")
    return None


def _read_alarm(text: Normalised, reading: _Reading, words: Words, view: HomeView) -> Understanding:
    """An alarm has a clock time; with a length of time it is a timer."""
    own = words.timers
    found = find_when(text.text, words.time)
    source = found.rest or text.text
    length = find_durations(text.text, words.time) if found.problem == "duration" else []
    acts = _Reading(reading.text)
    _take_acts(acts, own)
    is_vague = found.problem == "vague" and "status" not in acts.first
    if is_vague or found.problem not in (None, "duration", "vague"):
        return Understanding(Kind.REFUSE, (), "not_yet", {"kind": found.problem, "words": found.words}, "template")
    inner = _Reading(_plain(source))
    for duration in find_durations(inner.text, words.time) if length else ():
        inner.take(duration.start, duration.end)
    if not _take_noun(inner, own):
        return _NOTHING
    inner.acts |= reading.acts
    _take_acts(inner, own)
    if not _take_name(inner, source, words):
        return _NOTHING
    args: dict[str, Value] = {"name": inner.name} if inner.name else {}
    when = found.when
    if len(length) == 1 or (when is not None and when.kind is WhenKind.DELAY):
        seconds = length[0].seconds if length else when.seconds if when else None
        is_set = not inner.acts & {"cancel", "status"}
        return _calls(Intent("set_timer", args | {"seconds": plain(seconds or 0)})) if is_set else _NOTHING
    if when is not None and when.hour is None:
        return _NOTHING
    if when is not None:
        args["time"] = when.spec()
    if "cancel" in inner.acts:
        return _calls(Intent("cancel_alarm", args))
    is_asked = "status" in inner.acts and ("set" not in inner.acts or "set" not in inner.first)
    if is_asked or (text.is_question and not text.is_request):
        return _calls(Intent("alarm_status", args))
    if "set" in inner.acts or when is not None:
        return _calls(Intent("set_alarm", args))
    return _NOTHING

