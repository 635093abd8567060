"""Data as devices report it: plain JSON of bounded size, which nobody can change once it is in the registry."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NoReturn

MAX_DEPTH = 20
"""Lists and mappings inside each other."""
MAX_VALUES = 4_000
MAX_TEXT = 16_384
MAX_STATE = 255
MAX_NUMBER = 2**64

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_CONTROL_IN_LINES = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def _refuse(*_: Any, **__: Any) -> NoReturn:
    raise TypeError("attributes of a device are read-only; return a Change, or copy them with dict() or list() first")


class FixedDict(dict[str, Any]):
    """A dict that stays as it was made; copies of it can be changed."""

    __setitem__: Any = _refuse
    __delitem__: Any = _refuse
    __ior__: Any = _refuse
    clear: Any = _refuse
    pop: Any = _refuse
    popitem: Any = _refuse
    setdefault: Any = _refuse
    update: Any = _refuse

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


class FixedList(list[Any]):
    """A list that stays as it was made; copies of it can be changed."""

    __setitem__: Any = _refuse
    __delitem__: Any = _refuse
    __iadd__: Any = _refuse
    __imul__: Any = _refuse
    append: Any = _refuse
    clear: Any = _refuse
    extend: Any = _refuse
    insert: Any = _refuse
    pop: Any = _refuse
    remove: Any = _refuse
    reverse: Any = _refuse
    sort: Any = _refuse

    def __reduce__(self) -> Any:
        return list, (list(self),)


def fixed(value: Any) -> Any:
    """Copy JSON data into what nobody can change. Raises ValueError saying what is wrong with it."""
    return _fixed(value, 0, [MAX_VALUES])


def fixed_report(state: Any, attributes: Any) -> tuple[str | None, FixedDict]:
    """Copy a state and attributes into what nobody can change. Raises ValueError saying what is wrong with them."""
    what = "state"
    try:
        text = None if state is None else check_line(state, MAX_STATE)
        what = "attributes"
        table = fixed(attributes)
        if isinstance(table, FixedDict):
            return text, table
        raise ValueError(f"{type(attributes).__name__}, wanted a mapping")
    except ValueError as err:
        raise ValueError(f"{what}: {err}") from err


def check_line(text: Any, max_chars: int) -> str:
    """Return text as a plain str if it is one printable line. Raises ValueError saying what is wrong with it."""
    if not isinstance(text, str):
        raise ValueError(f"{type(text).__name__}, wanted text")
    if len(text) > max_chars:
        raise ValueError(f"{len(text)} characters, at most {max_chars} are kept")
    return _text(text, _CONTROL)


def _fixed(value: Any, depth: int, left: list[int]) -> Any:
    left[0] -= 1
    if left[0] < 0:
        raise ValueError(f"more than {MAX_VALUES} values; report less")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, _CONTROL_IN_LINES)
    if isinstance(value, int | float):
        return _number(value)
    if depth >= MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH}; report them flatter")
    if isinstance(value, Mapping):
        return FixedDict({check_line(k, MAX_TEXT): _fixed(v, depth + 1, left) for k, v in value.items()})
    if isinstance(value, list | tuple):
        return FixedList([_fixed(v, depth + 1, left) for v in value])
    raise ValueError(f"a {type(value).__name__}, wanted plain JSON data")


def _text(text: str, control: re.Pattern[str]) -> str:
    text = str.__str__(text)  # of a subclass, the text that it really holds
    if len(text) > MAX_TEXT:
        raise ValueError(f"a text of {len(text)} characters, at most {MAX_TEXT} are kept")
    if found := control.search(text):
        raise ValueError(f"the control character U+{ord(found[0]):04X}, wanted plain text")
    return text


def _number(value: int | float) -> int | float:
    if isinstance(value, int):
        if abs(value := int.__int__(value)) > MAX_NUMBER:
            raise ValueError("a whole number of more than 64 bits, wanted a smaller one")
        return value
    if not math.isfinite(value := float.__float__(value)):
        raise ValueError("a number that is not finite, which plain JSON does not know")
    return value
