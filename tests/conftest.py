from __future__ import annotations

from pathlib import Path

import pytest

from runtimes.af_native.build import ensure_library, find_compiler


@pytest.fixture(scope="session")
def native_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the native target's library, compiled once for all tests that only use it."""
    folder = tmp_path_factory.mktemp("native")
    if find_compiler() is not None:
        ensure_library(folder)
    return folder / "af_native"


@pytest.fixture
def cache_with_library(tmp_path: Path, native_library: Path) -> Path:
    """An empty cache of compiled models in which the native target need not compile its library."""
    folder = tmp_path / "cache"
    folder.mkdir()
    (folder / "af_native").symlink_to(native_library)
    return folder
