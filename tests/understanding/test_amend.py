from __future__ import annotations

import pytest

from agentkit.types import Kind
from agentkit.understanding.amend import amend
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.words import Words
from tests.understanding.conftest import Ask


@pytest.mark.parametrize(
    ("before", "after", "meant"),
    [
        ("打开卧室的灯", "书房", "打开书房的灯"),
        ("把空调调到二十二度", "二十四度", "把空调调到二十四度"),
        ("把台灯打开", "关掉", "把台灯关掉"),
        ("把灯调成红色", "蓝色", "把灯调成蓝色"),
    ],
)
def test_a_correction_takes_the_place_of_its_like(
    before: str, after: str, meant: str, home: HomeView, words: dict[str, Words]
) -> None:
    assert meant in amend(before, after, Lexicon(home, words["zh"]))


def test_a_correction_that_has_no_like_changes_nothing(home: HomeView, words: dict[str, Words]) -> None:
    assert amend("打开台灯", "二十四度", Lexicon(home, words["zh"])) == []


def test_a_command_that_is_called_off_at_its_end_does_nothing(ask: Ask) -> None:
    assert ask("打开台灯，算了").kind is Kind.SAY


def test_a_correction_that_fits_nowhere_runs_nothing(ask: Ask) -> None:
    assert ask("打开台灯，不对，二十四度").kind is not Kind.CALLS
