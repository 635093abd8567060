from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.config import App, load_app
from agentkit.dialogues.mutate import KINDS, NOISE, Mutator
from agentkit.yaml_lines import load_mapping

SENTENCES = ("Turn on the North Fan, please!", "把北风扇打开。", "set the grow lamp to 3.5 at 7:30", "yes", "好")


@pytest.fixture(scope="module")
def smart_home() -> App:
    return load_app(Path(__file__).parents[2] / "apps" / "smart_home")


def test_a_seed_always_makes_the_same_mutations(app: App) -> None:
    def made(seed: int) -> list[str]:
        return [m.text for text in SENTENCES for m in Mutator(app.home, seed).mutations(text)]

    assert made(1) == made(1)
    assert made(1) != made(2)


@pytest.mark.parametrize("text", SENTENCES)
def test_a_mutation_is_never_the_sentence_itself_nor_made_twice(app: App, text: str) -> None:
    for seed in range(20):
        found = [m.text for m in Mutator(app.home, seed).mutations(text)]
        assert text not in found
        assert len(found) == len(set(found))
        assert all(m.strip() for m in found)


def test_every_kind_is_made_in_both_languages(smart_home: App) -> None:
    for text in ("Please open the garage door.", "请把厨房灯打开。"):
        assert {m.kind for m in Mutator(smart_home.home).mutations(text)} == set(KINDS)


def test_numbers_and_times_keep_their_points(app: App) -> None:
    bare = {m.kind: m.text for m in Mutator(app.home).mutations("Set it to 3.5, at 7:30!")}["bare"]
    assert bare == "set it to 3.5 at 7:30"


def test_a_slip_never_becomes_the_word_of_another_name(smart_home: App) -> None:
    names = [name.casefold() for d in (*smart_home.home.devices, *smart_home.home.areas) for name in d.names]
    for path in NOISE.glob("*.yaml"):
        for group in load_mapping(path)["sounds_like"]:
            said = next((name for name in names if group[0] in name), None)
            if said is None:
                continue
            for seed in range(5):
                for mutation in Mutator(smart_home.home, seed).mutations(said):
                    assert mutation.kind != "homophone" or not any(mutation.text in name for name in names)
