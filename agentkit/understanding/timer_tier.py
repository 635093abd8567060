"""Sentences about timers, alarms and plans: taken only if their words, times, a room and a name use them up."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentkit.types import Intent, Kind, Understanding, Value
from agentkit.understanding.durations import Duration, find_durations
from agentkit.understanding.guard import guard
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.names import kind_words
from agentkit.understanding.normalise import Normalised, fold, fold_all, fold_listed
from agentkit.understanding.numbers import plain
from agentkit.understanding.selecting import has_word
from agentkit.understanding.timer_pieces import (
    Reading,
    is_device,
    left_over,
    plain_text,
    take_acts,
    take_area,
    take_name,
    take_named_device,
    take_noun,
)
from agentkit.understanding.when import find_when
from agentkit.understanding.words import Words
from agentkit.when import When, WhenKind

_MAX_NAME = 3
"""Words in the name of a timer that is asked for by its name alone."""
_NOTHING = Understanding(Kind.NONE, why="not about a timer")


def read_timer(text: Normalised, words: Words, view: HomeView) -> Understanding:
    """Understand a sentence about a timer, an alarm or the plans; kind NONE if it is about something else."""
    own = words.timers
    if not own.timer or len(text.text) > 200:
        return _NOTHING
    if fold(text.text, words) in fold_all(own.left, words):
        return _calls(Intent("timer_status"))
    reading = Reading(plain_text(text.text))
    if not take_named_device(reading, own, view) and not take_noun(reading, own):
        name = _left_of(fold(text.text, words), words, view)
        return _calls(Intent("timer_status", {"name": name})) if name else _NOTHING
    if is_device(plain_text(text.text), own, words, view):
        return _NOTHING
    if reading.kind == "alarm":
        return _read_alarm(text, reading, words, view)
    reading.durations = find_durations(reading.text, words.time)
    for duration in reading.durations:
        amount = Reading(reading.text[duration.start : duration.end])
        take_acts(amount, own)
        reading.acts |= amount.acts & {"add"}  # "five more minutes"
        reading.take(duration.start, duration.end)
    if reading.kind == "timer" and reading.device_name is None:
        take_area(reading, words, view)
    take_acts(reading, own)
    if not take_name(reading, text.text, words):
        if reading.kind != "plan" or "cancel" not in reading.acts or guard(text.text, words) is not None:
            return _NOTHING
        reading.name = left_over(reading, text.text, words)  # whatever it is: a plan that is called off is no command
    intent = _plan_intent(reading) if reading.kind == "plan" else _timer_intent(reading, text)
    return _NOTHING if intent is None else _calls(intent)


def _left_of(folded: str, words: Words, view: HomeView) -> str:
    """The name of a timer whose time left is asked for, without the word timer: "how long is left on the pasta"."""
    own = words.timers
    for phrase in sorted((fold_listed(w, words) for w in own.left), key=len, reverse=True):
        rest = folded.removeprefix(phrase) if folded.startswith(phrase) else folded.removesuffix(phrase)
        if rest == folded:
            continue
        tokens = rest.split()
        while tokens and tokens[0] in {*own.after_noun, *words.fillers}:
            tokens = tokens[1:]
        name = " ".join(tokens)
        known = (*(fold(n, words) for d in view.devices for n in d.names), *kind_words(words))
        if name and len(tokens) <= _MAX_NAME and not any(has_word(name, k) for k in known):
            return name
    return ""


def _calls(intent: Intent) -> Understanding:
    return Understanding(Kind.CALLS, (intent,), path="template", why=f"words of time: {intent.tool}")


def _timer_intent(reading: Reading, text: Normalised) -> Intent | None:
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
    if act == "cancel" and ("all" in reading.acts or (reading.is_many and set(args) <= {"area"})):
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


def _is_attached(duration: Duration, reading: Reading, text: str) -> bool:
    """Whether a length belongs to the timer itself: "5 minute timer", "timer for 5 minutes"."""
    start, end = reading.noun
    if duration.end <= start:
        between = text[duration.end : start]
        if reading.name:
            between = between.replace(reading.name, "")
        return not re.sub(
            r"[\s\-的嘅个個]|[a-z]*\s*$" if between.isascii() else r"[\s\-的嘅个個]", "", between
        ) and not (re.search(r"\b(?:to|off|from|on|of)\b", between))
    return bool(re.fullmatch(r"\s*(?:for|of|with)\s+(?:the\s+|a\s+)?", text[end : duration.start].lower()))


def _plan_intent(reading: Reading) -> Intent | None:
    if reading.durations:
        return None
    if "cancel" in reading.acts:
        is_all = "all" in reading.acts or (reading.is_many and not reading.name)
        args: dict[str, Value] = {"scope": "all"} if is_all else {}
        return Intent("cancel_schedule", args | ({"name": reading.name} if reading.name else {}))
    if "status" in reading.acts and not reading.name:
        return Intent("list_schedules")
    return None


def _read_alarm(text: Normalised, reading: Reading, words: Words, view: HomeView) -> Understanding:
    """An alarm has a clock time; with a length of time it is a timer."""
    own = words.timers
    found = find_when(text.text, words.time)
    if found.when is None and found.problem in (None, "vague") and not reading.is_reminder:
        again = find_when(text.text, words.time, is_time=True)
        found = found if again.when is None else again
    source = found.rest or text.text
    length = find_durations(text.text, words.time) if found.problem == "duration" else []
    acts = Reading("" if reading.is_reminder else reading.text)
    take_acts(acts, own)
    is_vague = found.problem == "vague" and "status" not in acts.first
    if is_vague or found.problem not in (None, "duration", "vague"):
        return Understanding(Kind.REFUSE, (), "not_yet", {"kind": found.problem, "words": found.words}, "template")
    inner = Reading(plain_text(source))
    for duration in find_durations(inner.text, words.time) if length else ():
        inner.take(duration.start, duration.end)
    if not take_noun(inner, own):
        return _NOTHING
    inner.acts |= reading.acts
    if not inner.is_reminder:
        take_acts(inner, own)
    if not take_name(inner, source, words):
        if not inner.names_anything or "cancel" not in inner.acts or guard(text.text, words) is not None:
            return _NOTHING
        inner.name = left_over(inner, source, words)
    args: dict[str, Value] = {"name": inner.name} if inner.name else {}
    when = found.when
    if inner.is_reminder:
        return _reminder(inner.name, when, length)
    if len(length) == 1 or (when is not None and when.kind is WhenKind.DELAY):
        seconds = length[0].seconds if length else when.seconds if when else None
        is_set = not inner.acts & {"cancel", "status"}
        return _calls(Intent("set_timer", args | {"seconds": plain(seconds or 0)})) if is_set else _NOTHING
    if when is not None and when.hour is None:
        return _NOTHING
    if when is not None:
        args["time"] = when.spec()
    if "cancel" in inner.acts:
        is_all = "all" in inner.acts or (reading.is_many and not args)
        args["kind"] = "reminder" if inner.names_anything else "alarm"
        return _calls(Intent("cancel_alarm", args | ({"scope": "all"} if is_all else {})))
    is_asked = "status" in inner.acts and ("set" not in inner.acts or "set" not in inner.first)
    if is_asked or (text.is_question and not text.is_request):
        return _calls(Intent("alarm_status", args))
    if "set" in inner.acts or when is not None:
        return _calls(Intent("set_alarm", args))
    return _NOTHING


def _reminder(message: str | None, when: When | None, length: Sequence[Duration]) -> Understanding:
    """A reminder says its words when it is due, and does nothing else."""
    args: dict[str, Value] = {"message": message} if message else {}
    if length or (when is not None and when.hour is None):
        seconds = length[0].seconds if length else when.seconds if when else None
        return _calls(Intent("reminder", args | {"seconds": plain(seconds or 0)}))
    return _calls(Intent("reminder", args | ({"time": when.spec()} if when is not None else {})))
