"""What every reading of a sentence gets before it is acted on, by whichever tier it was read."""

from __future__ import annotations

from collections.abc import Mapping

from agentkit.types import Understanding
from agentkit.understanding.choosing import as_spoken
from agentkit.understanding.here import placed_here
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.listed import listed
from agentkit.understanding.normalise import Normalised
from agentkit.understanding.phrase_map import PhraseMap
from agentkit.understanding.remarks import asked_about
from agentkit.understanding.sharing import shared
from agentkit.understanding.suited import rather, suited
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words


def finished(
    found: Understanding,
    text: Normalised,
    view: HomeView,
    words: Words,
    phrases: PhraseMap,
    tools: Mapping[str, Tool],
    lexicon: Lexicon,
) -> Understanding:
    """The reading with its items apart, for the devices that its words can mean, each with its own tool."""
    found = suited(listed(found, text, view, words), text, view, words)
    found = rather(found, text, view, words, phrases, tools)
    found = placed_here(shared(found, view, phrases, tools), text, view, words, tools)
    found = asked_about(found, text, view, words, phrases, tools, lexicon)
    return as_spoken(found, text, view)
