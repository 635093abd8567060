"""Misspelled and misheard words: they point at one device, or it is asked first."""

from __future__ import annotations

import pytest

from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.repair import repair
from agentkit.understanding.selecting import select
from agentkit.understanding.sound import Mended
from agentkit.understanding.words import Words

from .conftest import Ask


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("turn off the kitchen lite", Mended("turn off the kitchen light", is_exact=True)),
        ("close the curtin", Mended("close the curtain", is_exact=False)),
    ],
)
def test_an_unknown_word_becomes_the_one_word_that_is_near(
    said: str, meant: Mended, home: HomeView, words: dict[str, Words]
) -> None:
    assert repair(said, Lexicon(home, words["en"]), words["en"]) == meant


@pytest.mark.parametrize(
    ("text", "device"), [("turn off the kitchen lite", "light.kitchen"), ("关掉厨房的等", "light.kitchen")]
)
def test_a_slip_in_the_kind_word_leaves_the_target_as_narrow(text: str, device: str, ask: Ask, home: HomeView) -> None:
    found = ask(text)
    assert [d.id for i in found.intents for d in select(i.selector, home)] == [device]
    assert not found.needs_confirmation


@pytest.mark.parametrize("text", ["turn off the lite", "turn on the lites", "打开客厅等"])
def test_a_slip_that_would_reach_several_devices_is_asked_about(text: str, ask: Ask) -> None:
    found = ask(text)
    assert found.intents
    assert found.needs_confirmation


def test_a_slip_is_no_slip_in_free_text(ask: Ask) -> None:
    assert ask("add lite beer to the shopping list").intents[0].args["item"] == "lite beer"
