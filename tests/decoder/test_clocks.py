"""A board without a battery jumps by decades when it hears the time: nothing that waits or gives up may look at it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WALL = {"time.time", "time.time_ns", "time.localtime", "datetime.now", "datetime.utcnow", "date.today"}


def wall_clocks(path: Path) -> list[str]:
    """Places that read the time of day."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = f"{node.value.id}.{node.attr}"
            found += [f"{path.relative_to(ROOT)}:{node.lineno} {name}"] if name in WALL else []
    return found


@pytest.mark.parametrize("folder", ["agentkit/decoder", "agentkit/server"])
def test_no_deadline_back_off_or_queue_reads_the_time_of_day(folder: str) -> None:
    paths = sorted((ROOT / folder).rglob("*.py"))
    assert paths
    assert [place for path in paths for place in wall_clocks(path)] == []


def test_the_search_finds_what_it_looks_for() -> None:
    assert wall_clocks(ROOT / "agentkit" / "compiler" / "leftovers.py")
