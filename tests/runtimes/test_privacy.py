from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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


def test_opening_a_model_leaves_nothing_in_the_home_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    checkpoint = write_gguf(tmp_path / "tiny.gguf")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "ORT_"))} | {"HOME": str(home)}
    subprocess.run([sys.executable, "-c", OPEN, checkpoint, tmp_path / "compiled"], env=env, check=True, timeout=120)
    assert [p for p in home.rglob("*") if p.is_file()] == []
