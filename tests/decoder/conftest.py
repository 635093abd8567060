from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.decoder.tokenizer import Tokenizer, load_tokenizer
from tests.support.tiny import write_gguf


@pytest.fixture(scope="session")
def tiny_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("tiny") / "tiny.gguf")


@pytest.fixture(scope="session")
def tiny_tokenizer(tiny_gguf: Path) -> Tokenizer:
    return load_tokenizer(tiny_gguf)
