"""The app's own conversations, as `agentkit test apps/smart_home` plays them; single sentences also with --mutate."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.assemble import Assembly
from agentkit.config import App, load_app
from agentkit.dialogues.rehearsal import Rehearsal
from agentkit.dialogues.script import find_files, read_dialogues

APP = Path(__file__).parents[3] / "apps" / "smart_home"
FILES = find_files(APP)


@pytest.fixture(scope="module")
def loaded() -> App:
    return load_app(APP)


@pytest.fixture(scope="module")
def assembly(loaded: App) -> Assembly:
    return Assembly(loaded)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_conversations_hold_and_no_slip_leads_to_another_action(path: Path, loaded: App, assembly: Assembly) -> None:
    is_mutated = path.stem.startswith("commands")  # in conversations each turn costs all turns before it
    report = Rehearsal(loaded, assembly, seed=0 if is_mutated else None).run(path, read_dialogues(path, loaded))
    assert [str(f) for f in (*report.failures, *report.wrong)] == []
    assert not is_mutated or report.total("same") > 2 * report.total("safe")


def test_there_are_enough_in_both_languages(loaded: App) -> None:
    n = {path.stem[-2:]: 0 for path in FILES}
    for path in FILES:
        n[path.stem[-2:]] += len(read_dialogues(path, loaded))
    assert set(n) == {"en", "zh"}
    assert min(n.values()) >= 25
    assert sum(n.values()) >= 60
