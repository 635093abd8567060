from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentkit.config import App, load_app
from agentkit.devices.adapter import Change, Device
from agentkit.understanding.tools import Answer, Decision

APP = Path(__file__).resolve().parents[3] / "apps" / "smart_home"

Run = Callable[..., Any]


@pytest.fixture(scope="session")
def app() -> App:
    return load_app(APP)


@pytest.fixture
def change(app: App) -> Run:
    """Call a tool on one device and return what that device should become."""

    def run(tool: str, device: Device, **args: Any) -> Change:
        decision = app.tools[tool].function(device, **args)
        assert isinstance(decision, Decision)
        assert decision.reason is None, decision
        assert set(decision.changes) == {device.id}
        return decision.changes[device.id]

    return run


@pytest.fixture
def refusal(app: App) -> Run:
    """Call a tool on one device and return why it refused, with the values for the sentence."""

    def run(tool: str, device: Device, **args: Any) -> tuple[str | None, dict[str, Any]]:
        decision = app.tools[tool].function(device, **args)
        assert isinstance(decision, Decision)
        assert not decision.changes, decision
        return decision.reason, dict(decision.values)

    return run


@pytest.fixture
def ask(app: App) -> Run:
    """Call a question tool on devices."""

    def run(tool: str, *devices: Device, **args: Any) -> Answer:
        answer = app.tools[tool].function(devices, **args)
        assert isinstance(answer, Answer)
        return answer

    return run
