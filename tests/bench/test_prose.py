from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.bench.prose import prose
from agentkit.errors import AgentKitError


def test_there_is_a_text_on_every_machine_with_python() -> None:
    text = prose()
    assert len(text) > 10_000
    assert "exception" in text


def test_a_text_of_ones_own_is_read(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("Café.", "utf-8")
    assert prose(tmp_path / "text.txt") == "Café."


def test_a_file_that_is_no_text_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "text.bin").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(AgentKitError, match=r"text\.bin: cannot be read as text"):
        prose(tmp_path / "text.bin")
    with pytest.raises(AgentKitError, match="name a UTF-8 file"):
        prose(tmp_path / "missing.txt")
