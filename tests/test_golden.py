"""What people say and what must come of it: tests/golden/turns_*.yaml through the whole agent, no model.

Each entry starts from the home file's states in a conversation of its own. Its keys: say, area (of the speaker),
given (device id → state, attributes, available), outcome, calls (tool, targets, args; in any order; [] = none),
reply_contains, then (device id → state afterwards), gap (why it is not so yet). An entry with `dialogue` is a list of
such turns in one conversation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentkit.assemble import Live, build_agent
from agentkit.config import App, load_app
from agentkit.evaluate import put_back
from agentkit.types import Call, Reply, Utterance

FOLDER = Path(__file__).parent / "golden"
APP = Path(__file__).parents[1] / "apps" / "smart_home"
KEYS = {"say", "area", "given", "outcome", "calls", "reply_contains", "then"}


def entries() -> list[Any]:
    found = []
    for path in sorted(FOLDER.glob("turns_*.yaml")):
        for row in yaml.safe_load(path.read_text("utf-8")):
            marks = [pytest.mark.xfail(reason=row.pop("gap"), strict=True)] if "gap" in row else []
            turns = row.get("dialogue", [row])
            found.append(pytest.param(turns, id=f"{path.stem}: {' | '.join(t['say'] for t in turns)}", marks=marks))
    return found


@pytest.fixture(scope="module")
def app() -> App:
    return load_app(APP)


@pytest.fixture(scope="module")
def live(app: App) -> Live:
    return build_agent(app, app.home)


@pytest.mark.parametrize("turns", entries())
def test_what_was_said_comes_true(
    turns: list[Mapping[str, Any]], app: App, live: Live, request: pytest.FixtureRequest
) -> None:
    registry = live.registry
    put_back(registry, app.home.devices)
    for turn in turns:
        assert set(turn) <= KEYS, f"unknown keys {set(turn) - KEYS}"
        for key, given in turn.get("given", {}).items():
            device = replace(registry.get(key), is_available=given.get("available", True))
            registry.upsert(device)
            registry.report(key, state=given.get("state"), attributes=given.get("attributes"))
        before = {d.id: d.state for d in registry.devices()}
        reply = live.agent.handle(Utterance(turn["say"], area=turn.get("area"), session=request.node.name[:100]))
        check(turn, reply, before, {d.id: d.state for d in registry.devices()})


def check(
    turn: Mapping[str, Any], reply: Reply, before: Mapping[str, str | None], after: Mapping[str, str | None]
) -> None:
    seen = (
        f"{reply.outcome.value}: {[(c.tool, dict(c.args), c.targets) for c in reply.calls]} | {reply.say} | {reply.why}"
    )
    assert reply.outcome.value == turn["outcome"], seen
    assert reply.say, seen
    if "calls" in turn:
        assert len(reply.calls) == len(turn["calls"]), seen
        assert all(any(fits(want, call) for call in reply.calls) for want in turn["calls"]), seen
    for text in turn.get("reply_contains", ()):
        assert text.lower() in reply.say.lower(), seen
    for key, state in turn.get("then", {}).items():
        assert after[key] == state, seen
    if turn["outcome"] in ("ask", "refused", "none", "answer"):
        assert after == before, seen


def fits(want: Mapping[str, Any], call: Call) -> bool:
    args = {k: call.args.get(k) for k in want.get("args", {})}
    return (
        call.tool == want["tool"]
        and sorted(call.targets) == sorted(want.get("targets", ()))
        and args == dict(want.get("args", {}))
    )


def test_the_tables_are_large_enough_and_bilingual() -> None:
    said = [t["say"] for p in entries() for t in p.values[0]]
    n_chinese = sum(any("\u3400" <= c <= "\u9fff" for c in text) for text in said)
    assert len(said) >= 60
    assert min(n_chinese, len(said) - n_chinese) >= 25
