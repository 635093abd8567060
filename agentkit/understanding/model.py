"""What the tiers need of a model."""

from __future__ import annotations

from typing import Protocol

from agentkit.types import Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised


class Model(Protocol):
    """The tier that is asked last."""

    def understand(self, text: Normalised, view: HomeView) -> Understanding:
        """Understand a sentence, or refuse it."""
        ...

    def warm_up(self, view: HomeView) -> None:
        """Prepare what all turns share."""
        ...
