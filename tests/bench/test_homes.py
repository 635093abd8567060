from __future__ import annotations

from pathlib import Path

from agentkit.bench.homes import homes_bench, sized
from agentkit.config import load_app

APP = Path(__file__).parents[2] / "apps" / "smart_home"


def test_a_home_is_filled_up_with_devices_of_new_names_in_new_rooms() -> None:
    home = load_app(APP).home
    large = sized(home, len(home.devices) + 25)
    names = [d.name for d in large.devices]
    assert len(large.devices) == len(home.devices) + 25
    assert len(set(names)) == len({d.name for d in home.devices}) + 25
    assert {d.area for d in large.devices} - {None} <= {a.id for a in large.areas}
    assert len(large.areas) == len(home.areas) + 3


def test_a_smaller_home_keeps_the_first_devices() -> None:
    home = load_app(APP).home
    assert sized(home, 10).devices == home.devices[:10]


def test_every_sentence_is_timed_in_every_home_and_the_sizes_are_compared() -> None:
    result = homes_bench(load_app(APP), sizes=(3, 12), rounds=1)
    assert result["n_sentences"] > 0
    assert {size: ms["n"] for size, ms in result["ms"].items()} == {3: result["n_sentences"], 12: result["n_sentences"]}
    assert result["ratio"] == result["ms"][12]["p50"] / result["ms"][3]["p50"]
