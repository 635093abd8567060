"""Who wants something, and what was asked of them."""

from __future__ import annotations

from dataclasses import dataclass

from agentkit.planned import NO_CONSENT, Consent


@dataclass(frozen=True)
class Speaker:
    """Who wants something: what the policy and the tools of the home may look at."""

    user: str | None = None
    source: str = "cli"
    language: str = "en"
    is_confirmed: bool = False
    """The risky part was asked about and answered with yes."""
    has_pin: bool = False
    """The code was given."""
    asked: Consent = NO_CONSENT
    """What the yes or the code was given for."""
    session: str = "default"
    text: str = ""
