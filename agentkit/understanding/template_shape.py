"""What templates.yaml and sentence files must look like; checked before anything is made of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from hassil.parse_expression import parse_sentence

from agentkit.errors import ConfigError
from agentkit.yaml_lines import YamlList, YamlMap, did_you_mean
from agentkit.yaml_shape import (
    FLAG,
    NUMBER,
    TEXT,
    WORD,
    WORDS,
    Anything,
    Either,
    Keys,
    ListOf,
    MapOf,
    Scalar,
    Shape,
    check_shape,
)

_TABLE = MapOf(WORDS)
_RULE = Keys(
    {
        "tool": WORD,
        "tools": MapOf(WORD),
        "types": WORDS,
        "when": WORD,
        "args": MapOf(Either((TEXT, MapOf(NUMBER)))),
        "set": MapOf(Anything()),
        "translate": MapOf(MapOf(Anything())),
        "area_argument": WORD,
        "prefer": WORDS,
        "refuse": WORD,
        "say": WORD,
        "skip": FLAG,
    }
)
_ACT = Keys(
    {
        **dict.fromkeys(("tool", "topic", "amount", "unit", "area_argument", "instead", "unless", "listed_in"), WORD),
        **dict.fromkeys(("types", "called"), WORDS),
        **dict.fromkeys(("negative", "implied", "named", "loose", "sweeping", "last"), FLAG),
        "set": MapOf(Anything()),
    },
    required=("types", "tool"),
)
VALUES = ("number", "color", "mode", "white", "grade", "choice")
_VALUE = Keys(
    {
        **dict.fromkeys(("tool", "argument", "topic", "on_tool", "choice", "listed_in", "ended"), WORD),
        **dict.fromkeys(("types", "units"), WORDS),
        **dict.fromkeys(("needs_topic", "named"), FLAG),
        **dict.fromkeys(("low", "high"), NUMBER),
        "value": Scalar(f"one of {', '.join(VALUES)}", lambda value: value in VALUES),
        "translate": MapOf(Anything()),
    },
    required=("types", "tool", "argument", "value"),
)
_SPAN = ("tool", "argument", "low", "high")
_PHRASES = Keys(
    {
        "acts": MapOf(ListOf(_ACT)),
        "further": MapOf(ListOf(_ACT)),
        "idle": MapOf(ListOf(_ACT)),
        "spans": MapOf(Keys(dict.fromkeys(_SPAN, WORD), required=_SPAN)),
        "moving": MapOf(WORDS),
        "rather": MapOf(WORD),
        "rather_states": MapOf(MapOf(WORD)),
        "values": ListOf(_VALUE),
        "opposites": ListOf(WORDS),
        "naming": WORDS,
        "readers": WORDS,
        "attributes": _TABLE,
        "asks": Keys(
            {
                "tool": WORD,
                **dict.fromkeys(("states", "attributes", "wider"), _TABLE),
                "tools": MapOf(WORD),
                "everywhere": WORDS,
            }
        ),
    }
)
_RANGE = Keys(
    {
        **dict.fromkeys(("from", "to", "step", "multiplier"), NUMBER),
        **dict.fromkeys(("type", "fractions"), WORD),
        "words": FLAG,
    },
    required=("from", "to"),
)
_LIST_ITEM = Keys({"in": WORD, "out": Anything(), "context": Anything(), "metadata": Anything()}, required=("in",))
_LIST = Keys(
    {
        "values": ListOf(Either((WORD, _LIST_ITEM))),
        "range": _RANGE,
        **dict.fromkeys(("wildcard", "metadata", "context"), Anything()),
    }
)
_EXAMPLE = Keys(dict.fromkeys(("devices", "said", "answer"), WORD), required=("devices", "said", "answer"))
TEMPLATES = Keys(
    {
        "intents": MapOf(Either((_RULE, ListOf(_RULE)))),
        "packs": _TABLE,
        "sentences": MapOf(TEXT),
        "questions": MapOf(WORD),
        "lists": MapOf(_LIST),
        "drop": WORDS,
        "phrases": _PHRASES,
        "prompt": Keys({"system": TEXT, "examples": ListOf(_EXAMPLE)}),
    }
)
KEYS = tuple(TEMPLATES.known)


def _template_error(text: Any) -> str | None:
    try:
        parse_sentence(str(text))
    except Exception as err:  # noqa: BLE001 - an edge: hassil raises whatever the broken text leads to
        return " ".join(str(err).split())
    return None


_TEMPLATE = Scalar(
    "a template such as 'turn on [the] {name}', with brackets that match",
    lambda text: isinstance(text, str) and _template_error(text) is None,
)
_DATA = Keys(
    {
        "sentences": ListOf(_TEMPLATE),
        "expansion_rules": MapOf(_TEMPLATE),
        "lists": MapOf(_LIST),
        "response": WORD,
        "slots": MapOf(Anything()),
        **dict.fromkeys(("requires_context", "excludes_context", "metadata", "required_keywords"), Anything()),
        **dict.fromkeys(("inferred_domain", "name_domains", "settings"), Anything()),
    },
    required=("sentences",),
)
SENTENCES = Keys(
    {
        "language": WORD,
        "lists": MapOf(_LIST),
        "expansion_rules": MapOf(_TEMPLATE),
        "skip_words": WORDS,
        "intents": MapOf(Keys({"data": ListOf(_DATA)}, required=("data",))),
    }
)


def check(raw: Mapping[str, Any], shape: Shape, path: str) -> None:
    """Raise ConfigError with file, line and key for what does not have the shape."""
    check_shape(raw, shape, raw.error if isinstance(raw, YamlMap) else lambda message: ConfigError(message, path=path))


def check_tools(raw: Mapping[str, Any], tools: Collection[str]) -> None:
    """Raise ConfigError for a tool that a checked templates file names and the app does not have."""
    for holder, key, name in _named_tools(raw):
        if str(name) not in tools:
            message = f"{key} names {name!r}, which is no tool of handlers.py; {did_you_mean(str(name), tools)}"
            if isinstance(holder, YamlList):
                raise holder.error(message, holder.index(name))
            raise holder.error(message, key)


def _named_tools(raw: Any, key: str = "") -> Iterator[tuple[Any, str, Any]]:
    """Every place that names a tool: what holds it, its key and the name."""
    if isinstance(raw, YamlMap):
        for name, value in raw.items():
            is_tool = key == "tools" or name in ("tool", "on_tool")
            if is_tool and isinstance(value, str):
                yield raw, name, value
            elif name not in ("set", "translate", "args", "prompt"):
                yield from _named_tools(value, name)
    elif isinstance(raw, YamlList):
        for value in raw:
            if key == "readers":
                yield raw, key, value
            else:
                yield from _named_tools(value, key)
