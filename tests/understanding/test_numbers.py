from __future__ import annotations

import pytest

from agentkit.understanding.numbers import find_numbers


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("set it to 40 percent", [40]),
        ("21.5 degrees", [21.5]),
        ("twenty five percent", [25]),
        ("a hundred percent", [100]),
        ("two thousand seven hundred kelvin", [2700]),
        ("twenty one point five", [21.5]),
        ("one two three", []),
        ("led2 and lamp", []),
        ("二十六度", [26]),
        ("26度半", [26.5]),
        ("百分之五十", [50]),
        ("百分之百", [100]),
        ("两千七百", [2700]),
        ("二一点五度", [21.5]),
        ("nothing here", []),
    ],
)
def test_numbers_are_read_in_words_and_digits(text: str, values: list[float]) -> None:
    assert [n.value for n in find_numbers(text)] == values
