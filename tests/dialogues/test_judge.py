from __future__ import annotations

from typing import Any

import pytest

from agentkit.dialogues.judge import fate
from agentkit.dialogues.stage import Seen, merged
from agentkit.types import Call

ON: dict[str, Any] = {"lamp": {"state": "on"}}


def seen(outcome: str, *, say: str = "", changed: dict[str, Any] | None = None, tool: str = "turn_on") -> Seen:
    calls = (Call(tool, {}, ("lamp",)),) if outcome == "done" else ()
    return Seen(outcome, say, calls, (), {}, changed or {}, {}, ())


@pytest.mark.parametrize(
    ("original", "mutated", "wanted"),
    [
        (seen("done", changed=ON), seen("done", changed=ON, say="other words"), "same"),
        (seen("done", changed=ON), seen("refused"), "safe"),
        (seen("done", changed=ON), seen("ask"), "safe"),
        (seen("done", changed=ON), seen("answer"), "safe"),
        (seen("done", changed=ON), seen("done", changed={"oven": {"state": "on"}}), "wrong"),
        (seen("done", changed=ON), seen("done", changed=ON, tool="toggle"), "wrong"),
        (seen("done", changed=ON), seen("partial", changed=ON), "wrong"),
        (seen("refused", say="no"), seen("refused", say="no"), "same"),
        (seen("refused"), seen("done"), "wrong"),
        (seen("ask"), seen("done", changed=ON), "wrong"),
        (seen("ask"), seen("scheduled"), "wrong"),
        (seen("answer", say="on"), seen("answer", say="off"), "safe"),
    ],
)
def test_a_mutation_is_judged_by_what_it_does(original: Seen, mutated: Seen, wanted: str) -> None:
    assert fate(original, mutated) == wanted


def test_calls_of_one_tool_are_one_call_however_they_were_said() -> None:
    calls = [Call("on", {}, ("a",)), Call("off", {}, ("c",)), Call("on", {}, ("b", "a")), Call("on", {"x": 1}, ("d",))]
    assert merged(calls) == (Call("on", {}, ("a", "b")), Call("off", {}, ("c",)), Call("on", {"x": 1}, ("d",)))
