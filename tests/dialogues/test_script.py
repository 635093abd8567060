from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.config import App
from agentkit.dialogues.script import find_files, read_dialogues
from agentkit.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("say: x\n", ":1: wanted a list of dialogues"),
        ("[]\n", ":1: wanted a list of dialogues"),
        ("- turns: [{say: x}]\n", ":1: missing key 'outcome'"),
        ("- turns:\n  - {outcome: done}\n", ":2: a turn wants one of say and wait"),
        ("- turns:\n  - {say: x, wait: 1 s, outcome: done}\n", ":2: a turn wants one of say and wait"),
        ("- turns: []\n", ":1: turns is empty"),
        ("- turn: []\n", ":1: unknown key 'turn' in [0]; did you mean 'turns'?"),
        ("- turns:\n  - {say: x, outcome: dun}\n", ":2: [0].turns[0].outcome is 'dun', wanted one of done"),
        ("- turns:\n  - {wait: 10 parsecs}\n", ":2: [0].turns[0].wait is '10 parsecs', wanted a time such as"),
        ("- turns:\n  - {wait: 999999 days}\n", ":2: [0].turns[0].wait is '999999 days'"),
        (
            "- turns:\n  - {say: x, outcome: done, states: {fan.nort: 'on'}}\n",
            "'fan.nort' is no device of home.yaml; did",
        ),
        (
            "- turns:\n  - {say: x, outcome: done, calls: [{tool: turn_om}]}\n",
            "tool 'turn_om' is no tool of this app; did",
        ),
        ("- turns:\n  - {say: x, outcome: done, calls: [{tool: turn_on, targets: [y]}]}\n", ":2: 'y' is no device"),
        ("- given: {now: soon}\n  turns: [{wait: 1 s}]\n", ":1: [0].given.now is 'soon', wanted a local time"),
        (
            "- given: {now: '9999-12-31'}\n  turns: [{wait: 1 s}]\n",
            ":1: [0].given.now is '9999-12-31', wanted a local time",
        ),
        ("- given: {devices: {fan.north: }}\n  turns: [{wait: 1 s}]\n", "[0].given.devices.fan.north is empty, wanted"),
        ("- turns:\n  - {wait: 1 s, planned: true}\n", ":2: [0].turns[0].planned is True, wanted how many"),
        ("- given: {area: moon}\n  turns: [{wait: 1 s}]\n", ":1: area 'moon' is no area of this home"),
        ("- given: {policy: 3}\n  turns: [{wait: 1 s}]\n", ":1: policy is no list of rules"),
        ("- given: {pin: 12}\n  turns: [{wait: 1 s}]\n", ":1: [0].given.pin is 12, wanted 4 to 12 digits"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(app: App, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        read_dialogues(path, app)
    assert message in str(caught.value)
    assert "x.yaml:" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_are_those_of_the_app_or_those_named(app: App, tmp_path: Path) -> None:
    assert [p.name for p in find_files(app.path)] == ["dialogues.yaml"]
    (tmp_path / "b.yaml").write_text("")
    (tmp_path / "a.yaml").write_text("")
    assert find_files(app.path, [tmp_path, tmp_path / "a.yaml"]) == (tmp_path / "a.yaml", tmp_path / "b.yaml")


@pytest.mark.parametrize("given", [["nowhere"], []])
def test_nothing_to_run_is_a_mistake(tmp_path: Path, given: list[str]) -> None:
    with pytest.raises(ConfigError, match=r"docs/app\.md"):
        find_files(tmp_path, [tmp_path / name for name in given])
