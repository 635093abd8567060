"""Whatever the framework refuses, it has a sentence for, in every language of the app."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentkit.agent.reply import Replies
from agentkit.config import load_app

ROOT = Path(__file__).parents[2]
FRAMEWORK = ROOT / "agentkit"


@pytest.fixture(scope="module")
def replies() -> Replies:
    return Replies(load_app(ROOT / "apps" / "smart_home").replies)


def refusal_keys(source: str) -> set[str]:
    """Keys of the refusals that a module of the framework makes, as it spells them."""
    made = (
        r"Understanding\(\s*Kind\.REFUSE,\s*\(\),\s*\"([\w.]+)\"",
        r"kind=Kind\.REFUSE,.*?reply_key=\"([\w.]+)\"",
        r"(?<![\w.])_refuse\(\"([\w.]+)\"",
        r"(?:Sentence|Refusal)\(\"refused\.([\w.]+)\"",
    )
    return {key for pattern in made for key in re.findall(pattern, source)}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_refusal_that_the_framework_makes_has_a_sentence(replies: Replies, language: str) -> None:
    keys = {key for path in FRAMEWORK.rglob("*.py") for key in refusal_keys(path.read_text(encoding="utf-8"))}
    assert {"model_failed", "too_long", "part", "unknown_device", "not_yet", "pin_locked"} <= keys
    lacking = {k for k in keys if not replies.has(language, k if k.startswith("refused.") else f"refused.{k}")}
    assert not lacking
