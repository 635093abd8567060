from __future__ import annotations

from agentkit.devices.adapter import Area, Device
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import normalise
from agentkit.understanding.shortlist import MAX_DEVICES, shortlist
from agentkit.understanding.words import Words


def names(text: str, view: HomeView, words: Words) -> list[str]:
    found = shortlist(normalise(text, words.language, words), view, words, Lexicon(view, words))
    return [d.name for d in found.devices]


def test_the_named_device_comes_first(home: HomeView, words: dict[str, Words]) -> None:
    assert names("the bedside lamp is my favourite", home, words["en"])[0] == "Bedside Lamp"
    assert names("台灯真好看", home, words["zh"])[0] == "Desk Lamp"


def test_one_slip_of_hearing_still_finds_the_device(home: HomeView, words: dict[str, Words]) -> None:
    assert names("do something with the kitchin radio", home, words["en"])[0] == "Kitchen Radio"


def test_a_sentence_about_something_else_has_no_evidence(home: HomeView, words: dict[str, Words]) -> None:
    text = normalise("who won the election", "en", words["en"])
    assert shortlist(text, home, words["en"], Lexicon(home, words["en"])).evidence == ()


def test_a_large_home_is_cut_to_a_few_devices(words: dict[str, Words]) -> None:
    devices = tuple(Device(f"l{n}", f"Spot {n}", "light", "hall") for n in range(200))
    view = HomeView(devices, (Area("hall", "Hall"),))
    found = names("the lights in the hall, spot 150", view, words["en"])
    assert len(found) == MAX_DEVICES
    assert found[0] == "Spot 150"
