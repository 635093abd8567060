"""The table of rules in docs/runtime.md: every rule has code and tests, and what it names is there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from agentkit.cli.bench_all import bench_app

ROOT = Path(__file__).parents[1]
RULES = [f"A{n}" for n in range(1, 20)] + [f"B{n}" for n in range(7, 12)] + ["C4", "C5"]
ROW = re.compile(r"^\| (?P<rule>[A-C]\d+) \|(?P<what>[^|]+)\|(?P<code>[^|]+)\|(?P<tests>[^|]+)\|(?P<bench>[^|]*)\|$")


def rows() -> dict[str, dict[str, list[str]]]:
    """Rule → what stands between backticks in its columns."""
    lines = (ROOT / "docs" / "runtime.md").read_text("utf-8").splitlines()
    found = [match for line in lines if (match := ROW.match(line))]
    return {
        match["rule"]: {column: re.findall("`([^`]+)`", match[column]) for column in ("code", "tests", "bench")}
        for match in found
    }


@cache
def functions(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def test_every_rule_has_a_row() -> None:
    assert list(rows()) == RULES


@pytest.mark.parametrize("rule", RULES)
def test_what_a_row_names_is_there(rule: str) -> None:
    row = rows()[rule]
    assert row["code"]
    assert row["tests"]
    for name in row["code"]:
        assert any((folder / name).is_file() for folder in (ROOT / "agentkit", ROOT)), name
    for name in row["tests"]:
        path, _, function = name.partition("::")
        assert (ROOT / "tests" / path).is_file(), path
        assert function in functions(ROOT / "tests" / path), name
    commands = {command.name for command in bench_app.registered_commands}
    assert set(row["bench"]) <= commands
