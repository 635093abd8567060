"""The shape that a part of a YAML file must have, as data, so that one function can say what is wrong and where."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from agentkit.errors import ConfigError
from agentkit.yaml_lines import YamlList, YamlMap, describe, did_you_mean

Fail = Callable[[str], ConfigError]


@dataclass(frozen=True)
class Scalar:
    """A word, number, true or false; with `wanted` only what `fits`."""

    wanted: str = "a word"
    fits: Callable[[Any], bool] = lambda value: value != ""


@dataclass(frozen=True)
class ListOf:
    """A list whose items have one shape."""

    item: Shape


@dataclass(frozen=True)
class MapOf:
    """A mapping with any keys, whose values have one shape."""

    value: Shape


@dataclass(frozen=True)
class Keys:
    """A mapping of known keys; an empty list or mapping may be left empty."""

    known: Mapping[str, Shape]
    required: tuple[str, ...] = ()


@dataclass(frozen=True)
class Either:
    """Text, mapping or list: the first whose kind is that of the value decides what is checked further."""

    shapes: tuple[Shape, ...]


@dataclass(frozen=True)
class Anything:
    """Not looked at; what reads it checks it."""


Shape = Scalar | ListOf | MapOf | Keys | Either | Anything


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_pattern(value: Any) -> bool:
    try:
        re.compile(str(value))
    except (re.error, RecursionError, OverflowError):
        return False
    return True


WORD = Scalar()
TEXT = Scalar("text", _is_text)
NUMBER = Scalar("a number", _is_number)
FLAG = Scalar("true or false", lambda value: isinstance(value, bool))
WORDS = ListOf(WORD)
PATTERN = Scalar("a regular expression with matching brackets", _is_pattern)
PATTERNS = ListOf(PATTERN)


def check_shape(value: Any, shape: Shape, fail: Fail, where: str = "") -> None:
    """Raise ConfigError for the first thing that has another shape, at its own line where that is known.

    `fail` makes the error of the place that holds `value`; `where` are the keys down to it.
    """
    if isinstance(shape, Anything):
        return
    if isinstance(shape, Either):
        shape = next((s for s in shape.shapes if _has_kind(value, s)), shape.shapes[0])
    if not _has_kind(value, shape):
        raise fail(f"{where or 'the file'} is {describe(value)}, wanted {_wanted(shape)}")
    if isinstance(shape, ListOf):
        for index, item in enumerate(value):
            check_shape(item, shape.item, _at_item(value, index, fail), f"{where}[{index}]")
    if isinstance(shape, MapOf | Keys):
        _check_mapping(value, shape, fail, where)


@contextmanager
def located(data: Mapping[str, Any]) -> Iterator[None]:
    """Add to a ConfigError that names only a dotted key the line of it, or of the nearest key above it."""
    try:
        yield
    except ConfigError as err:
        if err.line is not None or err.key is None or (line := _line_of_dotted(data, err.key)) is None:
            raise
        message = str(err).removeprefix(f"{err.path}: ")
        raise ConfigError(message, path=err.path, line=line, key=err.key) from err


def _line_of_dotted(data: Any, dotted: str) -> int | None:
    line, home = None, getattr(data, "path", None)
    for key in dotted.split("."):
        if not isinstance(data, YamlMap) or data.path != home or key not in data.key_lines:
            break
        line, data = data.key_lines[key], data[key]
    return line


def _check_mapping(value: Mapping[Any, Any], shape: MapOf | Keys, fail: Fail, where: str) -> None:
    place = f" in {where}" if where else ""
    for key in value:
        at = _at_key(value, key, fail)
        if isinstance(shape, Keys) and key not in shape.known:
            raise at(f"unknown key {key!r}{place}; {did_you_mean(str(key), shape.known)}")
        inner = shape.known[key] if isinstance(shape, Keys) else shape.value
        is_left_out = value[key] is None and isinstance(shape, Keys) and isinstance(inner, ListOf | MapOf | Keys)
        if not is_left_out:
            check_shape(value[key], inner, at, f"{where}.{key}".lstrip("."))
    for key in shape.required if isinstance(shape, Keys) else ():
        if value.get(key) is None:
            raise _at_key(value, key, fail)(f"missing key {key!r}{place}; add it")


def _has_kind(value: Any, shape: Shape) -> bool:
    if isinstance(shape, Scalar):
        return isinstance(value, str | int | float | bool) and shape.fits(value)
    if isinstance(shape, ListOf):
        return isinstance(value, list | tuple)
    return isinstance(value, Mapping) if isinstance(shape, MapOf | Keys) else True


def _wanted(shape: Shape) -> str:
    if isinstance(shape, Scalar):
        return shape.wanted
    if isinstance(shape, ListOf):
        return "a list"
    if isinstance(shape, Keys):
        return f"a mapping of {', '.join(sorted(shape.known))}"
    return "a mapping"


def _at_key(value: Mapping[Any, Any], key: Any, fail: Fail) -> Fail:
    return (lambda message: value.error(message, str(key))) if isinstance(value, YamlMap) else fail


def _at_item(value: Any, index: int, fail: Fail) -> Fail:
    return (lambda message: value.error(message, index)) if isinstance(value, YamlList) else fail
