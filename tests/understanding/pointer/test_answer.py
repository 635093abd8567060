from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from agentkit.config import App
from agentkit.types import Intent
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.offers import Offers
from agentkit.understanding.pointer.answer import Answer, read_answer
from agentkit.understanding.pointer.grammar import verbs_of, with_values
from agentkit.understanding.pointer.offered import offer
from agentkit.understanding.template_map import TemplateMap

Read = Callable[..., Answer]


@pytest.fixture
def read(home: HomeView, app: App, templates: TemplateMap) -> Read:
    lights = [d for d in home.devices if d.type == "light"]
    locks = [d for d in home.devices if d.type == "lock"]

    def read_text(text: str, area: str | None = "kitchen") -> Answer:
        view = replace(home, speaker_area=area)
        offered = offer([*lights[:2], *locks[:1]], view)
        offers = Offers(numbers=(40,), texts={("set_color", "color"): ("red",)})
        verbs = with_values(verbs_of(app.tools, templates.phrases), offers)
        return read_answer(text, offered, verbs, app.tools, view, templates.phrases)

    return read_text


def only(answer: Answer) -> Intent:
    assert len(answer.intents) == 1
    return answer.intents[0]


def test_pointers_become_device_ids(read: Read, home: HomeView) -> None:
    lights = [d.id for d in home.devices if d.type == "light"]
    intent = only(read("[turn_on][d0][d1]"))
    assert (intent.tool, intent.selector.device_ids) == ("turn_on", tuple(lights[:2]))


def test_kind_in_a_room_is_every_device_of_it(read: Read, home: HomeView) -> None:
    room = next(d.area for d in home.devices if d.type == "light")
    wanted = tuple(d.id for d in home.devices if d.type == "light" and d.area == room)
    assert only(read("[turn_off][light][a0]")).selector.device_ids == wanted


def test_kind_here_is_the_speakers(read: Read, home: HomeView) -> None:
    answer = read("[turn_off][light][here]", area="kitchen")
    wanted = tuple(d.id for d in home.devices if d.type == "light" and d.area == "kitchen")
    assert only(answer).selector.device_ids == wanted
    assert answer.is_here


def test_kind_here_is_nothing_if_nobody_knows_where_here_is(read: Read) -> None:
    assert read("[turn_off][light][here]", area=None).refusal == "unknown_device"


def test_what_is_excepted_is_left_out(read: Read, home: HomeView) -> None:
    lights = [d.id for d in home.devices if d.type == "light"]
    answer = read("[turn_off][light][all][except][d0]")
    assert only(answer).selector.device_ids == tuple(lights[1:])
    assert [d.id for d in answer.left_out] == lights[:1]


def test_values_take_the_type_of_their_argument(read: Read) -> None:
    assert only(read("[set_brightness][d0]40")).args == {"brightness": 40}
    assert only(read("[set_color][d0]red")).args == {"color": "red"}


def test_more_and_less_are_the_apps_usual_steps(read: Read) -> None:
    more = only(read("[adjust_brightness][d0][more]")).args["step"]
    less = only(read("[adjust_brightness][d0][less]")).args["step"]
    assert isinstance(more, int)
    assert isinstance(less, int)
    assert less < 0 < more


def test_lock_is_a_verb_and_a_kind(read: Read, home: HomeView) -> None:
    locks = tuple(d.id for d in home.devices if d.type == "lock")
    assert only(read("[lock][lock][all]")).selector.device_ids == locks
    assert [i.tool for i in read("[lock][d2][turn_on][d0]").intents] == ["lock", "turn_on"]


@pytest.mark.parametrize(
    ("text", "why"), [("[refuse][negation]", "negation"), ("[ask][which]", "which"), ("", "unsure")]
)
def test_refusals_tell_why(text: str, why: str, read: Read) -> None:
    assert read(text).refusal == why


def test_wish_is_marked(read: Read) -> None:
    assert read("[wish][turn_on][d0]").is_wish
