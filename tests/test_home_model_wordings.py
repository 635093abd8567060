"""No sentence of the evaluation data may be a wording that the home model is trained on."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from agentkit.understanding.pointer.format import clean

ROOT = Path(__file__).parents[1]
PHRASES = ROOT / "models" / "home" / "train" / "phrases"
DATA = ROOT.parent / "shared" / "data"
LONG = {"en": 5, "zh": 8}
"""Words or characters from which on a sentence is nobody's everyday phrase."""
_PART = re.compile(r"\(([^()]*)\)|\[([^\[\]]*)\]|([^()\[\]]+)")


def expansions(wording: str) -> Iterator[str]:
    """Everything that a wording without open slots can say."""
    options = [
        choice.split("|") if choice else ["", *maybe.split("|")] if maybe else [plain]
        for choice, maybe, plain in _PART.findall(wording)
    ]
    return (" ".join("".join(parts).split()) for parts in itertools.product(*options))


def whole_sentences(language: str) -> Iterator[str]:
    """The wordings that are sentences by themselves."""
    phrases = yaml.safe_load((PHRASES / f"{language}.yaml").read_text("utf-8"))
    listed = [phrases[key] for key in ("not_home", "chat", "before", "after")]
    listed += [entry["say"] for key in ("wishes", "bare") for entry in phrases[key]]
    for wording in itertools.chain.from_iterable(listed):
        if "{" not in str(wording):
            yield from expansions(str(wording))


@pytest.mark.parametrize(
    ("wording", "said"),
    [
        ("a (b|c) [d] e", ["a b e", "a b d e", "a c e", "a c d e"]),
        ("[x|y] z", ["z", "x z", "y z"]),
        ("plain", ["plain"]),
    ],
)
def test_wordings_are_expanded_in_every_way(wording: str, said: list[str]) -> None:
    assert list(expansions(wording)) == said


@pytest.mark.shared
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_long_sentence_of_the_evaluation_data_is_trained_on(language: str) -> None:
    paths = sorted(DATA.rglob("*.dev.jsonl"))
    assert paths, f"{DATA} holds no evaluation data"
    records = [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
    evaluated = {clean(record["utterance"]).strip() for record in records}

    def length(text: str) -> int:
        return len(text.split()) if language == "en" else len(text)

    trained = {t for s in whole_sentences(language) if length(t := clean(s).strip()) >= LONG[language]}
    assert trained
    assert sorted(trained & evaluated) == []
