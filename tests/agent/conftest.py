"""The smart home on a winter morning, spoken to in the living room; what a module defines itself goes over it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from agentkit.assemble import Assembly, Live
from agentkit.config import load_app
from agentkit.types import Reply, Utterance

APP = Path(__file__).parents[2] / "apps" / "smart_home"
MORNING = datetime(2026, 1, 15, 8, 30)
Say = Callable[[str], Reply]


@pytest.fixture(scope="module")
def assembly() -> Assembly:
    return Assembly(load_app(APP))


@pytest.fixture
def live(assembly: Assembly) -> Live:
    return assembly.open(load_app(APP).home, now=lambda: MORNING, pin="1234")


@pytest.fixture
def say(live: Live) -> Say:
    return lambda text: live.agent.handle(Utterance(text, session="s", area="living_room"))
