"""What is said of a sentence that no tier understood: what the home lacks, what may have been meant, or neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agentkit.types import Kind, Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised
from agentkit.understanding.phrases import PhraseTier
from agentkit.understanding.propose import Proposer
from agentkit.understanding.shortlist import is_about_home, is_wish
from agentkit.understanding.unknown import is_lacking, unknown_name
from agentkit.understanding.words import Words


@dataclass(frozen=True)
class Refuser:
    """Refuses with the reason that helps most."""

    phrases: PhraseTier
    proposer: Proposer
    naming: Sequence[str]
    """Acts whose object must be a device; see PhraseMap."""
    words: Mapping[str, Words]

    def refuse(self, text: Normalised, view: HomeView) -> Understanding:
        """Refuse a sentence, as one about the home or about something else."""
        key = "not_understood" if self.is_about_home(text, view) else "not_home"
        return Understanding(Kind.REFUSE, (), key, {"words": text.text}, "none", "no tier understood it")

    def is_about_home(self, text: Normalised, view: HomeView) -> bool:
        """Tell whether a sentence speaks of anything that a home has or does."""
        words = self.words[text.language]
        return is_about_home(text, view, words, self.phrases.lexicon(view, words))

    def named(self, found: Understanding, text: Normalised, view: HomeView) -> Understanding:
        """Name the device that the home lacks, if that is why, or propose what may have been meant."""
        if found.kind is not Kind.REFUSE or found.reply_key not in ("not_understood", "not_home"):
            return found
        words = self.words[text.language]
        lexicon = self.phrases.lexicon(view, words)
        name = unknown_name(text.text, lexicon, words, self.naming)
        if name is not None and is_lacking(name, lexicon):
            return unknown(found, name)
        if (proposed := self.proposer.propose(text, view)).kind is not Kind.NONE:
            return proposed
        if found.reply_key == "not_home" and is_wish(text, words, lexicon):
            found = replace(found, reply_key="not_understood")
        return found if name is None else unknown(found, name)


def unknown(found: Understanding, name: str) -> Understanding:
    """Make it the refusal that names what this home lacks."""
    return replace(found, reply_key="unknown_device", reply_values={"name": name}, why=f"{name!r} is unknown here")
