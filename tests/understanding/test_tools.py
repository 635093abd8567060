from __future__ import annotations

from types import ModuleType

import pytest

from agentkit.agent.arguments import missing_argument
from agentkit.devices.adapter import Device
from agentkit.devices.view import View
from agentkit.errors import AppError
from agentkit.understanding.tools import BEFORE, Decision, becomes, load_tools, read_tool, tool


@tool(one_of=("time", "seconds"))
def ring(home: View, tune: str, seconds: int = 0, time: str = "") -> Decision:
    """Ring later."""
    return Decision(reason="never")


def test_of_arguments_that_do_for_each_other_one_is_needed_and_the_first_asked_for() -> None:
    found = read_tool(ring)
    for args, wanted in (({}, "tune"), ({"tune": "a"}, "time"), ({"tune": "a", "seconds": 5}, None)):
        missing = missing_argument(found, args)
        assert (missing and missing.name) == wanted


def test_an_argument_that_the_function_lacks_is_named_at_start() -> None:
    @tool(one_of=("hour",))
    def knock(home: View) -> Decision:
        """Knock."""
        return Decision(reason="never")

    with pytest.raises(AppError, match="tool knock: one_of names 'hour', wanted arguments of the function"):
        read_tool(knock)


@tool(types=("lamp", "pump"), undone_by={"lamp": "turn_off", "pump": BEFORE})
def turn_on(device: Device) -> Decision:
    """Switch on."""
    return becomes(device, "on")


@tool(types=("lamp",), is_ending=True)
def turn_off(device: Device) -> Decision:
    """Switch off."""
    return becomes(device, "off")


@tool(types=("pump",), undone_by="turn_off")
def pump(device: Device) -> Decision:
    """Pump."""
    return becomes(device, "on")


def module(*functions: object) -> ModuleType:
    found = ModuleType("handlers")
    found.__dict__.update({f.__name__: f for f in functions})  # type: ignore[attr-defined]
    return found


def test_what_undoes_a_tool_is_known_by_type() -> None:
    tools = load_tools(module(turn_on, turn_off))
    assert dict(tools["turn_on"].undone_by) == {"lamp": "turn_off", "pump": BEFORE}
    assert (tools["turn_off"].undone_by, tools["turn_off"].is_ending) == ({}, True)


@pytest.mark.parametrize("functions", [(pump,), (pump, turn_off)])
def test_what_cannot_undo_a_tool_is_named_at_start(functions: tuple[object, ...]) -> None:
    with pytest.raises(AppError, match="tool pump: undone_by is 'turn_off' for pump, wanted 'before' or a tool"):
        load_tools(module(*functions))
