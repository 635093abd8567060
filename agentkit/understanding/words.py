"""The app's words of one language, as data: what things are called, what verbs mean, what must not be overheard."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from agentkit.understanding.talk import Talk
from agentkit.understanding.time_words import TimeWords
from agentkit.understanding.timer_words import TimerWords
from agentkit.understanding.word_values import amount_key, links, mapping, patterns, phrases, rewriting_pattern, word
from agentkit.yaml_lines import describe, read_keys

Made = TypeVar("Made")
Table = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Words:
    """One language's words. Every list may be empty: an app that says nothing about a thing does not get it."""

    language: str
    kinds: Table = field(default_factory=dict)
    """Device type → words that mean any device of it."""
    rooms: Table = field(default_factory=dict)
    """Kind of room → words for it in any language: a home that knows one of them understands the others."""
    device_classes: Table = field(default_factory=dict)
    """type.class → words that mean only the devices of that class, or with such a word in their name."""
    guises: Table = field(default_factory=dict)
    """type.class → words for the whole type that do not mean a device of another class of it."""
    strict_classes: tuple[str, ...] = ()
    """type.class whose words mean no device that says to be of another class, unless it is in the speaker's room."""
    items: Table = field(default_factory=dict)
    """How a list is filled: joins (between items), hesitations (no items), leads (idle before one) and words that only
    begin like those (kept), tasks (how something to do begins) and goods (in the name of a list of things to buy)."""
    place_synonyms: Table = field(default_factory=dict)
    """Any key → words for the same sort of place, each of which may stand in a name for the others."""
    called_by_place: Table = field(default_factory=dict)
    """type.name → rooms in which the only device of that type may be called so: the lock of the entry is that of the
    front door."""
    stand_ins: Table = field(default_factory=dict)
    """Device type → types that people call so as well: a switch for the lamp that hangs on it."""
    verbs: Table = field(default_factory=dict)
    """Act, or act.topic or act.type → phrases; "…" stands for what it acts on, "^" for the start of the sentence."""
    states: Table = field(default_factory=dict)
    """Act → how things are afterwards; only a wish makes it a command ("make sure it is closed")."""
    wishes: tuple[str, ...] = ()
    """Phrases that wish for a state."""
    asks: tuple[str, ...] = ()
    """The wishes that stay commands with a question mark ("can … be locked?")."""
    copulas: tuple[str, ...] = ()
    """"is", "be": allowed only in a wish, because they report otherwise."""
    attributes: Table = field(default_factory=dict)
    """Further values that can only be asked for: humidity, battery, weather …"""
    reports: Table = field(default_factory=dict)
    """State, or class.state of a sensor → how a question says it ("is there smoke"), for `phrases.asks`."""
    questions: Table = field(default_factory=dict)
    """Kind of question (yes_no, which, how_many, value …) → words that ask so; empty = the templates read them."""
    question_fillers: tuple[str, ...] = ()
    """Words that carry no meaning of their own in a question."""
    topics: Table = field(default_factory=dict)
    """brightness, temperature, volume … → words for it."""
    units: Table = field(default_factory=dict)
    """percent, degrees, kelvin … → words after (or before) a number."""
    colors: Table = field(default_factory=dict)
    """Canonical colour → words."""
    modes: Table = field(default_factory=dict)
    """Canonical climate mode → words."""
    levels: Table = field(default_factory=dict)
    """Percentage, as text → words for it ("half", 一半)."""
    whites: Table = field(default_factory=dict)
    """Colour temperature in kelvin, as text → words for it."""
    grades: Table = field(default_factory=dict)
    """Named level of a fan → words for it."""
    choices: Mapping[str, Table] = field(default_factory=dict)
    """Kind of choice (effect, preset …) → canonical name → words for it."""
    spans: Mapping[str, str] = field(default_factory=dict)
    """Pattern of a range or of one of its ends → the same with one value in its place, with its groups in braces."""
    slightly: tuple[str, ...] = ()
    """Words that ask for a small difference."""
    somewhat: tuple[str, ...] = ()
    """Words that ask for the usual difference ("brighter by some"); an act that knows none cannot have them."""
    links: tuple[str, ...] = ()
    """How the words of a name are turned around: "{tail} in the {head}"."""
    to: tuple[str, ...] = ()
    """Words before the value that is wanted."""
    counters: tuple[str, ...] = ()
    """What stands between a number and the kind of device that it counts; in English it may be missing."""
    ordinals: tuple[str, ...] = ()
    """Words before a number that tells which, not how many."""
    minus: tuple[str, ...] = ()
    """Words before a number below zero."""
    below: tuple[str, ...] = ()
    """Words behind a number that is below zero."""
    at: tuple[str, ...] = ()
    """Words before a value that may be a time as well: the number then needs its unit."""
    origin: tuple[str, ...] = ()
    """Words before the value that something has now ("from red to green"); else they mean nothing."""
    by: tuple[str, ...] = ()
    """Words before a difference."""
    it: tuple[str, ...] = ()
    """Words for the device just spoken of in the same sentence."""
    pointers: tuple[str, ...] = ()
    """Words that point ("that one"): they mean nothing beside a name or room, and leave open which thing else."""
    also: tuple[str, ...] = ()
    """Words that join two devices or two commands."""
    prepositions: tuple[str, ...] = ()
    """Words that mean nothing before a device or place, but much elsewhere ("on the first floor", "lights on")."""
    fillers: tuple[str, ...] = ()
    """Words that carry no meaning of their own: articles, particles, prepositions."""
    adjectives: tuple[str, ...] = ()
    """Words in names that tell no thing without a word for its kind: "main" of a main valve."""
    here: tuple[str, ...] = ()
    """Words for the speaker's room."""
    everything: tuple[str, ...] = ()
    """Words that mean all of a kind."""
    whole_home: tuple[str, ...] = ()
    """Words that mean the whole home, so the speaker's room is no default."""
    asked_states: Table = field(default_factory=dict)
    """State, or type.state, or class.state → words for it in a question, for `phrases.readers`."""
    asked_classes: Table = field(default_factory=dict)
    """binary_sensor.class → words for what such sensors tell, only in questions."""
    guards: Mapping[str, tuple[re.Pattern[str], ...]] = field(default_factory=dict)
    """What must not stand in a sentence that runs at once: time, duration, condition, negation, exception, report …"""
    polite: tuple[re.Pattern[str], ...] = ()
    """Frames around a command that mean nothing ("could you please")."""
    bases: Mapping[str, str] = field(default_factory=dict)
    """Form of a verb behind a frame with the group "doing" ("would you mind closing …") → the form of commands."""
    indefinites: Mapping[str, str] = field(default_factory=dict)
    """Pattern of a command for some device of a kind ("turn on another light") → the same with a count (one light)."""
    rather: Table = field(default_factory=dict)
    """type.class → words for what its devices are for, which mean them before others of their type: music."""
    nicknames: Mapping[str, str] = field(default_factory=dict)
    """Pattern of what everybody calls a thing ("the big light") → the plain word for it, where no name here is so."""
    singles: tuple[str, ...] = ()
    """Words for one device of its kind: those called so are meant, and of several it is asked which."""
    definites: tuple[str, ...] = ()
    """Words for a kind that beside a room mean the one device there that is called so, if there is one."""
    loosely: Table = field(default_factory=dict)
    """Kind, or "" for nothing → words that mean no more than that where no name of the home holds them."""
    is_pieces_first: bool = False
    """Commands are read by their pieces before the templates are tried, which takes less time."""
    corrections: tuple[re.Pattern[str], ...] = ()
    """Words after which the speaker starts over ("no, I mean"); what stood before them does not count."""
    asides: tuple[re.Pattern[str], ...] = ()
    """What the speaker does meanwhile ("while I am away"): a command is read without it and asked about."""
    modifiers: tuple[str, ...] = ()
    """Particles that make what stands before them tell which: a verb before one commands nothing (关掉的灯)."""
    remarks: tuple[re.Pattern[str], ...] = ()
    """What may be only said and not wished ("it is dark outside"): what it would mean is asked about."""
    offers: Mapping[str, str] = field(default_factory=dict)
    """Pattern of a whole sentence that nothing understood → the command it may stand for, with its groups in braces."""
    partings: tuple[re.Pattern[str], ...] = ()
    """A farewell at the edge of a command, as group "bye"."""
    exclusions: tuple[re.Pattern[str], ...] = ()
    """What a command leaves out ("all but …"), as group "but"."""
    others: tuple[str, ...] = ()
    """Words that mean everything else, beside what was excluded."""
    past: tuple[re.Pattern[str], ...] = ()
    """Questions about how things were or since when they are so, which no state tells."""
    told: tuple[re.Pattern[str], ...] = ()
    """Clauses that tell what somebody did ("he closed it"), of the words as they were said."""
    contrary: tuple[re.Pattern[str], ...] = ()
    """Commands that say two opposite things ("close it all the way up"), of the words as they were said."""
    contrasts: tuple[str, ...] = ()
    """Words between a clause that forbids and one that commands ("but")."""
    forbids: tuple[re.Pattern[str], ...] = ()
    """A clause that forbids beside one that commands."""
    reasons: tuple[re.Pattern[str], ...] = ()
    """A clause before or behind a command that only tells why; matched as a whole."""
    apart_reasons: tuple[re.Pattern[str], ...] = ()
    """More of them, which are matched with a "," behind them where a mark sets them apart from the command."""
    no_things: Mapping[str, tuple[re.Pattern[str], ...]] = field(default_factory=dict)
    """Slot of templates → what no free text at the end of a sentence may be: nobody buys "time"."""
    slips: Table = field(default_factory=dict)
    """Word → misspellings of it that are no other words; what is read from one acts on one device or is asked about."""
    synonyms: Mapping[str, str] = field(default_factory=dict)
    """Spelling → the spelling that templates and these words use."""
    yes: tuple[str, ...] = ()
    beside_yes: tuple[str, ...] = ()
    """What may stand beside a yes: thanks, what one calls somebody."""
    with_yes: tuple[str, ...] = ()
    """Small words of a yes that names what was asked about ("yes, open it for me")."""
    hesitations: tuple[str, ...] = ()
    """Sounds before a yes, which say nothing."""
    no: tuple[str, ...] = ()
    cancel: tuple[str, ...] = ()
    """Whole utterances that call off what was asked."""
    stops: Table = field(default_factory=dict)
    """Device type, or "any" → whole utterances that stop what moves or plays, where nothing was asked."""
    time: TimeWords = field(default_factory=TimeWords)
    """How time is said; it has a file of its own."""
    timers: TimerWords = field(default_factory=TimerWords)
    """How timers, alarms and plans are spoken of; in a file of its own."""
    talk: Talk = field(default_factory=Talk)
    """Words about the conversation itself; they have a file of their own."""
    folded: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Phrases of these words in the spelling for comparison, as `fold_listed` meets them."""
    parsed: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What readers of these words have made of whole lists, by a name of their own."""

    def made(self, name: str, make: Callable[[Words], Made]) -> Made:
        """What a reader makes of whole lists, made once; `name` is its own."""
        if name not in self.parsed:
            self.parsed[name] = make(self)
        made: Made = self.parsed[name]
        return made


_PATTERNS = frozenset(f.name for f in fields(Words) if f.type == "tuple[re.Pattern[str], ...]")
_TABLES = frozenset(f.name for f in fields(Words) if f.type == "Table")


def read_words(raw: Mapping[str, Any], *, language: str, path: Path | str = "words") -> Words:
    """Turn the mapping of a words file into Words. Raises ConfigError naming the key."""
    known = {f.name for f in fields(Words)} - {"language", "talk", "time", "timers", "folded", "parsed"}
    return Words(language=language, **read_keys(raw, known, _read, path))


def _read(key: str, value: Any) -> Any:
    """Read the value of one key. Raises ValueError saying what is wrong with it."""
    if key == "is_pieces_first":
        if not isinstance(value, bool):
            raise ValueError(f"{key} is {describe(value)}, wanted true or false")
        return value
    if key in ("guards", "no_things"):
        return {str(k): patterns(f"{key}.{k}", v) for k, v in mapping(key, value).items()}
    if key in ("offers", "spans"):
        return {rewriting_pattern(key, k, v): str(v) for k, v in mapping(key, value).items()}
    if key == "choices":
        return {
            str(kind): {str(k): phrases(f"{key}.{kind}.{k}", v) for k, v in mapping(f"{key}.{kind}", table).items()}
            for kind, table in mapping(key, value).items()
        }
    if key in _PATTERNS:
        return patterns(key, value)
    if key in _TABLES:
        return {amount_key(key, k): phrases(f"{key}.{k}", v) for k, v in mapping(key, value).items()}
    if key in ("indefinites", "nicknames"):
        table = mapping(key, value)
        return {p.pattern: word(key, v) for p, v in zip(patterns(key, list(table)), table.values(), strict=True)}
    if key in ("synonyms", "bases"):
        return {str(k): word(f"{key}.{k}", v) for k, v in mapping(key, value).items()}
    return links(phrases(key, value)) if key == "links" else phrases(key, value)
