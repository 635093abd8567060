"""Put the tiers together from what an app folder holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentkit.understanding.template_map import TemplateMap, load_templates
from agentkit.understanding.tools import Tool
from agentkit.understanding.understand import Understander
from agentkit.understanding.words import Words

if TYPE_CHECKING:
    from agentkit.understanding.model_tier import Generator


def open_understander(
    folder: Path, *, words: Mapping[str, Words], tools: Mapping[str, Tool], decoder: Generator | None = None
) -> Understander:
    """Build the understander of an app folder; without a decoder, templates only. Raises ConfigError."""
    path = folder / "templates.yaml"
    templates = load_templates(path, tools=tools) if path.exists() else TemplateMap()
    if decoder is None:
        return Understander(words=words, templates=templates, tools=tools)
    from agentkit.understanding.model_tier import ModelTier  # the decoder's libraries are needed only with a decoder

    model = ModelTier(decoder, tools=tools, words=words, phrases=templates.phrases, text=templates.prompt)
    return Understander(words=words, templates=templates, tools=tools, model=model)
