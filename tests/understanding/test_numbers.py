from __future__ import annotations

import pytest

from agentkit.understanding.numbers import find_numbers, in_percent


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
        ("between nineteen and twenty two", [19, 22]),
        ("two hundred and five", [205]),
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


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("调到百分之五十", "调到50%"),
        ("开七成半", "开75%"),
        ("四分之三", "75%"),
        ("百分百", "100%"),
        ("变成红色", "变成红色"),
    ],
)
def test_chinese_shares_become_percentages(said: str, meant: str) -> None:
    assert in_percent(said) == meant


@pytest.mark.parametrize(("said", "value"), [("廿六", 26), ("零下五", -5), ("两百", 200), ("二十六度半", 26.5)])
def test_chinese_numbers_are_read(said: str, value: float) -> None:
    assert find_numbers(said)[0].value == value


@pytest.mark.parametrize("said", ["两三", "三五", "七八十", "十七八", "二十五六", "三四百"])
def test_an_estimate_is_no_number(said: str) -> None:
    assert not find_numbers(said)


@pytest.mark.parametrize(("said", "value"), [("二五", 25), ("一二三", 123), ("二十三", 23), ("三十", 30)])
def test_digits_in_a_row_are_a_number(said: str, value: float) -> None:
    assert find_numbers(said)[0].value == value
