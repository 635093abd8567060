"""agentkit: an embeddable edge-agent framework with an on-device decoder runtime."""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = ["__version__"]
