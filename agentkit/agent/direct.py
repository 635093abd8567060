"""A direct action: tool and device are given by id, so there is nothing to understand, only to check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentkit.agent.arguments import BadArgument, check_arguments, missing_argument
from agentkit.agent.resolve import Step
from agentkit.types import Action, ActionResult, Status
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.tools import Tool


def direct_step(
    device_id: str, name: str, args: Mapping[str, Any], view: HomeView, tools: Mapping[str, Tool]
) -> Step | ActionResult:
    """Check everything and return the step to run, or the failed result that tells what is wrong."""
    action = Action(name, args, device_id)
    tool, device = tools.get(name), view.device(device_id)

    def failed(reason: str, detail: str) -> ActionResult:
        return ActionResult(action, Status.FAILED, reason, detail)

    if tool is None:
        return failed("unknown_tool", f"no tool {name[:80]!r}; known are {', '.join(sorted(tools))}")
    if device is None:
        return failed("not_found", f"no device {device_id[:80]!r} is registered; GET /v1/devices lists them")
    if tool.scope == "home" or (tool.types and device.type not in tool.types):
        kinds = ", ".join(tool.types) or "no device"
        return failed("unsupported", f"{device_id} is a {device.type}; {name} works on {kinds}")
    checked = check_arguments(tool, args)
    if isinstance(checked, BadArgument):
        return failed(checked.reason, checked.detail)
    param = missing_argument(tool, checked)
    if param is not None:
        return failed("missing_argument", f"{name} needs the argument {param.name} ({param.type.__name__})")
    return Step(tool, checked, (device_id,))
