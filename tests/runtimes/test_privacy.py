from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tiny import write_gguf

OPEN = """
import sys, time
from pathlib import Path
from agentkit.bench.opened import open_warm
from agentkit.decoder.backend import SessionOptions

opened = open_warm(Path(sys.argv[1]), "cpu_onnx", SessionOptions(max_seq_len=64, buckets=(1, 16)), Path(sys.argv[2]))
opened.session.close()
time.sleep(1.0)
"""


PROBE = """
import sys
from agentkit.plugins import backend_names, find_backend

for name in sys.argv[1:] or backend_names():
    find_backend(name).probe()
"""


def _homeless(home: Path) -> dict[str, str]:
    home.mkdir()
    return {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "ORT_"))} | {"HOME": str(home)}


def _files(home: Path) -> list[Path]:
    return [p for p in home.rglob("*") if p.is_file()]


@pytest.mark.parametrize("names", [(), ("cpu_af",), ("cpu_onnx",)])
def test_looking_for_targets_leaves_nothing_in_the_home_folder(tmp_path: Path, names: tuple[str, ...]) -> None:
    env = _homeless(tmp_path / "home")
    subprocess.run([sys.executable, "-c", PROBE, *names], env=env, check=True, timeout=120)
    assert _files(tmp_path / "home") == []


def test_opening_a_model_leaves_nothing_in_the_home_folder(tmp_path: Path) -> None:
    env = _homeless(tmp_path / "home")
    checkpoint = write_gguf(tmp_path / "tiny.gguf")
    subprocess.run([sys.executable, "-c", OPEN, checkpoint, tmp_path / "compiled"], env=env, check=True, timeout=120)
    assert _files(tmp_path / "home") == []
