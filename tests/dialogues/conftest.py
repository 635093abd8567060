from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agentkit.assemble import Assembly
from agentkit.cli.new import write_app
from agentkit.config import App, load_app
from agentkit.dialogues.rehearsal import FileReport, Rehearsal
from agentkit.dialogues.script import read_dialogues

Play = Callable[..., FileReport]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> App:
    folder = tmp_path_factory.mktemp("apps") / "greenhouse"
    write_app(folder)
    return load_app(folder)


@pytest.fixture
def play(app: App, tmp_path: Path) -> Play:
    """Run a text of dialogues against the new app."""

    def play(text: str, seed: int | None = None) -> FileReport:
        path = tmp_path / "dialogues.yaml"
        path.write_text(text, "utf-8")
        return Rehearsal(app, Assembly(app), seed=seed).run(path, read_dialogues(path, app))

    return play
