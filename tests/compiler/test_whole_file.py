"""A file that is written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.compiler.whole_file import whole_file


def test_a_finished_block_replaces_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with whole_file(path, prefix=".part-") as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_block_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def write_half() -> None:
        with whole_file(path, prefix=".part-") as file:
            file.write(b"new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
