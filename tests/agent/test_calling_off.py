"""What was planned is called off, put off and told through the whole agent of the app, and never carried out by it."""

from __future__ import annotations

from datetime import datetime

import pytest

from agentkit.types import Outcome, Utterance
from tests.agent.test_planning import NOON, House, Open, assembly, house, open_house

__all__ = ["assembly", "house", "open_house"]


def test_another_session_does_not_know_what_it_is(house: House) -> None:
    house.say("turn off the kitchen light in 10 minutes", session="a")
    reply = house.say("cancel it", session="b")
    assert reply.reasons == ("say.nevermind",)
    assert len(house.live.schedule.entries()) == 1


def test_what_it_is_ends_with_time(house: House) -> None:
    house.say("turn off the kitchen light in 10 minutes")
    house.wall = NOON.replace(minute=3)
    assert house.say("cancel it").reasons == ("say.nevermind",)
    assert len(house.live.schedule.entries()) == 1


def test_another_user_of_the_session_does_not_know_what_it_is(house: House) -> None:
    house.say("turn off the kitchen light in 10 minutes")
    reply = house.live.agent.handle(Utterance("never mind", session="s", user="guest"))
    assert reply.reasons == ("say.nevermind",)
    assert len(house.live.schedule.entries()) == 1


def test_a_dry_run_cancels_nothing(house: House) -> None:
    house.say("turn off the kitchen light in 10 minutes")
    reply = house.live.agent.handle(Utterance("cancel it", session="s", is_dry_run=True))
    assert [c.tool for c in reply.calls] == ["cancel_entries"]
    assert len(house.live.schedule.entries()) == 1


def test_what_has_run_already_is_not_cancelled_any_more(house: House) -> None:
    house.say("turn off the kitchen light in 1 minute")
    house.pass_by(60)
    reply = house.say("cancel it")
    assert reply.outcome is Outcome.ANSWER
    assert house.state("light.kitchen") == "off"


@pytest.mark.parametrize(
    "text", ["don't cancel my alarms", "never delete all alarms", "please do not cancel the alarm"]
)
def test_a_cancelling_that_is_denied_cancels_nothing(house: House, text: str) -> None:
    house.say("set an alarm for 7 am")
    house.say("set an alarm for 8 am")
    house.say(text)
    assert len(house.live.schedule.entries()) == 2


def test_what_repeats_is_not_put_off(house: House) -> None:
    house.say("turn off the kitchen light every day at 23:30")
    before = house.live.schedule.entries()
    assert house.say("add five minutes").outcome is Outcome.FAILED
    assert house.live.schedule.entries() == before


def test_nothing_is_put_off_into_the_past(house: House) -> None:
    house.say("set a timer for 5 minutes")
    before = house.live.schedule.entries()
    assert house.say("take off 6 minutes").outcome is Outcome.FAILED
    assert house.live.schedule.entries() == before


def test_a_risky_thing_at_the_same_time_is_asked_too(house: House) -> None:
    house.say("turn off the kitchen light in 10 minutes")
    house.say("unlock the back door in 10 minutes")
    assert house.say("yes").outcome is Outcome.SCHEDULED
    reply = house.say("and the front door too")
    assert reply.outcome in (Outcome.ASK, Outcome.REFUSED)
    assert house.state("lock.front_door") == "locked"
    assert len(house.live.schedule.entries()) == 2


def test_what_comes_late_says_so(house: House) -> None:
    house.say("turn off the kitchen light in 1 minute")
    house.pass_by(180)
    assert house.last() == "Turned off the kitchen light. That was due today at 12:01, so it comes late."


def test_what_was_missed_is_told_when_it_is_asked(open_house: Open) -> None:
    first = open_house()
    first.say("turn off the kitchen light in 5 minutes")
    first.live.close()
    second = open_house(datetime(2026, 1, 15, 14, 0))
    wanted = "I was off and did not do this, today at 12:05: turn off the kitchen light in 5 minutes."
    assert second.last() == wanted
    assert second.say("what did I miss?").say == wanted
    assert second.state("light.kitchen") == "on"


def test_nothing_missed_is_said_to_be_nothing(house: House) -> None:
    assert house.say("did I miss anything?").say == "Nothing was missed."


def test_a_question_that_is_held_open_still_ends_with_time(house: House) -> None:
    house.say("unlock the back door")
    assert house.say("hold on").outcome is Outcome.ASK
    house.wall = NOON.replace(minute=2)
    house.say("yes")
    assert house.state("lock.back_door") == "locked"


@pytest.mark.parametrize("text", ["wait, no", "hold on, don't", "hang on, never mind"])
def test_a_no_behind_a_wait_is_a_no(house: House, text: str) -> None:
    house.say("unlock the back door")
    assert house.say(text).reasons == ("say.cancelled",)
    house.say("yes")
    assert house.state("lock.back_door") == "locked"
