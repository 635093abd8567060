from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentkit.config import App
from agentkit.decoder.backend import SessionOptions
from agentkit.decoder.decoder import Decoder
from agentkit.decoder.open import open_decoder
from agentkit.types import Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import detect_language, normalise
from agentkit.understanding.pointer.tier import PointerTier
from agentkit.understanding.template_map import TemplateMap
from agentkit.understanding.words import Words
from runtimes import onnx_cpu

WEIGHTS = Path(__file__).parents[3] / "models" / "home" / "home.Q8_0.gguf"

Ask = Callable[..., Understanding]


@pytest.fixture(scope="session")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> Decoder:
    folder = tmp_path_factory.mktemp("compiled")
    backends = {"cpu_onnx": onnx_cpu.BACKEND}
    return open_decoder([("cpu_onnx", None)], WEIGHTS, SessionOptions(max_seq_len=512), folder, backends=backends)


@pytest.fixture(scope="session")
def tier(decoder: Decoder, app: App, words: dict[str, Words], templates: TemplateMap) -> PointerTier:
    return PointerTier(decoder, tools=app.tools, words=words, phrases=templates.phrases)


@pytest.fixture(scope="session")
def ask_model(tier: PointerTier, words: dict[str, Words], home: HomeView) -> Ask:
    """What the home model alone makes of a sentence."""

    def ask(text: str, area: str = "living_room") -> Understanding:
        language = detect_language(text)
        return tier.understand(normalise(text, language, words[language]), replace(home, speaker_area=area))

    return ask
