"""What "the other lights" leaves alone, and where nothing tells what that is."""

from __future__ import annotations

import pytest

from agentkit.assemble import Live
from agentkit.types import Outcome
from tests.agent.conftest import Say


@pytest.mark.parametrize(
    "text", ["turn off all the other lights", "other lights off", "now turn off the rest of the lights", "把其他灯关了"]
)
def test_all_the_others_leave_what_was_just_spoken_of(text: str, say: Say, live: Live) -> None:
    say("turn on the floor lamp")
    reply = say(text)
    assert "light.floor_lamp" not in reply.calls[0].targets
    assert live.registry.get("light.floor_lamp").state == "on"
    assert live.registry.get("light.kitchen").state == "off"


@pytest.mark.parametrize("before", ["what time is it", "lock the back door", "turn on all the lights"])
def test_nothing_moves_where_the_last_turn_tells_of_none_to_keep(before: str, say: Say, live: Live) -> None:
    say(before)
    assert say("turn off the other lights").outcome is Outcome.REFUSED
    assert live.registry.get("light.kitchen").state == "on"


def test_others_that_let_people_in_are_asked_about(say: Say) -> None:
    say("lock the front door")
    reply = say("unlock the other doors")
    assert reply.outcome is Outcome.ASK
    assert [c.targets for c in reply.calls] == [("lock.back_door",)]


def test_a_sentence_that_says_itself_what_to_keep_is_taken_at_its_word(say: Say, live: Live) -> None:
    say("turn on the floor lamp")
    say("leave the bedside lamp on and turn off the other lights")
    assert live.registry.get("light.floor_lamp").state == "off"
    assert live.registry.get("light.bedside").state == "on"
