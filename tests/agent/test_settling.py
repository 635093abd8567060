"""Which of several devices a mere kind means, where all but one are as they should be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from agentkit.agent.binding import bind
from agentkit.agent.policy import Ruling
from agentkit.agent.question import Question
from agentkit.agent.resolve import Resolved
from agentkit.agent.settling import settled
from agentkit.devices.adapter import Device
from agentkit.policy_rules import Verdict
from agentkit.types import Args, Intent, Selector
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.tools import Tool
from tests.agent.house import TOOLS

LAMPS = tuple(Device(f"light.{n}", f"Lamp {n}", "light", "attic", state="off") for n in ("a", "b", "c"))
LOCKS = (Device("lock.x", "Porch", "lock", state="locked"), Device("lock.y", "Shed", "lock", state="unlocked"))


def decide(asked: Sequence[tuple[Tool, Any, Args]]) -> list[object]:
    return [tool.function(given, **args) for tool, given, args in asked]


def reached(tool: str, devices: Sequence[Device], verdict: Verdict = Verdict.ALLOW) -> tuple[str, ...] | None:
    """The devices found without asking; None if it is asked."""
    view = HomeView(tuple(devices))
    bound = bind((Intent(tool, {}, Selector(types=(devices[0].type,))),), view, TOOLS)
    (found,) = settled(bound, view, TOOLS, decide, lambda *_: Ruling(verdict)).found
    return found.device_ids if isinstance(found, Resolved) else None


def lit(*ids: str) -> list[Device]:
    return [replace(d, state="on" if d.id in ids else "off") for d in LAMPS]


def test_the_only_lamp_that_would_change_is_meant():
    assert reached("turn_off", lit("light.b")) == ("light.b",)
    assert reached("turn_on", lit("light.a", "light.c")) == ("light.b",)


@pytest.mark.parametrize(
    "devices", [lit(), lit("light.a", "light.b"), [*lit("light.a"), Device("light.d", "D", "light")]]
)
def test_else_it_is_asked(devices: list[Device]) -> None:
    assert reached("turn_off", devices) is None


def test_a_device_that_does_not_answer_may_be_as_it_says_or_not():
    silent = replace(lit()[0], is_available=False)
    assert reached("turn_off", [silent, *lit("light.b")[1:]]) is None


def test_a_lock_is_never_guessed():
    assert reached("unlock", LOCKS) is None


def test_what_the_policy_asks_about_is_asked_with_all_choices():
    assert reached("turn_off", lit("light.b"), Verdict.CONFIRM) is None


def test_what_is_clear_stays_as_it_is():
    view = HomeView(tuple(lit()))
    bound = bind((Intent("turn_off", {}, Selector(names=("Lamp a",))),), view, TOOLS)
    assert settled(bound, view, TOOLS, decide, lambda *_: Ruling()) == bound
    assert not isinstance(bound.found[0], Question)
