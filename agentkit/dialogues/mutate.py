"""What becomes of a sentence between a mouth and the agent: lost words, wrong words, manners; seeded."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentkit.devices.adapter import Area, Device, Floor, Home
from agentkit.understanding.normalise import detect_language
from agentkit.yaml_lines import load_mapping
from agentkit.yaml_shape import TEXT, WORDS, Anything, Keys, ListOf, check_shape

NOISE = Path(__file__).parent / "noise"
_SHAPE = Keys(
    {
        "dropped": WORDS,
        "sounds_like": ListOf(WORDS),
        "polite": WORDS,
        "scope": ListOf(Keys({"before": Anything(), "put": TEXT}, required=("put",))),
    },
    required=("dropped", "sounds_like", "polite", "scope"),
)
_PIECES = re.compile(r"[A-Za-z']+|\d+(?:[.:]\d+)*|[\u3400-\u9fff]|[^\s]")
_PUNCTUATION = re.compile(r"[;!?，。、；：！？“”]|[.,:](?!\d)|(?<!\d)[.,:]")


@dataclass(frozen=True)
class Mutation:
    """A sentence as it may arrive."""

    kind: str
    text: str


class Mutator:
    """Makes mutations of sentences spoken in one home."""

    def __init__(self, home: Home, seed: int = 0):
        things: tuple[Device | Area | Floor, ...] = (*home.devices, *home.areas, *home.floors)
        names = [name for thing in things for name in thing.names]
        self._names, self._seed = tuple(name.casefold() for name in names), seed
        self._noise = {path.stem: _load(path) for path in sorted(NOISE.glob("*.yaml"))}

    def mutations(self, text: str) -> Iterator[Mutation]:
        """One of each kind that the sentence allows; the same ones for the same seed and sentence."""
        language = detect_language(text)
        noise = self._noise.get(language, self._noise["en"])
        seen = {text}
        for kind, make in _KINDS.items():
            rng = random.Random(f"{self._seed} {kind} {text}")
            choices = [t for t in dict.fromkeys(make(text, noise, self._names)) if t.strip() and t not in seen]
            if choices:
                found = rng.choice(choices)
                seen.add(found)
                yield Mutation(kind, found)


def _dropped(text: str, noise: Mapping[str, Any], names: Collection[str]) -> Iterator[str]:
    """The sentence without one of the words that get lost."""
    for word in noise["dropped"]:
        for found in _found(word, text):
            yield re.sub(r"\s+", " ", text[: found.start()] + text[found.end() :]).strip()


def _homophone(text: str, noise: Mapping[str, Any], names: Collection[str]) -> Iterator[str]:
    """The sentence with a slip within a name of the home; never a slip into the words of another name."""
    said = [name for name in names if name in text.casefold()]
    for group in noise["sounds_like"]:
        for word in group:
            if not any(word in name for name in said):
                continue
            for other in group:
                if other != word and not any(other in name for name in names):
                    yield from (text[: f.start()] + other + text[f.end() :] for f in _found(word, text))


def _bare(text: str, noise: Mapping[str, Any], names: Collection[str]) -> Iterator[str]:
    """The sentence as recognisers write it: no capitals, no punctuation."""
    yield re.sub(r"\s+", " ", _PUNCTUATION.sub(" ", text)).strip().lower()


def _doubled(text: str, noise: Mapping[str, Any], names: Collection[str]) -> Iterator[str]:
    """The sentence with a word said twice."""
    for piece in _PIECES.finditer(text):
        if piece[0][0].isalnum():
            space = " " if piece[0].isascii() else ""
            yield text[: piece.end()] + space + text[piece.start() :]


def _polite(text: str, noise: Mapping[str, Any], names: Collection[str]) -> Iterator[str]:
    """The sentence in a frame that means nothing."""
    bare = text.rstrip(".!。！ ")
    for frame in noise["polite"]:
        yield str(frame).replace("{said}", bare)


def _scope(text: str, noise: Mapping[str, Any], names: Collection[str]) -> Iterator[str]:
    """The sentence with a word that narrows it."""
    for row in noise["scope"]:
        before, put = row.get("before"), str(row["put"])
        if not before:
            yield put + text
            continue
        for found in _found(before, text):
            yield f"{text[: found.start()]}{put} {text[found.start() :]}"


_KINDS: Mapping[str, Callable[[str, Mapping[str, Any], Collection[str]], Iterator[str]]] = {
    "dropped": _dropped,
    "homophone": _homophone,
    "bare": _bare,
    "doubled": _doubled,
    "polite": _polite,
    "scope": _scope,
}
KINDS: Sequence[str] = tuple(_KINDS)


def _found(word: str, text: str) -> Iterator[re.Match[str]]:
    pattern = rf"(?<![A-Za-z]){re.escape(word)}(?![A-Za-z])" if word.isascii() else re.escape(word)
    return re.finditer(pattern, text, re.IGNORECASE)


def _load(path: Path) -> Mapping[str, Any]:
    raw = load_mapping(path)
    check_shape(raw, _SHAPE, raw.error)
    return raw
