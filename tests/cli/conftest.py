"""The real server of the server tests, for commands that ask one."""

from __future__ import annotations

from tests.server.conftest import live, start

__all__ = ["live", "start"]
