"""Values of a words file: phrases, tables and patterns. A ValueError says which key holds something else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agentkit.yaml_lines import describe

_ALTERNATIVES = re.compile(r"\(([^()]*\|[^()]*)\)")
_GROUPS = {"exclusions": ("but", "what is left out"), "partings": ("bye", "the farewell")}
"""Key of patterns → the group that each must have, and what it stands around."""


def amount_key(table: str, key: Any) -> str:
    """Check a key; those of some tables are amounts."""
    if table in ("levels", "whites") and not str(key).isdecimal():
        raise ValueError(f'{table}.{key}: the key is {key!r}, wanted a whole number in quotes, for example "50"')
    return str(key)


def links(found: tuple[str, ...]) -> tuple[str, ...]:
    """Check how names are turned around."""
    for text in found:
        if sorted(re.findall(r"{(.*?)}", text)) != ["head", "tail"] or text.count("{") + text.count("}") != 4:
            raise ValueError(f'links: {text!r}, wanted {{head}} and {{tail}} in it, for example "{{tail}} of {{head}}"')
    return found


def mapping(key: str, value: Any) -> Mapping[Any, Any]:
    """Check that a value is a mapping."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{key} is {describe(value)}, wanted a mapping of words")
    return value


def phrases(key: str, value: Any) -> tuple[str, ...]:
    """Read a list of phrases, each spelled out."""
    return tuple(phrase for text in texts(key, value) for phrase in spelled_out(text))


def texts(key: str, value: Any) -> tuple[str, ...]:
    """Read a list of texts as they are."""
    if not isinstance(value, list):
        raise ValueError(f"{key} is {describe(value)}, wanted a list of words")
    return tuple(word(f"{key}[{index}]", x) for index, x in enumerate(value))


def spelled_out(phrase: str) -> Iterator[str]:
    """Yield every phrase that one with alternatives in brackets stands for: "(sweep|mop) the floor"."""
    if (found := _ALTERNATIVES.search(phrase)) is None:
        yield phrase
        return
    for part in found[1].split("|"):
        yield from spelled_out(" ".join(f"{phrase[: found.start()]}{part}{phrase[found.end() :]}".split()))


def word(key: str, value: Any) -> str:
    """Read one word; a number is one too."""
    if not isinstance(value, str | int | float) or not str(value).strip():
        raise ValueError(f"{key} is {describe(value)}, wanted a word")
    return str(value)


def rewriting_pattern(key: str, pattern: Any, text: Any) -> str:
    """Check a pattern of a sentence and the text that takes its place, which may name its groups."""
    found = patterns(key, [pattern])[0]
    try:
        word(key, text).format(**dict.fromkeys(found.groupindex, ""))
    except (KeyError, IndexError, ValueError) as err:
        raise ValueError(
            f"{key}: {text!r} cannot be filled from {pattern!r} ({err}); name its groups in braces"
        ) from err
    return found.pattern


def patterns(key: str, value: Any) -> tuple[re.Pattern[str], ...]:
    """Read a list of regular expressions, upper and lower case alike."""
    found = []
    for text in texts(key, value):
        try:
            found.append(re.compile(text, re.IGNORECASE))
        except (re.error, RecursionError, OverflowError) as err:
            raise ValueError(f"{key}: {text!r} is no regular expression: {err}") from err
        group, what = _GROUPS.get(key, ("", ""))
        if group and group not in found[-1].groupindex:
            raise ValueError(f"{key}: {text!r} lacks the group (?P<{group}>…) around {what}; add it")
    return tuple(found)
