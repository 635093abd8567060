"""Commands to what the home lacks: the refusal names it, and nothing else is moved in its place."""

from __future__ import annotations

import pytest

from agentkit.types import Kind
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.selecting import select
from tests.understanding.conftest import Ask


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("turn every lamp in the orangery on", "orangery"),
        ("turn on all the lights in the orangery", "orangery"),
        ("switch the color lampje 4 to green", "lampje 4"),
        ("dim gustav's switch to 35 %", "gustav's switch"),
        ("set gustav to 35 percent", "gustav"),
        ("make the zeppelin purple", "zeppelin"),
        ("zeppelin_west on", "zeppelin_west"),
        ("turn on light.zeppelin_west_2", "light.zeppelin_west_2"),
        ("turn the switch called rumpel off", "rumpel"),
        ("light turn off la farola grande", "la farola grande"),
        ("turn up the volume of the gramophone", "gramophone"),
        ("turn on ytbox 5 k", "ytbox 5 k"),
        ("switch off the home zeppelin light", "home zeppelin light"),
        ("打开鱼缸灯", "鱼缸灯"),
        ("把鱼缸水泵关掉", "鱼缸水泵"),
        ("把阳光房的灯调到50%", "阳光房的灯"),
        ("关掉加湿器3号", "加湿器3号"),
    ],
)
def test_what_the_home_lacks_is_named(said: str, name: str, ask: Ask) -> None:
    found = ask(said)

    assert (found.kind, found.reply_key) == (Kind.REFUSE, "unknown_device")
    assert found.reply_values["name"] == name
    assert not found.intents


def test_the_room_that_lacks_it_is_told(ask: Ask) -> None:
    found = ask("open the trapdoor in the kitchen")

    assert found.reply_values == {"name": "trapdoor", "area": ("kitchen",)}


@pytest.mark.parametrize("said", ["turn on the dining tabel lampp", "switch the dehumidifierr off"])
def test_what_is_spelled_almost_like_a_device_is_asked_about(said: str, ask: Ask) -> None:
    found = ask(said)

    assert found.kind is not Kind.CALLS or found.needs_confirmation


def test_a_misspelled_name_is_proposed(ask: Ask, home: HomeView) -> None:
    found = ask("turn on the flor lmp")

    assert [d.id for i in found.intents for d in select(i.selector, home)] == ["light.floor_lamp"]
    assert found.needs_confirmation


def test_another_number_is_no_misspelling(ask: Ask) -> None:
    assert ask("turn on the kitchn lightt 7").kind is Kind.REFUSE


@pytest.mark.parametrize("said", ["turn on something", "switch the thing off"])
def test_what_may_be_any_thing_is_asked_for(said: str, ask: Ask) -> None:
    found = ask(said)

    assert found.kind is not Kind.CALLS


@pytest.mark.parametrize(
    "said",
    [
        "come on",
        "rock on",
        "era the lamp should be dim",
        "what is the zeppelin",
        "is the zeppelin on?",
        "never turn on the zeppelin",
        "i turned the zeppelin on",
    ],
)
def test_talk_is_no_command_to_something_unknown(said: str, ask: Ask) -> None:
    found = ask(said)

    assert found.kind is not Kind.CALLS
    assert found.reply_key != "unknown_device"


@pytest.mark.parametrize("said", ["turn on the zeppelin when it rains", "do not turn the zeppelin on"])
def test_a_guard_beside_something_unknown_still_forbids(said: str, ask: Ask) -> None:
    assert ask(said).kind is not Kind.CALLS


@pytest.mark.parametrize(
    ("said", "name"), [("turn on the desk lamp in the kitchen", "desk lamp"), ("打开卧室的咖啡机", "咖啡机")]
)
def test_a_thing_of_another_room_is_lacking_here(said: str, name: str, ask: Ask) -> None:
    found = ask(said)

    assert (found.kind, found.reply_key) == (Kind.REFUSE, "unknown_device")
    assert found.reply_values["name"] == name
    assert found.reply_values["area"]


def test_another_one_of_a_series_is_lacking(ask: Ask) -> None:
    assert ask("turn on lamp 9").reply_values["name"] == "lamp 9"


def test_a_long_unknown_word_before_a_mere_particle_is_a_name(ask: Ask) -> None:
    assert ask("fernseher off").reply_values["name"] == "fernseher"


@pytest.mark.parametrize("said", ["lokc the front door", "opne the garage door", "colse the bedroom curtain"])
def test_swapped_letters_are_asked_about(said: str, ask: Ask) -> None:
    found = ask(said)

    assert len(found.intents) == 1
    assert found.needs_confirmation


@pytest.mark.parametrize("said", ["set the volume between 19 and 22 percent", "把音量设在19到22之间"])
def test_a_range_is_refused_as_one(said: str, ask: Ask) -> None:
    found = ask(said)

    assert (found.kind, found.reply_values["kind"]) == (Kind.REFUSE, "between")
