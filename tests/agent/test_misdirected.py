"""A thing that is unknown, elsewhere or one of two is named or asked about, and nothing is done in its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agentkit.assemble import Assembly, Live
from agentkit.config import load_app
from agentkit.types import Outcome, Reply, Utterance

APP = Path(__file__).parents[2] / "apps" / "smart_home"


@pytest.fixture(scope="module")
def live() -> Live:
    app = load_app(APP)
    return Assembly(app).open(app.home, pin="1234")


@pytest.fixture
def say(live: Live) -> Callable[[str], Reply]:
    return lambda text: live.agent.handle(Utterance(text, session="s", area="living_room"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("switch off the floor lamp and the sauna light", "the sauna light"),
        ("switch on the floor lamp and the fan in the cabin", "the fan in the cabin"),
        ("switch on the floor lamp and the tv in the cabin", "the tv in the cabin"),
        ("打开落地灯和桑拿房的灯", "桑拿房的灯"),
    ],
)
def test_a_thing_that_is_unknown_beside_a_known_one_is_named(text: str, name: str, say: Callable[[str], Reply]) -> None:
    reply = say(text)
    assert reply.outcome is Outcome.REFUSED
    assert name in reply.say


@pytest.mark.parametrize(
    "text",
    ["switch on the floor lamp or the kitchen light", "switch on the kitchen or hallway light", "打开落地灯或者厨房灯"],
)
def test_of_two_things_it_is_asked_which(text: str, say: Callable[[str], Reply]) -> None:
    reply = say(text)
    assert reply.outcome is Outcome.REFUSED
    assert "?" in reply.say or "？" in reply.say


@pytest.mark.parametrize("text", ["switch the floor lamp on or off", "is the floor lamp or the kitchen light on?"])
def test_other_words_with_or_are_no_choice(text: str, say: Callable[[str], Reply]) -> None:
    assert say(text).outcome in (Outcome.DONE, Outcome.ANSWER)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("switch on the hallway light in the kitchen", "hallway light"),
        ("switch on the hallway light in the kitchen at ten pm", "hallway light"),
        ("switch on the living room tv in the kitchen", "living room tv"),
        ("switch on the kitchen light in the bathroom", "kitchen light in the bathroom"),
        ("switch on the bedroom light in the bathroom", "bedroom light in the bathroom"),
        ("打开厨房的走廊灯", "走廊灯"),
    ],
)
def test_a_thing_of_one_room_is_not_looked_for_in_another(text: str, name: str, say: Callable[[str], Reply]) -> None:
    reply = say(text)
    assert reply.outcome is Outcome.REFUSED
    assert reply.calls == ()
    assert name in reply.say


@pytest.mark.parametrize(
    "text", ["switch on the kitchen light in the kitchen", "switch on the lights in the kitchen and the hallway"]
)
def test_a_thing_is_found_in_its_own_room(text: str, say: Callable[[str], Reply]) -> None:
    assert say(text).outcome is Outcome.DONE
