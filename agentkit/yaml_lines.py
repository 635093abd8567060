"""Reads YAML into plain values that remember their file and line, so that every complaint can name them.

Scalars follow YAML 1.2: only `true` and `false` are booleans (`on`, `off`, `yes`, `no` stay words, as homes and word
lists mean them); times such as `12:30`, numbers with a leading zero such as the PIN `0042` and numbers that are too
long to be amounts stay text. Duplicate keys, custom tags, self-containing anchors and floods of aliases are errors.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast, overload

import yaml

from agentkit.errors import ConfigError
from agentkit.yaml_nodes import check_size

T = TypeVar("T")
REQUIRED: Any = object()
"""Default of `take`: the key must be there."""

_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_STANDARD_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "map", "seq")}
_NULLS = {"", "~", "null", "Null", "NULL"}
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
MAX_DIGITS = 18
_KIND_WORDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a mapping",
    list: "a list",
}


class YamlMap(dict[str, Any]):
    """A mapping that knows its file, its line and the line of each key."""

    def __init__(self, path: Path, line: int) -> None:
        super().__init__()
        self.path, self.line = path, line
        self.key_lines: dict[str, int] = {}

    def line_of(self, key: str | None = None) -> int:
        """Line of that key; the mapping's own line if the key is absent."""
        return self.key_lines.get(key, self.line) if key is not None else self.line

    def error(self, message: str, key: str | None = None) -> ConfigError:
        """Make the ConfigError that points at the key (or at the mapping), ready to raise."""
        return ConfigError(message, path=self.path, line=self.line_of(key), key=key)


class YamlList(list[Any]):
    """A list that knows its file, its line and the line of each item."""

    def __init__(self, path: Path, line: int) -> None:
        super().__init__()
        self.path, self.line = path, line
        self.item_lines: list[int] = []

    def line_of(self, index: int) -> int:
        """Line of that item."""
        return self.item_lines[index]

    def error(self, message: str, index: int | None = None) -> ConfigError:
        """Make the ConfigError that points at the item (or at the list), ready to raise."""
        line = self.line if index is None else self.line_of(index)
        return ConfigError(message, path=self.path, line=line)


def load_yaml(path: Path) -> Any:
    """Read a file into YamlMap, YamlList and scalars. Raises ConfigError with the line where reading stopped."""
    try:
        data = path.read_bytes()
    except FileNotFoundError as err:
        raise ConfigError("no such file; check the path", path=path) from err
    except (OSError, ValueError) as err:  # ValueError: no path may hold a zero byte
        reason = getattr(err, "strerror", None) or err
        raise ConfigError(f"cannot be read ({reason}); give a file", path=path) from err
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as err:
        line = data.count(b"\n", 0, err.start) + 1
        message = f"byte 0x{data[err.start]:02x} is not UTF-8; save the file as UTF-8"
        raise ConfigError(message, path=path, line=line) from err
    return parse_yaml(text, path)


def load_mapping(path: Path) -> YamlMap:
    """Read a file whose top level must be a mapping. Raises ConfigError."""
    value = load_yaml(path)
    if not isinstance(value, YamlMap):
        raise ConfigError(f"the file holds {describe(value)}, wanted key: value lines", path=path, line=1)
    return value


def parse_yaml(text: str, path: Path) -> Any:
    """Parse text as if it stood in `path`. Raises ConfigError."""
    try:
        root = yaml.compose(text, Loader=_LOADER)
        if root is None:
            return None
        check_size(root, path)
        return _build(root, path, {})
    except yaml.MarkedYAMLError as err:
        mark = err.problem_mark or err.context_mark
        message = f"broken YAML: {err.problem or err.context}; check indentation, colons and quotes here"
        raise ConfigError(message, path=path, line=mark.line + 1 if mark else None) from err
    except yaml.reader.ReaderError as err:
        line = text.count("\n", 0, err.position) + 1 if isinstance(err.position, int) else None
        raise ConfigError(f"broken YAML: {err.reason}; remove the character", path=path, line=line) from err
    except UnicodeEncodeError as err:
        raise ConfigError("broken YAML: half a character; save it as UTF-8", path=path) from err
    except RecursionError as err:
        raise ConfigError("broken YAML: nested too deeply; flatten it", path=path) from err


def check_keys(mapping: YamlMap, allowed: Collection[str], *, required: Iterable[str] = (), what: str = "") -> None:
    """Raise ConfigError for the first key that is not allowed (naming the nearest one) or is missing."""
    place = f" in {what}" if what else ""
    for key in mapping:
        if key not in allowed:
            raise mapping.error(f"unknown key {key!r}{place}; {did_you_mean(key, allowed)}", key)
    for key in required:
        if key not in mapping:
            raise mapping.error(f"missing key {key!r}{place}; add it", key)


def read_keys(
    raw: Mapping[str, Any], known: Collection[str], read: Callable[[str, Any], Any], path: Path | str
) -> dict[str, Any]:
    """Read the value of every key. Raises ConfigError, also for what `read` says with a ValueError, with its line."""
    values: dict[str, Any] = {}
    for key, value in raw.items():
        line = raw.line_of(key) if isinstance(raw, YamlMap) else None
        if key not in known:
            raise ConfigError(f"unknown key {key!r}; {did_you_mean(key, known)}", path=path, line=line, key=key)
        try:
            values[key] = read(key, value)
        except ValueError as err:
            raise ConfigError(str(err), path=path, line=line, key=key) from err
    return values


def did_you_mean(word: str, known: Collection[str]) -> str:
    """Say which known word is nearest, or list them if none is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known)) or 'none'}"


@overload
def take(mapping: YamlMap, key: str, kind: type[T]) -> T: ...
@overload
def take(mapping: YamlMap, key: str, kind: type[T], default: None) -> T | None: ...
@overload
def take(mapping: YamlMap, key: str, kind: type[T], default: T) -> T: ...
def take(mapping: YamlMap, key: str, kind: type[Any], default: Any = REQUIRED) -> Any:
    """Return the key's value if it is of that kind (str, int, float, bool, YamlMap, YamlList). Raises ConfigError.

    An absent key gives the default; without a default it is an error. A whole number passes as float.
    """
    if key not in mapping:
        if default is REQUIRED:
            raise mapping.error(f"missing key {key!r}; add it", key)
        return default
    value = mapping[key]
    if value is None and default is None:
        return None
    if not _is_kind(value, kind):
        raise mapping.error(f"{key} is {describe(value)}, wanted {_kind_word(kind)}", key)
    return float(value) if kind is float else value


def take_list(mapping: YamlMap, key: str, kind: type[T], default: tuple[T, ...] = REQUIRED) -> tuple[T, ...]:
    """Return a list of that kind as a tuple; errors name the item's own line. Raises ConfigError."""
    if key not in mapping and default is not REQUIRED:
        return default
    items = take(mapping, key, YamlList)
    for index, item in enumerate(items):
        if not _is_kind(item, kind):
            raise items.error(f"{key}[{index}] is {describe(item)}, wanted {_kind_word(kind)}", index)
    return tuple(items)


def describe(value: Any) -> str:
    """Describe a parsed value for an error message, shortened."""
    if value is None:
        return "empty"
    for kind, word in ((dict, "a mapping"), (list, "a list")):
        if isinstance(value, kind):
            return word
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _is_kind(value: Any, kind: type[Any]) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


def _kind_word(kind: type[Any]) -> str:
    return next((word for known, word in _KIND_WORDS.items() if issubclass(kind, known)), kind.__name__)


def _build(node: yaml.Node, path: Path, done: dict[int, Any]) -> Any:
    """Turn a node into values; `done` maps id(node) so that an alias shares what its anchor built."""
    line = node.start_mark.line + 1
    if node.tag not in _STANDARD_TAGS:
        raise ConfigError(f"tag {node.tag!r} is not allowed; write a plain value", path=path, line=line)
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node)
    if id(node) in done:
        if done[id(node)] is None:
            raise ConfigError("an anchor contains itself; write the value out", path=path, line=line)
        return done[id(node)]
    done[id(node)] = None
    built = _build_map(node, path, done) if isinstance(node, yaml.MappingNode) else _build_list(node, path, done)
    done[id(node)] = built
    return built


def _build_map(node: yaml.MappingNode, path: Path, done: dict[int, Any]) -> YamlMap:
    built = YamlMap(path, node.start_mark.line + 1)
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            raise ConfigError("a key is a list or mapping, wanted a word", path=path, line=line)
        key = cast(str, key_node.value)
        if key in built:
            first = built.key_lines[key]
            raise ConfigError(
                f"duplicate key {key!r}, first on line {first}; remove one", path=path, line=line, key=key
            )
        built[key] = _build(value_node, path, done)
        built.key_lines[key] = line
    return built


def _build_list(node: yaml.Node, path: Path, done: dict[int, Any]) -> YamlList:
    built = YamlList(path, node.start_mark.line + 1)
    for item in node.value:
        built.append(_build(item, path, done))
        built.item_lines.append(item.start_mark.line + 1)
    return built


def _scalar(node: yaml.ScalarNode) -> str | int | float | bool | None:
    text = cast(str, node.value)
    if node.style:
        return text
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if _INT.fullmatch(text):
        return int(text) if len(text) <= MAX_DIGITS else text
    if _HEX.fullmatch(text):
        return int(text, 16) if len(text) <= MAX_DIGITS else text
    if _FLOAT.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text
