"""Announcements."""

from __future__ import annotations

from agentkit.devices.view import View
from agentkit.understanding.tools import Decision, tool


@tool()
def broadcast(home: View, message: str) -> Decision:
    """Say something in every room."""
    return Decision(reason="no_announcer", values={"message": message})
