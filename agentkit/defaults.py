"""Language data of the framework itself; it lies under what an app says, so that an app brings only its own words.

A mapping of the app is laid over the framework's key by key. A list of the app replaces the framework's, unless it
holds the word `default`, which stands for the framework's items: `time: [default, teatime]` adds to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentkit.yaml_lines import YamlMap, load_mapping

HERE = Path(__file__).parent
WORDS = HERE / "understanding" / "words"
REPLIES = HERE / "agent" / "replies"
DEFAULT = "default"


def words_over_defaults(own: Mapping[str, Any], language: str) -> Mapping[str, Any]:
    """Lay an app's words over the framework's guards, frames of politeness and small words."""
    return _over(own, WORDS / f"{language}.yaml")


def replies_over_defaults(own: Mapping[str, Any], language: str) -> Mapping[str, Any]:
    """Lay an app's replies over the framework's grammar, questions, refusals and failures."""
    return _over(own, REPLIES / f"{language}.yaml")


def lay(own: Any, base: Any) -> Any:
    """Lay a value over another as the module says."""
    if own is None:
        return base
    if isinstance(own, Mapping) and isinstance(base, Mapping):
        return _filled({**base, **{key: lay(value, base.get(key)) for key, value in own.items()}}, own)
    if isinstance(own, list) and isinstance(base, list) and DEFAULT in own:
        at = own.index(DEFAULT)
        return [*own[:at], *base, *own[at + 1 :]]
    return own


def _filled(values: Mapping[str, Any], own: Mapping[str, Any]) -> Mapping[str, Any]:
    """Keep the lines of the app's file, which complaints name."""
    if not isinstance(own, YamlMap):
        return values
    laid = YamlMap(own.path, own.line)
    laid.update(values)
    laid.key_lines.update(own.key_lines)
    return laid


def _over(own: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """Without data of the framework in that language, the app's stay alone."""
    laid: Mapping[str, Any] = lay(own, load_mapping(path)) if path.is_file() else own
    return laid
