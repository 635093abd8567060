"""A text to measure perplexity on."""

from __future__ import annotations

from pathlib import Path

from agentkit.errors import AgentKitError

_CHAPTERS = ("assignment", "booleans", "bltin-null-object", "break", "calls", "class", "context-managers", "try")


def prose(path: Path | None = None) -> str:
    """Read a text; without a path, chapters of the language reference that comes with Python.

    Raises AgentKitError if the file cannot be read or the reference is not installed.
    """
    if path is None:
        try:
            from pydoc_data.topics import topics
        except ImportError as err:
            raise AgentKitError("this Python has no pydoc_data.topics; name a text with --text FILE") from err
        return "\n".join(topics[name] for name in _CHAPTERS if name in topics)
    try:
        return path.read_text("utf-8")
    except (OSError, ValueError) as err:
        raise AgentKitError(f"{path}: cannot be read as text ({err}); name a UTF-8 file") from err
