"""Plans, timers and alarms through the whole agent of the app: nothing runs early, and what is said is so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from agentkit.assemble import Assembly, Live
from agentkit.config import load_app
from agentkit.types import Outcome, Reply, Utterance

APP = Path(__file__).parents[2] / "apps" / "smart_home"
NOON = datetime(2026, 1, 15, 12, 0)


@dataclass
class House:
    """The app's home with a clock that stands until it is moved."""

    live: Live
    wall: datetime = NOON

    def say(self, text: str, session: str = "s", area: str | None = "living_room") -> Reply:
        return self.live.agent.handle(Utterance(text, session=session, area=area))

    def pass_by(self, seconds: float) -> int:
        self.wall += timedelta(seconds=seconds)
        return self.live.ticker.tick()

    def state(self, device_id: str) -> str | None:
        return self.live.registry.get(device_id).state

    def last(self) -> str:
        return self.live.schedule.history()[-1].say


Open = Callable[..., House]


@pytest.fixture(scope="module")
def assembly() -> Assembly:
    return Assembly(load_app(APP))


@pytest.fixture
def open_house(assembly: Assembly, tmp_path: Path) -> Open:
    def build(wall: datetime = NOON, other: Assembly | None = None) -> House:
        house = House.__new__(House)
        house.wall = wall
        house.live = (other or assembly).open(
            load_app(APP).home,
            state_dir=tmp_path,
            now=lambda: house.wall,
            clock=lambda: (house.wall - NOON).total_seconds(),
        )
        return house

    return build


@pytest.fixture
def house(open_house: Open) -> House:
    return open_house()


def test_a_plan_runs_at_its_time_and_not_before(house: House) -> None:
    reply = house.say("turn off the kitchen light in 10 minutes")
    assert reply.outcome is Outcome.SCHEDULED
    assert reply.say == "OK, in 10 minutes, at 12:10, I will turn off the kitchen light."
    assert house.pass_by(599) == 0
    assert house.state("light.kitchen") == "on"
    assert house.pass_by(1) == 1
    assert house.state("light.kitchen") == "off"
    assert house.last() == "Turned off the kitchen light."
    assert house.pass_by(3600) == 0


def test_a_plan_is_one_call_with_its_calls_inside(house: House) -> None:
    [call] = house.say("turn off the kitchen light in 10 minutes").calls
    assert (call.tool, call.args["after_seconds"]) == ("schedule", 600)
    assert call.args["calls"] == ({"tool": "turn_off", "args": {}, "targets": ["light.kitchen"]},)


def test_a_chinese_plan_is_said_with_its_clock_time(house: House) -> None:
    assert house.say("十分钟后关闭厨房灯").say == "好的，10分钟后（12:10）关闭厨房灯。"
    assert house.say("明天早上七点打开厨房灯").say == "好的，明天07:00打开厨房灯。"


def test_a_rule_runs_every_time(house: House) -> None:
    house.say("turn on the desk lamp every weekday at 7")
    house.pass_by(19 * 3600)  # Friday
    assert house.state("light.desk") == "on"
    house.say("turn off the desk lamp")
    house.pass_by(24 * 3600)  # Saturday
    assert house.state("light.desk") == "off"
    house.pass_by(48 * 3600)  # Monday
    assert house.state("light.desk") == "on"


def test_what_needs_a_yes_is_asked_before_it_is_planned(house: House) -> None:
    asked = house.say("unlock the front door in 10 minutes")
    assert (asked.outcome, asked.expects_reply) == (Outcome.ASK, True)
    assert asked.say == "Unlock the front door, today at 12:10?"
    assert house.live.schedule.entries() == ()
    assert house.say("yes").outcome is Outcome.SCHEDULED
    assert house.state("lock.front_door") == "locked"
    house.pass_by(600)
    assert house.state("lock.front_door") == "unlocked"


def test_a_no_plans_nothing(house: House) -> None:
    house.say("unlock the front door in 10 minutes")
    house.say("no")
    assert house.live.schedule.entries() == ()


def test_a_plan_means_the_devices_of_the_day_it_was_made(house: House) -> None:
    house.say("turn off the kitchen light in 10 minutes")
    house.live.registry.remove("light.kitchen")
    house.pass_by(600)
    assert house.live.agent.trace.turns()[-1].reply.outcome is Outcome.FAILED
    assert "kitchen" in house.last()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("turn on the kitchen light until my bread is done", "condition"),
        ("open the living room curtain at sunset", "sun rises"),
        ("turn on the kitchen light tomorrow", "At what time"),
        ("turn off the kitchen light today at 7 am", "over already"),
        ("is the kitchen light on at nine", "how things are now"),
        ("如果温度高于28度就打开台灯", "按条件"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_its_reason(house: House, text: str, said: str) -> None:
    before = house.live.registry.devices()
    reply = house.say(text)
    assert reply.outcome is Outcome.REFUSED
    assert said in reply.say
    assert house.live.registry.devices() == before
    assert house.live.schedule.entries() == ()


def test_plans_are_read_out_and_called_off_by_voice(house: House) -> None:
    house.say("turn off the kitchen light in 10 minutes")
    assert "today at 12:10" in house.say("what is scheduled").say
    assert house.say("cancel the schedule").outcome is Outcome.DONE
    assert house.say("what is scheduled").say == "Nothing is planned."
    house.pass_by(600)
    assert house.state("light.kitchen") == "on"


def test_timers_run_side_by_side(house: House) -> None:
    house.say("set a ten minute pasta timer")
    house.say("set a timer for 5 minutes", area="kitchen")
    assert house.say("add two minutes to the pasta timer").say == "The pasta timer now has 12 minutes left."
    house.say("pause the pasta timer")
    house.pass_by(60)
    assert "paused with 12 minutes left" in house.say("how much time is left on the pasta timer").say
    assert "4 minutes left" in house.say("how long is left on the kitchen timer").say
    house.say("resume the pasta timer")
    assert house.pass_by(240) == 1
    assert house.last() == "The timer for 5 minutes is over."
    assert house.say("cancel all timers").say == "Cancelled all timers: 1."
    assert house.say("cancel the timer").say == "There is no timer."


def test_a_timer_without_a_length_asks_for_it(house: House) -> None:
    assert house.say("set a pasta timer").say == "For how long?"
    assert house.say("an hour and a half").say == "The pasta timer is set for 1 hour and 30 minutes, until 13:30."


def test_a_chinese_timer_asks_too(house: House) -> None:
    assert house.say("设置一个煮蛋计时器").say == "要多长时间？"
    assert "煮蛋计时器已设为8分钟" in house.say("八分钟").say


def test_an_alarm_rings_at_its_time(house: House) -> None:
    assert house.say("wake me up at 7 tomorrow").say == "Alarm set for 07:00 tomorrow."
    assert house.say("what alarms do i have").say == "An alarm is set for 07:00 tomorrow."
    assert house.pass_by(19 * 3600) == 1
    assert house.last() == "It is time for your alarm."
    assert house.say("cancel my alarm").say == "There is no alarm."


def test_an_alarm_without_a_time_asks_for_it(house: House) -> None:
    assert house.say("set an alarm").say == "At what time?"
    assert house.say("at half past six").say == "Alarm set for 18:30 today."


def test_after_a_restart_everything_is_still_there_and_runs_once(open_house: Open) -> None:
    first = open_house()
    first.say("turn off the kitchen light in 10 minutes")
    first.say("set a pasta timer for 20 minutes")
    first.live.registry.flush()
    second = open_house(NOON + timedelta(minutes=10))
    assert second.pass_by(0) == 1
    assert second.state("light.kitchen") == "off"
    assert second.pass_by(600) == 1
    assert second.last() == "The pasta timer is over."
    assert open_house(NOON + timedelta(minutes=30)).pass_by(0) == 0


def test_what_was_missed_is_asked_about_if_the_app_wants_that(open_house: Open) -> None:
    open_house().say("turn off the kitchen light in 10 minutes")
    house = open_house(NOON + timedelta(hours=5), Assembly(load_app(APP, ["schedule.missed=ask"])))
    reply = house.say("what time is it")
    assert (reply.outcome, reply.expects_reply) == (Outcome.ANSWER, True)
    assert "I missed this: turn off the kitchen light, at 12:10. Shall I do it now?" in reply.say
    assert house.state("light.kitchen") == "on"
    assert house.say("yes").outcome is Outcome.DONE
    assert house.state("light.kitchen") == "off"


def test_what_was_missed_is_dropped_otherwise(open_house: Open) -> None:
    open_house().say("turn off the kitchen light in 10 minutes")
    house = open_house(NOON + timedelta(hours=5))
    assert house.pass_by(0) == 0
    assert [p.outcome for p in house.live.schedule.history()] == ["missed"]
    assert house.state("light.kitchen") == "on"


def test_a_dry_run_plans_nothing(house: House) -> None:
    reply = house.live.agent.handle(Utterance("turn off the kitchen light in 10 minutes", is_dry_run=True))
    assert reply.outcome is Outcome.ANSWER
    assert house.live.schedule.entries() == ()


def test_an_announcement_without_a_speaker_is_not_claimed(house: House) -> None:
    assert house.say("broadcast that dinner is ready").outcome is Outcome.FAILED


def test_a_reminder_says_its_words_and_does_nothing_else(house: House) -> None:
    assert house.say("remind me to turn off the kitchen light in 20 minutes").say == (
        "I will remind you today at 12:20: turn off the kitchen light."
    )
    assert house.say("明天下午三点提醒我开会").say == "好的，明天15:00提醒您：开会。"
    assert house.pass_by(1200) == 1
    assert house.last() == "It is time: turn off the kitchen light."
    assert house.state("light.kitchen") == "on"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("turn on the sauna at 8 pm", "sauna"),
        ("what's the weather tomorrow", "how things are now"),
        ("turn on the desk lamp at 8 if it rains", "condition"),
        ("turn on the kitchen light in 0 minutes", "over already"),
    ],
)
def test_the_reason_is_the_part_that_stands_in_the_way(house: House, text: str, said: str) -> None:
    reply = house.say(text)
    assert reply.outcome is Outcome.REFUSED
    assert said in reply.say


def test_a_correction_of_a_planned_question_stays_a_plan(house: House) -> None:
    house.say("unlock the front door in 10 minutes")
    house.say("no, I mean the garage door")
    assert house.state("lock.front_door") == "locked"
    assert house.state("cover.garage_door") == "closed"


def test_it_in_a_plan_is_asked_for_and_still_waits(house: House) -> None:
    asked = house.say("turn it on in 10 minutes")
    if asked.outcome is Outcome.ASK:
        assert house.say("the desk lamp").outcome is Outcome.SCHEDULED
    assert house.state("light.desk") == "off"


def test_a_follow_up_after_a_plan_does_not_run_at_once(house: House) -> None:
    house.say("turn on the kitchen light")
    house.say("turn off the kitchen light in 10 minutes")
    before = {d.id: d.state for d in house.live.registry.devices()}
    house.say("and the desk lamp")
    assert {d.id: d.state for d in house.live.registry.devices()} == before


def test_all_plans_are_all_of_them_even_if_one_speaks_of_all(house: House) -> None:
    house.say("turn off all lights at midnight")
    house.say("turn off the hallway light at 9 pm")
    assert house.say("cancel all plans").say == "Cancelled all 2 plans."
