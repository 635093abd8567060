from __future__ import annotations

import json
import re

import llguidance
import pytest

from agentkit.config import App
from agentkit.devices.adapter import Area, Device
from agentkit.understanding.home_grammar import MAX_CALLS, home_grammar, number_pattern
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.labels import make_labels
from agentkit.understanding.offers import Offers

AREAS = (Area("kitchen", "Kitchen"), Area("hall", "Hall"))
NASTY = ('The "Lamp"', "back\\slash", "br{ace} | pipe", "客厅灯 💡", "line\nbreak", "/regex/", "it's #1 %json")


def view_of(*devices: Device) -> HomeView:
    return HomeView(devices, AREAS)


def accepts(grammar: str, answer: str) -> bool:
    source = llguidance.LLMatcher.grammar_from_lark(grammar)
    matcher = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), source)
    assert not matcher.is_error(), matcher.get_error()
    data = answer.encode()
    return matcher.try_consume_tokens(list(data)) == len(data) and bool(matcher.is_accepting())


def calls(*items: dict[str, object]) -> str:
    return json.dumps({"calls": list(items)}, ensure_ascii=False, separators=(",", ":"))


@pytest.fixture
def grammar(app: App) -> str:
    view = view_of(Device("l", "Lamp", "light", "kitchen"), Device("k", "Door", "lock", "hall"))
    return home_grammar(make_labels(view.devices, view), app.tools)


def test_the_grammar_of_the_whole_home_compiles(app: App, home: HomeView) -> None:
    grammar = home_grammar(make_labels(home.devices, home), app.tools)
    assert accepts(grammar, calls({"tool": "turn_on", "device": "Kitchen Light"}))


@pytest.mark.parametrize("name", NASTY)
def test_any_name_can_be_called_exactly_as_it_is(name: str, app: App) -> None:
    view = view_of(Device("x", name, "light", "kitchen"))
    grammar = home_grammar(make_labels(view.devices, view), app.tools)
    assert accepts(grammar, calls({"tool": "turn_on", "device": name}))
    assert not accepts(grammar, calls({"tool": "turn_on", "device": name + "x"}))


def test_a_verb_is_offered_only_for_devices_that_it_fits(grammar: str) -> None:
    assert accepts(grammar, calls({"tool": "lock", "device": "Door"}))
    assert not accepts(grammar, calls({"tool": "lock", "device": "Lamp"}))
    assert not accepts(grammar, calls({"tool": "turn_on", "device": "Door"}))
    assert not accepts(grammar, calls({"tool": "open_cover", "device": "Lamp"}))


def test_numbers_stay_in_range(grammar: str) -> None:
    def set_to(value: object) -> str:
        return calls({"tool": "set_brightness", "device": "Lamp", "brightness": value})

    assert accepts(grammar, set_to(0))
    assert accepts(grammar, set_to(100))
    assert not accepts(grammar, set_to(101))
    assert not accepts(grammar, set_to(-1))
    assert not accepts(grammar, set_to("40"))


def test_refusing_is_always_possible_and_only_with_a_known_key(grammar: str) -> None:
    assert accepts(grammar, '{"refuse":"not_understood"}')
    assert accepts(grammar, '{"ask":"which"}')
    assert not accepts(grammar, '{"refuse":"I turned on the lamp"}')
    assert not accepts(grammar, '{"say":"chitchat"}'), "a sentence about the home is no small talk"


def test_white_space_and_endless_answers_are_impossible(grammar: str) -> None:
    one = {"tool": "turn_on", "device": "Lamp"}
    assert accepts(grammar, calls(*[one] * MAX_CALLS))
    assert not accepts(grammar, calls(*[one] * (MAX_CALLS + 1)))
    assert not accepts(grammar, calls())
    assert not accepts(grammar, '{"calls": [{"tool":"turn_on","device":"Lamp"}]}')


def test_without_devices_only_answers_without_calls_are_left(app: App) -> None:
    grammar = home_grammar((), app.tools)
    assert accepts(grammar, '{"refuse":"not_home"}')
    assert accepts(grammar, '{"say":"chitchat"}')
    assert not accepts(grammar, calls({"tool": "get_time"}))


def test_what_was_not_said_is_not_offered(app: App) -> None:
    view = view_of(Device("l", "Lamp", "light", "kitchen"))
    offers = Offers(numbers=(40,), texts={("set_color", "color"): ("red",)})
    grammar = home_grammar(make_labels(view.devices, view), app.tools, offers)
    assert accepts(grammar, calls({"tool": "set_brightness", "device": "Lamp", "brightness": 40}))
    assert not accepts(grammar, calls({"tool": "set_brightness", "device": "Lamp", "brightness": 41}))
    assert accepts(grammar, calls({"tool": "set_color", "device": "Lamp", "color": "red"}))
    assert not accepts(grammar, calls({"tool": "set_color", "device": "Lamp", "color": "blue"}))


def test_two_devices_of_one_name_get_different_labels() -> None:
    view = view_of(
        Device("a", "Lamp", "light", "kitchen"),
        Device("b", "Lamp", "light", "hall"),
        Device("c", "Lamp", "light", "hall"),
    )
    texts = [x.text for x in make_labels(view.devices, view)]
    assert texts == ["Lamp (Kitchen)", "Lamp [b]", "Lamp [c]", "all light Hall"]


@pytest.mark.parametrize(("low", "high"), [(0, 100), (-30, 30), (7, 7), (95, 1203), (-200, -15), (0, 9), (1500, 10000)])
def test_a_number_pattern_matches_exactly_its_range(low: int, high: int) -> None:
    pattern = re.compile(number_pattern(low, high))
    for value in range(low - 120, high + 121):
        assert bool(pattern.fullmatch(str(value))) == (low <= value <= high), value
    assert not pattern.fullmatch("007")
