"""Words of a policy are found however a name is spelled, and only where a reader finds them."""

from __future__ import annotations

import pytest

from agentkit.agent.spelling import has_word, spelled


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("Garage Doors", "door"),
        ("GarageDoor2", "door"),
        ("Frontdoor", "door"),
        ("dôor", "door"),
        ("d-o-o-r", "door"),
        ("D o o r relay", "door"),
        ("d\u043e\u043er", "door"),
        ("Fire place", "fireplace"),
        ("Hotplates", "hot plate"),
        ("\u2ed4禁", "门"),
        ("\u2fa8禁", "门"),
        ("車庫 門", "车库门"),
        ("大门Door", "door"),
        ("Haustür", "haustür"),
        ("Door 2", "*door"),
        ("Maglock", "*lock"),
        ("Unlockbutton", "unlock"),
        ("d00r", "door"),
        ("door\u3164relay", "door"),
        ("2号门", "*门"),
        ("门2号", "*门"),
    ],
)
def test_a_word_is_found_in_every_spelling(name: str, word: str) -> None:
    assert has_word(spelled(name), ("ferry", word))


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("Outdoor plug", "door"),
        ("Indoors", "door"),
        ("Doorbell", "door"),
        ("Clock", "*lock"),
        ("Blocks", "lock"),
        ("Motor", "tor"),
        ("Las Vegas sign", "gas"),
        ("Door mat", "*door"),
        ("Diffuser", "fuse"),
        ("Gateway", "gate"),
    ],
)
def test_a_word_is_not_found_in_another_word(name: str, word: str) -> None:
    assert not has_word(spelled(name), ("ferry", word))
