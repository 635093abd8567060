"""Something for a while: done now, undone at its end by a plan, and neither where it cannot be undone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from agentkit.assemble import Assembly, Live
from agentkit.config import load_app
from agentkit.types import Outcome, Reply, Utterance

APP = Path(__file__).parents[2] / "apps" / "smart_home"
MORNING = datetime(2026, 1, 15, 9, 0)


@dataclass
class House:
    """The app's home with a clock that stands until it is moved."""

    live: Live
    wall: datetime = MORNING

    def say(self, text: str, *, is_dry_run: bool = False) -> Reply:
        said = Utterance(text, session="s", area="living_room", is_dry_run=is_dry_run)
        return self.live.agent.handle(said)

    def pass_by(self, minutes: float) -> int:
        self.wall += timedelta(minutes=minutes)
        return self.live.ticker.tick()

    def state(self, device_id: str) -> str | None:
        return self.live.registry.get(device_id).state

    def value(self, device_id: str, key: str) -> object:
        return self.live.registry.get(device_id).attributes.get(key)

    def planned(self) -> list[tuple[str, str]]:
        entries = self.live.schedule.entries()
        return [(e.due.strftime("%H:%M"), e.text) for e in entries if e.due is not None]


Open = Callable[..., House]


@pytest.fixture(scope="module")
def assembly() -> Assembly:
    return Assembly(load_app(APP))


@pytest.fixture
def open_house(assembly: Assembly, tmp_path: Path) -> Open:
    def build(late: float = 0) -> House:
        house = House.__new__(House)
        house.wall = MORNING + timedelta(minutes=late)
        house.live = assembly.open(
            load_app(APP).home,
            state_dir=tmp_path,
            now=lambda: house.wall,
            clock=lambda: (house.wall - MORNING).total_seconds(),
        )
        return house

    return build


@pytest.fixture
def house(open_house: Open) -> House:
    return open_house()


@pytest.mark.parametrize(
    ("text", "device", "now", "due"),
    [
        ("run the bathroom fan for a quarter of an hour", "fan.bathroom", "on", "09:15"),
        ("keep the desk lamp on until noon", "light.desk", "on", "12:00"),
        ("leave the desk lamp on until noon please", "light.desk", "on", "12:00"),
        ("switch the kitchen light off for 5 minutes", "light.kitchen", "off", "09:05"),
        ("open the bedroom curtain for two hours", "cover.bedroom_curtain", "open", "11:00"),
        ("switch the desk lamp on and off again in 40 minutes", "light.desk", "on", "09:40"),
        ("打开浴室风扇一刻钟", "fan.bathroom", "on", "09:15"),
        ("台灯亮到中午", "light.desk", "on", "12:00"),
        ("打开台灯，四十分钟后关掉", "light.desk", "on", "09:40"),
        ("打开台灯，过四十分钟再关", "light.desk", "on", "09:40"),
    ],
)
def test_it_is_done_now_and_undone_at_its_end(text: str, device: str, now: str, due: str, house: House) -> None:
    before = house.state(device)
    assert house.say(text).outcome is Outcome.DONE
    assert house.state(device) == now
    assert [d for d, _ in house.planned()] == [due]
    hours, minutes = map(int, due.split(":"))
    house.pass_by((hours - 9) * 60 + minutes)
    assert house.state(device) == before
    assert house.planned() == []


def test_the_reply_says_both_and_the_plan_can_be_called_off(house: House) -> None:
    assert house.say("switch on the desk lamp for 12 minutes").say == (
        "Turned on the desk lamp. I will turn off the desk lamp at 09:12."
    )
    assert "turn off the desk lamp" in house.say("what is planned").say
    house.say("switch on the bathroom fan for 12 minutes")
    house.say("cancel that")
    assert [text for _, text in house.planned()] == ["turn off the desk lamp"]
    assert house.state("fan.bathroom") == "off"


def test_what_is_so_already_is_said_and_ends_all_the_same(house: House) -> None:
    assert house.say("keep the kitchen light on until 11").say == (
        "The kitchen light is already on. I will turn off the kitchen light at 11:00."
    )


@pytest.mark.parametrize("text", ["switch the desk lamp off for an hour", "lock the front door for an hour"])
def test_what_had_ended_before_does_not_begin_at_the_end(text: str, house: House) -> None:
    assert "Nothing needs to be put back" in house.say(text).say
    assert house.planned() == []


@pytest.mark.parametrize(
    ("text", "device", "key"),
    [
        ("dim the kitchen light to 35 percent for 20 minutes", "light.kitchen", "brightness"),
        ("set the bedroom air conditioner to 23 until 11 am", "climate.bedroom", "temperature"),
        ("volume 15 percent for half an hour", "media_player.living_room_speaker", "volume_level"),
        ("把厨房灯调到35%二十分钟", "light.kitchen", "brightness"),
    ],
)
def test_a_value_goes_back_to_what_it_was(text: str, device: str, key: str, house: House) -> None:
    before = house.value(device, key)
    assert house.say(text).outcome is Outcome.DONE
    assert house.value(device, key) != before
    house.pass_by(180)
    assert house.value(device, key) == before


def test_a_value_that_nobody_knows_is_left_alone(house: House) -> None:
    house.live.registry.report("light.kitchen", attributes={"brightness": None})
    reply = house.say("dim the kitchen light to 35 percent for 20 minutes")
    assert (reply.outcome, reply.reasons) == (Outcome.REFUSED, ("refused.unread",))
    assert house.planned() == []


def test_only_what_changed_ends(house: House) -> None:
    house.live.registry.report("light.floor_lamp", is_available=False)
    house.say("switch on the lights here for 20 minutes")
    assert house.planned() == [("09:20", "turn off the living room ceiling light and the TV light strip")]
    house.live.registry.report("fan.bathroom", is_available=False)
    assert house.say("run the bathroom fan for 20 minutes").outcome is Outcome.FAILED
    assert len(house.planned()) == 1


def test_one_question_names_both_and_its_yes_covers_both(house: House) -> None:
    asked = house.say("unlock the back door for 3 minutes")
    assert asked.say == "Unlock the back door, and lock the back door at 09:03?"
    assert house.planned() == []
    house.say("yes")
    assert house.state("lock.back_door") == "unlocked"
    house.pass_by(3)
    assert house.state("lock.back_door") == "locked"


def test_a_question_is_only_about_what_runs_where_nothing_will_be_undone(house: House) -> None:
    asked = house.say("set the garage door to 40 percent for 10 minutes")  # it only opens and closes
    assert (asked.outcome, asked.say) == (Outcome.ASK, "Move the garage door to 40 %?")


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("unlock the back door until 8 am", "Unlock the back door, and lock the back door tomorrow at 08:00?"),
        ("unlock the back door for 2 days", "Unlock the back door, and lock the back door on Saturday at 09:00?"),
        (
            "at 9 pm unlock the back door until 8 am",
            "Unlock the back door, today at 21:00, and lock the back door tomorrow at 08:00?",
        ),
        (
            "every day at 6 unlock the back door for 5 minutes",
            "Unlock the back door, every day at 06:00, and lock the back door at 06:05?",
        ),
        ("打开车库门两天", "打开车库门，星期六09:00再关闭车库门吗？"),
    ],
)
def test_a_question_tells_the_day_of_an_end_that_is_not_that_of_the_beginning(
    text: str, asked: str, house: House
) -> None:
    assert house.say(text).say == asked


def test_an_end_that_opens_a_door_is_asked_about_first(house: House) -> None:
    house.live.registry.report("lock.front_door", state="unlocked")
    assert house.say("lock the front door for 10 minutes").outcome is Outcome.ASK
    assert house.state("lock.front_door") == "unlocked"
    house.say("no")
    assert house.planned() == []


def test_a_dry_run_tells_of_both_and_does_neither(house: House) -> None:
    said = house.say("switch on the desk lamp for 12 minutes", is_dry_run=True).say
    assert "turn on the desk lamp" in said
    assert "turn off the desk lamp at 09:12" in said
    assert house.planned() == []
    assert house.state("light.desk") == "off"


def test_the_end_survives_a_crash(open_house: Open) -> None:
    open_house().say("switch on the desk lamp for 12 minutes")
    again = open_house()
    again.live.registry.report("light.desk", state="on")
    again.pass_by(12)
    assert again.state("light.desk") == "off"


@pytest.mark.parametrize(
    ("texts", "device", "before", "after"),
    [
        (["switch on the desk lamp for 12 minutes"], "light.desk", "on", "off"),
        (["switch the kitchen light off for 12 minutes"], "light.kitchen", "off", "on"),
        (["unlock the back door for 12 minutes", "yes"], "lock.back_door", "unlocked", "locked"),
        (["lock the back door for 12 minutes", "yes"], "lock.back_door", "locked", "locked"),
    ],
)
def test_an_end_that_was_missed_comes_late_but_opens_no_door(
    texts: list[str], device: str, before: str, after: str, open_house: Open
) -> None:
    first = open_house()
    first.live.registry.report(device, state={"on": "off", "off": "on", "locked": "unlocked"}.get(before, "locked"))
    for text in texts:
        first.say(text)
    assert first.state(device) == before
    again = open_house(late=600)
    again.live.registry.report(device, state=before)
    again.pass_by(0)
    assert again.state(device) == after


def test_nothing_is_done_whose_end_cannot_be_kept(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentkit.agent.schedule.MAX_ENTRIES", 0)
    assert house.say("switch on the desk lamp for 12 minutes").reasons == ("failed.not_saved",)
    assert house.state("light.desk") == "off"


@pytest.mark.parametrize(
    ("text", "plans"),
    [
        ("switch on the desk lamp at ten for 20 minutes", ["10:00", "10:20"]),
        ("switch on the desk lamp at ten and off at eleven", ["10:00", "11:00"]),
        ("switch on the desk lamp from 5 to 6 pm", ["17:00", "18:00"]),
        ("switch off the kitchen light at ten and on again at eleven", ["10:00", "11:00"]),
        ("open the sprinkler every day at 6 am for 15 minutes", ["06:00", "06:15"]),
        ("十点打开台灯，十一点关", ["10:00", "11:00"]),
        ("每天晚上七点到九点打开花园灯", ["19:00", "21:00"]),
    ],
)
def test_what_begins_later_is_two_plans(text: str, plans: list[str], house: House) -> None:
    assert house.say(text).outcome is Outcome.SCHEDULED
    assert [due for due, _ in house.planned()] == plans


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("keep the desk lamp on until the bread is baked", "condition"),
        ("keep the desk lamp on until sunset", "sun"),
        ("do not switch on the desk lamp for 10 minutes", "negation"),
        ("she left the desk lamp on for 10 minutes", "report"),
        ("switch on the desk lamp for 10 minutes and lock up at ten for 5 minutes", ""),
        ("close the curtain and switch on the desk lamp for 10 minutes", "apart"),
        ("switch on the desk lamp for 10 minutes and then close the curtain", "apart"),
        ("I was out for an hour, switch on the desk lamp", ""),
        ("skip this song for 10 minutes", "lasting"),
        ("put bread on the shopping list for 2 days", "lasting"),
        ("set the desk lamp to 30 percent at 10:15 for 10 minutes", "lasting"),
        ("set the garage door to 40 percent at 10:15 for 10 minutes", "lasting"),
        ("别打开台灯十分钟", "negation"),
        ("台灯已经开了十分钟", ""),
        ("关窗帘，打开台灯十分钟", "apart"),
    ],
)
def test_nothing_runs_where_the_end_is_unclear(text: str, reason: str, house: House) -> None:
    before = house.live.registry.devices()
    reply = house.say(text)
    assert reply.outcome is Outcome.REFUSED
    if reason:
        assert reply.say == house.live.agent._replies.render(reply.language, "refused.not_yet", {"kind": reason})
    assert house.live.registry.devices() == before
    assert house.planned() == []


@pytest.mark.parametrize("text", ["switch on the hallway light for the night", "switch on the hallway light for me"])
def test_an_occasion_is_no_length_of_time(text: str, house: House) -> None:
    house.say(text)
    assert house.planned() == []


def test_a_sentence_in_the_form_of_a_question_is_asked_back(house: House) -> None:
    assert house.say("can I leave the desk lamp on for an hour").outcome is Outcome.ASK
    assert house.state("light.desk") == "off"


@pytest.mark.parametrize(
    ("then", "plans"),
    [
        ("no, 25 minutes", [("09:25", "turn off the desk lamp")]),
        ("no, until 11", [("11:00", "turn off the desk lamp")]),
        ("and the bathroom fan", [("09:10", "turn off the bathroom fan"), ("09:10", "turn off the desk lamp")]),
        ("no, the hallway light", [("09:10", "turn off the hallway light")]),
        ("leave it on", []),
        ("undo", []),
        ("turn it off", []),
        ("keep the desk lamp on until 11", [("11:00", "turn off the desk lamp")]),
    ],
)
def test_what_is_said_next_is_about_the_end_too(then: str, plans: list[tuple[str, str]], house: House) -> None:
    house.say("switch on the desk lamp for 10 minutes")
    house.say(then)
    assert sorted(house.planned()) == plans
    is_off = then in ("no, the hallway light", "undo", "turn it off")
    assert house.state("light.desk") == ("off" if is_off else "on")


def test_a_second_end_puts_back_what_was_before_the_first(house: House) -> None:
    before = house.value("light.kitchen", "brightness")
    house.say("dim the kitchen light to 35 percent for 20 minutes")
    house.say("dim the kitchen light to 60 percent for 40 minutes")
    assert [due for due, _ in house.planned()] == ["09:40"]
    house.pass_by(40)
    assert house.value("light.kitchen", "brightness") == before


def test_an_end_that_a_command_brought_about_for_some_is_left_for_the_others(house: House) -> None:
    house.say("switch on the desk lamp and the hallway light for 10 minutes")
    house.say("turn off the hallway light")
    assert house.planned() == [("09:10", "turn off the desk lamp")]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("dim the kitchen light to 35 percent for 10 minutes", "dim the kitchen light to 35 percent for 40 minutes"),
        ("switch the kitchen light off for 10 minutes", "keep the kitchen light off for 40 minutes"),
    ],
)
def test_a_later_end_for_what_is_so_already_takes_the_place_of_the_first(first: str, then: str, house: House) -> None:
    house.say(first)
    house.say(then)
    assert [due for due, _ in house.planned()] == ["09:40"]
    house.pass_by(40)
    assert house.state("light.kitchen") == "on"


def test_a_later_end_that_opens_a_door_is_asked_about_again(house: House) -> None:
    house.live.registry.report("lock.front_door", state="unlocked")
    house.say("lock the front door for 10 minutes")
    house.say("yes")
    assert house.say("lock the front door for 40 minutes").outcome is Outcome.ASK
    assert [due for due, _ in house.planned()] == ["09:10"]


def test_what_is_asked_back_keeps_the_end(house: House) -> None:
    assert house.say("unlock the door for 3 minutes").outcome is Outcome.ASK
    house.say("the back door")
    house.say("yes")
    assert house.planned() == [("09:03", "lock the back door")]


def test_the_end_is_on_disk_before_anything_moves(open_house: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    first = open_house()

    def crash(*_: object, **__: object) -> None:
        raise SystemExit

    monkeypatch.setattr(first.live.agent._acting.executor, "execute", crash)
    with pytest.raises(SystemExit):
        first.say("switch on the desk lamp for 12 minutes")
    assert [text for _, text in open_house().planned()] == ["turn off the desk lamp"]


def test_a_value_that_cannot_be_put_back_after_all_is_said(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = house.live.agent._acting.executor._mover.adapter
    read = type(adapter).read

    def forgetful(self: object, device_id: str) -> object:
        device = read(self, device_id)
        is_before = device.attributes.get("brightness") == 255
        return replace(device, attributes={}) if device_id == "light.kitchen" and is_before else device

    monkeypatch.setattr(type(adapter), "read", forgetful)
    reply = house.say("dim the kitchen light to 35 percent for 20 minutes")
    assert reply.say == "Set the kitchen light to 35 %. I cannot take back what I did with the kitchen light."
    assert house.planned() == []


@pytest.mark.parametrize(
    "word", ["cancel", "stop", "no", "nope", "forget it", "cancel it", "undo", "cancel the sprinkler"]
)
def test_calling_off_ends_what_was_begun_for_a_while(word: str, house: House) -> None:
    house.say("run the sprinkler for 15 minutes")
    assert house.say(word).say == "Closed the sprinkler."
    assert (house.state("valve.sprinkler"), house.planned()) == ("closed", [])


def test_calling_off_an_end_of_what_was_so_already_is_asked_about(house: House) -> None:
    house.say("keep the kitchen light on for 15 minutes")
    assert house.say("cancel").say == "Turn off the kitchen light?"
    house.say("no")
    assert (house.state("light.kitchen"), len(house.planned())) == ("on", 1)


def test_calling_off_opens_no_door(house: House) -> None:
    house.live.registry.report("lock.back_door", state="unlocked")
    house.say("lock the back door for 15 minutes")
    house.say("yes")
    house.say("cancel")
    assert (house.state("lock.back_door"), house.planned()) == ("locked", [])


@pytest.mark.parametrize(
    ("first", "then", "left"),
    [
        ("turn the bedside lamp red for 5 minutes", "turn off the bedside lamp", 0),
        ("turn the bedside lamp red for 5 minutes", "make the bedside lamp green", 0),
        ("turn the bedside lamp red for 5 minutes", "set the bedside lamp to 30 percent", 1),
        ("desk lamp 20 percent for 5 minutes", "set it to 50 percent", 0),
        ("turn off the kitchen light for 5 minutes", "turn off the kitchen light", 0),
        ("run the sprinkler for 15 minutes", "open the sprinkler", 1),
        ("run the sprinkler for 15 minutes", "is the sprinkler on", 1),
    ],
)
def test_a_later_command_takes_the_place_of_an_end(first: str, then: str, left: int, house: House) -> None:
    house.say(first)
    house.say(then)
    assert len(house.planned()) == left


def test_a_door_that_is_locked_once_more_stays_locked(house: House) -> None:
    house.live.registry.report("lock.back_door", state="unlocked")
    house.say("lock the back door for 5 minutes")
    house.say("yes")
    assert "already" in house.say("lock the back door").say
    house.pass_by(6)
    assert house.state("lock.back_door") == "locked"


def test_a_later_end_of_what_needed_a_yes_is_asked_about(house: House) -> None:
    house.say("unlock the front door for 5 minutes")
    house.say("yes")
    assert house.say("make it ten hours").say == "Lock the front door at 19:00 instead?"
    assert house.planned() == [("09:05", "lock the front door")]
    house.say("yes")
    assert house.planned() == [("19:00", "lock the front door")]


def test_another_door_instead_locks_the_first(house: House) -> None:
    house.say("unlock the front door for 5 minutes")
    house.say("yes")
    house.say("no, the back door")
    house.say("yes")
    assert (house.state("lock.front_door"), house.state("lock.back_door")) == ("locked", "unlocked")
    assert house.planned() == [("09:05", "lock the back door")]


def test_a_question_about_what_is_so_already_speaks_of_no_end(house: House) -> None:
    house.live.registry.report("switch.alarm", state="off")
    assert house.say("turn off the burglar alarm for 5 minutes").say == "Turn off the burglar alarm?"
