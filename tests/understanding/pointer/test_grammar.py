from __future__ import annotations

from dataclasses import replace

import pytest

from agentkit.config import App
from agentkit.decoder.decoder import Decoder
from agentkit.decoder.grammar import Grammar
from agentkit.errors import GrammarError
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.offers import Offers
from agentkit.understanding.pointer.grammar import pointer_grammar, verbs_of, with_values
from agentkit.understanding.pointer.offered import Offered, offer
from agentkit.understanding.template_map import TemplateMap


@pytest.fixture(scope="module")
def offered(home: HomeView) -> Offered:
    """d0 = a light of the kitchen, d1 = a lock."""
    light = next(d for d in home.devices if d.type == "light" and d.area == "kitchen")
    lock = next(d for d in home.devices if d.type == "lock")
    return offer([light, lock], replace(home, speaker_area=None))


def takes(answer: str, offered: Offered, app: App, templates: TemplateMap, decoder: Decoder, *said: int) -> bool:
    verbs = with_values(verbs_of(app.tools, templates.phrases), Offers(numbers=said))
    values = {name: verb.values for name, verb in verbs.items()}
    matcher = Grammar.compile(pointer_grammar(offered.shape, values, app.tools), decoder.tokenizer).start()
    try:
        for token_id in decoder.tokenizer.encode(answer, allow_special=True):
            matcher.consume(token_id)
    except GrammarError:
        return False
    return True


@pytest.mark.parametrize(
    "answer",
    [
        "[turn_on][d0]",
        "[turn_off][light][a0]",
        "[turn_off][light][all]",
        "[turn_off][light][all][except][d0]",
        "[lock][d1]",
        "[lock][lock][here]",
        "[turn_on][d0][lock][d1]",
        "[wish][turn_on][light][here]",
        "[adjust_brightness][d0][more]",
        "[refuse][negation]",
        "[ask][which]",
    ],
)
def test_pointers_that_exist_are_admitted(
    answer: str, offered: Offered, app: App, templates: TemplateMap, decoder: Decoder
) -> None:
    assert takes(answer, offered, app, templates, decoder)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("[turn_on][d2]", "there is no third device"),
        ("[turn_on][d1]", "a lock is not switched on"),
        ("[lock][d0]", "a light has no lock"),
        ("[turn_on][fan][all]", "there is no fan"),
        ("[turn_on][light][a1]", "no light is in the room of the lock"),
        ("[unlock][light][here]", "no light can be unlocked"),
        ("[set_brightness][d0]50", "no number was said"),
        ("[set_color][d0]red", "no colour was said"),
        ("[media_pause][media_player][all]", "there is no player"),
        ("turn on", "it is no answer"),
    ],
)
def test_everything_else_is_not(
    answer: str, why: str, offered: Offered, app: App, templates: TemplateMap, decoder: Decoder
) -> None:
    assert not takes(answer, offered, app, templates, decoder), why


def test_only_said_numbers_are_values(offered: Offered, app: App, templates: TemplateMap, decoder: Decoder) -> None:
    assert takes("[set_brightness][d0]40", offered, app, templates, decoder, 40)
    assert not takes("[set_brightness][d0]50", offered, app, templates, decoder, 40)


def test_empty_home_can_only_be_refused(home: HomeView, app: App, templates: TemplateMap, decoder: Decoder) -> None:
    nothing = offer([], HomeView())
    assert takes("[refuse][not_home]", nothing, app, templates, decoder)
    assert not takes("[turn_on]", nothing, app, templates, decoder)


def test_devices_of_the_same_type_and_room_need_no_other_grammar(home: HomeView) -> None:
    view = replace(home, speaker_area=None)
    kitchen = [d for d in home.devices if d.type == "light" and d.area == "kitchen"]
    hall = next(d for d in home.devices if d.type == "light" and d.area == "hallway")
    first, second, elsewhere = (offer([d], view) for d in (*kitchen[:2], hall))
    assert first.devices != second.devices
    assert first.shape == second.shape == elsewhere.shape
    assert offer([kitchen[0], hall], view).shape != offer(kitchen[:2], view).shape
