from __future__ import annotations

import pytest

from agentkit.agent.arguments import missing_argument
from agentkit.devices.view import View
from agentkit.errors import AppError
from agentkit.understanding.tools import Decision, read_tool, tool


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
