from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from agentkit.config import App
from agentkit.types import Kind
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import normalise
from agentkit.understanding.open import open_understander
from agentkit.understanding.words import Words, read_words

from .conftest import FOLDER


def test_an_app_folder_is_understood_without_a_decoder(app: App, words: dict[str, Words], home: HomeView) -> None:
    understander = open_understander(FOLDER, words=words, tools=app.tools)
    understander.load()
    found = understander.understand(normalise("turn on the desk lamp", "en", words["en"]), home)
    assert (found.kind, found.path) == (Kind.CALLS, "template")
    assert found.timings_ms["template"] > 0


def test_an_app_without_templates_understands_nothing_and_says_so(tmp_path: Path, app: App, home: HomeView) -> None:
    bare = {"en": read_words({}, language="en")}
    understander = open_understander(tmp_path, words=bare, tools=app.tools)
    found = understander.understand(normalise("turn on the desk lamp", "en", bare["en"]), home)
    assert (found.kind, found.reply_key) == (Kind.REFUSE, "not_understood")


def test_templates_need_no_decoder_libraries() -> None:
    code = (
        "import sys, agentkit.understanding.open; "
        "sys.exit(str([m for m in ('llguidance', 'onnxruntime', 'tokenizers') if m in sys.modules] or ''))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1)
    assert run.stderr.strip() == ""
