from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the native library is compiled, once for all tests; $AF_NATIVE_TEST_CACHE keeps it for the next run."""
    kept = os.environ.get("AF_NATIVE_TEST_CACHE")
    return Path(kept) if kept else tmp_path_factory.mktemp("af_native")
