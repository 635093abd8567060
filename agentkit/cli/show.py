"""Prints turns for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator

from agentkit.types import ActionResult, Reply


def as_json(reply: Reply) -> str:
    """The same object that POST /v1/command answers with."""
    from agentkit.server.wire import CommandOut

    body = CommandOut.from_reply(reply, queue_ms=reply.timings_ms.get("queue", 0.0))
    return json.dumps(body.model_dump(), ensure_ascii=False, indent=2)


def lines(reply: Reply) -> Iterator[str]:
    """What was said first, then one line per action, then who understood it and how long it took."""
    yield reply.say
    for result in reply.actions:
        yield f"  {_action(result)}"
    yield f"  {reply.outcome} · {reply.path} · {reply.timings_ms.get('total', 0.0):.0f} ms"


def why(reply: Reply) -> Iterator[str]:
    """What decided the turn and where its time went."""
    yield f"  why     {reply.why or 'nothing was decided'}"
    for call in reply.calls:
        args = ", ".join(f"{key}={value}" for key, value in call.args.items())
        yield f"  call    {call.tool}({args}) → {', '.join(call.targets) or 'no device'}"
    for result in reply.actions:
        if result.detail:
            yield f"  detail  {result.detail}"
    stages = " · ".join(f"{stage} {ms:.1f}" for stage, ms in reply.timings_ms.items())
    yield f"  ms      {stages}"


def _action(result: ActionResult) -> str:
    target = result.action.device_id or "home"
    reason = f" ({result.reason})" if result.reason else ""
    state = f" → {result.state}" if result.state is not None else ""
    return f"{result.status:<8}{result.action.tool} {target}{state}{reason}"
