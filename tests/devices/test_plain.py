from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from agentkit.devices.plain import MAX_DEPTH, MAX_VALUES, fixed


class Odd(str):
    """A text that cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_plain_data_stays_as_it_was() -> None:
    data = {"a": [1, 2.5, None, True], "b": {"灯": "two\nlines"}, "c": -(2**63)}
    assert fixed(data) == data
    assert json.loads(json.dumps(fixed(data))) == data


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(x=1),
        lambda d: d.__setitem__("x", 1),
        lambda d: d.pop("a"),
        lambda d: d.clear(),
        lambda d: d.setdefault("x", 1),
        lambda d: d["a"].append(3),
        lambda d: d["a"].__setitem__(0, 3),
        lambda d: d["a"].sort(),
        lambda d: d["a"].__iadd__([1]),
        lambda d: d.__ior__({"x": 1}),
        lambda d: d["b"].__delitem__("c"),
    ],
)
def test_what_is_fixed_cannot_be_changed_at_any_depth(change: Callable[[Any], Any]) -> None:
    data = fixed({"a": [2, 1], "b": {"c": 1}})
    with pytest.raises(TypeError, match="read-only"):
        change(data)
    assert data == {"a": [2, 1], "b": {"c": 1}}


def test_copies_can_be_changed() -> None:
    data = fixed({"a": [1]})
    deep, flat = copy.deepcopy(data), copy.copy(data)
    deep["a"].append(2)
    flat["b"] = 1
    assert (deep, flat, data) == ({"a": [1, 2]}, {"a": [1], "b": 1}, {"a": [1]})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"x": "\ud800"}, r"U\+D800"),
        ({"\ud800": 1}, r"U\+D800"),
        ({"x": ["a\x1bb"]}, r"U\+001B"),
        ({"a\nb": 1}, r"U\+000A"),
        ({1: 1}, "int, wanted text"),
        ({"x": 10**5000}, "64 bits"),
        ({"x": float("inf")}, "not finite"),
        ({"x": {1, 2}}, "a set, wanted plain JSON"),
        ({"x": b"1"}, "a bytes, wanted plain JSON"),
        ({"x": "y" * 20_000}, "20000 characters"),
        (nested(MAX_DEPTH + 1), "nested deeper than 20"),
        (nested(100_000), "nested deeper than 20"),
        (["x"] * (MAX_VALUES + 1), "more than 4000 values"),
    ],
)
def test_what_cannot_be_kept_or_sent_is_refused(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fixed(value)


def test_something_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(ValueError, match="nested deeper"):
        fixed(value)


def test_a_text_of_a_class_of_its_own_becomes_plain_text() -> None:
    assert [type(x) for x in fixed([Odd("on")])] == [str]
    assert fixed([Odd("on")])[0] == "on"
