from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentkit.understanding.terms import HomeTerms, Nearness, is_one_edit

WORDS = st.text("abc", max_size=7)


def distance(left: str, right: str) -> int:
    """Edits between two words, the slow and plain way."""
    if not left or not right:
        return len(left) + len(right)
    if left[0] == right[0]:
        return distance(left[1:], right[1:])
    return 1 + min(distance(left[1:], right), distance(left, right[1:]), distance(left[1:], right[1:]))


@given(WORDS, WORDS)
def test_one_edit_is_a_distance_of_at_most_one(left: str, right: str) -> None:
    assert is_one_edit(left, right) == (distance(left, right) <= 1)


@given(st.lists(WORDS, max_size=30), WORDS)
def test_what_is_near_is_found_as_if_every_word_were_compared(words: list[str], said: str) -> None:
    near = {w for w in words if len(w) >= 4 and distance(w, said) == 1}
    assert Nearness(words).of(said) == near


def test_the_words_of_a_home_are_said_as_they_are_or_with_one_slip() -> None:
    terms = HomeTerms({"lamp": [["kitchen", "lamp"], ["fan", "2"]], "台灯": [["台灯"]]})
    assert terms.said_in("put the kitchin lamp on") >= {"kitchen", "kitchin", "lamp"}
    assert not terms.said_in("pan 12") & {"fan", "2"}  # short words and numbers have too many neighbours
    assert terms.of_device["lamp"] == {"kitchen", "lamp", "fan", "2"}
