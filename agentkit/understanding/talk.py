"""The app's words about the conversation itself, as data: what takes back, repeats, corrects or points at something."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from agentkit.yaml_lines import describe, read_keys

Patterns = tuple[re.Pattern[str], ...]


@dataclass(frozen=True)
class Talk:
    """One language's file dialogue/LANGUAGE.yaml. Every list may be empty: the app then does without."""

    undo: tuple[str, ...] = ()
    """Whole utterances that put back what was done last."""
    again: tuple[str, ...] = ()
    """Whole utterances that do the last thing once more."""
    more: tuple[str, ...] = ()
    """Whole utterances that want more of the last relative change."""
    also: Patterns = ()
    """Frames around a place or device for which the last thing holds too; group "rest" is what they stand around."""
    others: tuple[str, ...] = ()
    """Whole utterances that mean what is like the device just spoken of ("the other one")."""
    rests: Patterns = ()
    """Commands for all but what was just spoken of ("… the other lights …"); group "rest" is what "all" stands for."""
    excludes: Patterns = ()
    """Frames around what was not meant by the last turn ("not the …"); group "rest"."""
    there: Mapping[str, str] = field(default_factory=dict)
    """Pattern that points at the room of the last turn ("in there") → how its name stands there, as {room}."""
    one_more: Mapping[str, str] = field(default_factory=dict)
    """Pattern of a command for one more like what was just spoken of → it with the word for those, as {kind}."""
    corrections: Patterns = ()
    """Frames around what was meant instead of what was just done; group "rest"."""
    asides: Patterns = ()
    """Words at the edge of a follow-up that mean nothing ("again" in "turn it off again")."""
    pronouns: Patterns = ()
    """Words that mean what was just spoken of; they become the first word of `it`."""
    it: str = ""
    """The pronoun that the words file knows."""
    many: Patterns = ()
    """Pronouns that mean several things."""
    frames: tuple[str, ...] = ()
    """Commands about "it" made of what a follow-up leaves of them: "set it to {rest}", "{rest} it"."""
    ordinals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Place in a list of options (from 1; -1 = the last) → words for it."""
    ones: tuple[str, ...] = ()
    """Words for "the one" in the answer to "which one": what stands beside them tells it."""
    everything: tuple[str, ...] = ()
    """Answers that take all options."""
    something: tuple[str, ...] = ()
    """Words that leave open what a free text is ("something")."""
    sets: tuple[str, ...] = ()
    """Verbs that want a value even if the sentence does not say which ("set the thermostat")."""
    hints: Mapping[str, str] = field(default_factory=dict)
    """Pattern of an indirect wish → the command it may stand for; never done without a yes."""
    starts: Patterns = ()
    """How a command begins whose known pieces may be proposed although the rest is not understood."""
    questions: Patterns = ()
    """Ends of a sentence that ask how things are, also without a question mark, so nothing may be done for it."""
    asked: Mapping[str, str] = field(default_factory=dict)
    """Tool → the state that a question in the words of its command asks for ("关了吗")."""
    says: Mapping[str, Patterns] = field(default_factory=dict)
    """Sentence of the app (thanks, did, said …) → whole utterances about the conversation that it answers."""
    vague: Patterns = ()
    """Wishes about this home that leave open what to do; they are asked back."""
    cancels: Patterns = ()
    """Frames around what is to be called off ("cancel …"); group "rest"."""
    just_now: tuple[str, ...] = ()
    """What may stand in such a frame, besides pronouns, for what was just planned or done."""
    retimes: Patterns = ()
    """Frames around another time for what was just planned ("make it …"); group "rest"."""
    cancel_alone: tuple[str, ...] = ()
    """Whole utterances that call off what was just done too; the other words of `cancel` only call off a plan."""
    stays: tuple[str, ...] = ()
    """Whole utterances that call off the end of what was just done for a while ("leave it on")."""
    holds: Patterns = ()
    """Whole utterances that neither answer an open question nor drop it ("wait", "are you sure")."""
    doubts: Patterns = ()
    """Whole utterances that only sound like a yes or leave it open ("yeah right", "maybe"): the question stays."""
    yes_leads: Patterns = ()
    """A yes with more behind it ("yes and …"); group "rest"."""
    missed: Patterns = ()
    """Whole utterances that ask what was due while nothing ran."""
    digits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Digit → its words, for a code that is spoken."""


_PATTERNS = (
    "also",
    "corrections",
    "asides",
    "pronouns",
    "many",
    "starts",
    "questions",
    "vague",
    "cancels",
    "retimes",
    "holds",
    "doubts",
    "yes_leads",
    "missed",
    "rests",
    "excludes",
)
_FRAMES = ("also", "corrections", "cancels", "retimes", "rests", "excludes", "yes_leads")
"""Patterns that stand around something."""
_TABLES = ("ordinals", "digits")


def read_talk(raw: Mapping[str, Any], *, path: Path | str = "dialogue") -> Talk:
    """Turn the mapping of a dialogue file into Talk. Raises ConfigError naming the key."""
    known = {f.name for f in fields(Talk)}
    return Talk(**read_keys(raw, known, _read, path))


def _read(key: str, value: Any) -> Any:
    """Read the value of one key. Raises ValueError saying what is wrong with it."""
    if key == "it":
        return _of(str, "text", key, value)
    if key in _TABLES:
        return {_number(key, k): _texts(f"{key}.{k}", v) for k, v in _of(Mapping, "a mapping", key, value).items()}
    if key == "asked":
        return {str(k): _word(f"{key}.{k}", v) for k, v in _of(Mapping, "a mapping", key, value).items()}
    if key == "says":
        table = _of(Mapping, "a mapping", key, value)
        return {str(k): tuple(_pattern(key, t) for t in _texts(f"{key}.{k}", v)) for k, v in table.items()}
    if key == "there":
        table = _of(Mapping, "a mapping", key, value)
        return {_pattern(key, str(k)).pattern: _with_slot(f"{key}.{k}", v, "room") for k, v in table.items()}
    if key == "one_more":
        table = _of(Mapping, "a mapping", key, value)
        return {_pattern(key, str(k)).pattern: _with_slot(f"{key}.{k}", v, "kind") for k, v in table.items()}
    if key == "hints":
        table = _of(Mapping, "a mapping", key, value)
        return {_pattern(key, str(k)).pattern: _word(f"{key}.{k}", v) for k, v in table.items()}
    texts = _texts(key, value)
    if key == "frames":
        return tuple(_frame(text) for text in texts)
    return tuple(_pattern(key, text) for text in texts) if key in _PATTERNS else texts


def _number(table: str, key: Any) -> str:
    if re.fullmatch(r"-?\d+", str(key)) is None:
        raise ValueError(f'{table}: the key is {key!r}, wanted a whole number in quotes, for example "1"')
    return str(key)


def _word(key: str, value: Any) -> str:
    """Text as written: YAML may read on and off as booleans."""
    if not isinstance(value, str | int | float) or not str(value).strip():
        raise ValueError(f"{key} is {describe(value)}, wanted a word")
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def _texts(key: str, value: Any) -> tuple[str, ...]:
    return tuple(_word(f"{key}[{index}]", x) for index, x in enumerate(_of(list, "a list", key, value)))


def _of(kind: Any, name: str, key: str, value: Any) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{key} is {describe(value)}, wanted {name}")
    return value


def _with_slot(key: str, value: Any, slot: str) -> str:
    text = _word(key, value)
    if text.count(f"{{{slot}}}") != 1 or text.count("{") + text.count("}") != 2:
        raise ValueError(f"{key}: {text!r}, wanted {{{slot}}} once in it")
    return text


def _frame(text: str) -> str:
    if text.count("{rest}") != 1 or text.count("{") + text.count("}") != 2:
        raise ValueError(f'frames: {text!r}, wanted {{rest}} once in it, for example "set it to {{rest}}"')
    return text


def _pattern(key: str, text: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(text, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as err:
        raise ValueError(f"{key}: {text!r} is no regular expression: {err}") from err
    if key in _FRAMES and "rest" not in pattern.groupindex:
        raise ValueError(f"{key}: {text!r} lacks the group (?P<rest>…) around what is meant; add it")
    return pattern
