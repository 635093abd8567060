"""Put the tiers together from what an app folder holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentkit.understanding.lexicon import lexicons_of
from agentkit.understanding.template_map import TemplateMap, load_templates
from agentkit.understanding.tools import Tool
from agentkit.understanding.understand import Understander
from agentkit.understanding.words import Words

if TYPE_CHECKING:
    from agentkit.understanding.model_tier import Generator


def open_understander(
    folder: Path,
    *,
    words: Mapping[str, Words],
    tools: Mapping[str, Tool],
    decoders: Sequence[Generator] = (),
    is_model_alone: bool = False,
) -> Understander:
    """Build the understander of an app folder; without a decoder, templates only. Raises ConfigError.

    `decoders`: the models that are asked about what the templates left over, in this order; about every sentence if
    `is_model_alone`.
    """
    path = folder / "templates.yaml"
    templates = load_templates(path, tools=tools) if path.exists() else TemplateMap()
    if not decoders:
        return Understander(words=words, templates=templates, tools=tools)
    from agentkit.understanding.model_tiers import OpenedTier, TierChain  # the decoder's libraries, only if needed

    phrases, text, lexicons = templates.phrases, templates.prompt, lexicons_of(words.values())
    tiers = [OpenedTier(d, tools=tools, words=words, phrases=phrases, text=text, lexicons=lexicons) for d in decoders]
    return Understander(
        words=words,
        templates=templates,
        tools=tools,
        model=TierChain(tiers),
        is_model_alone=is_model_alone,
        lexicons=lexicons,
    )
