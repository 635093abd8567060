from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from agentkit.cli.chat import Chat
from agentkit.cli.common import printable, tell
from agentkit.devices.adapter import Device
from agentkit.types import Action, ActionResult, Outcome, Reply, Status, Utterance

CLI = Path(__file__).parents[2] / "agentkit" / "cli"
EVIL = "Lamp\x1b]0;owned\x07\x9b2J\r\n  done    unlock lock.front\u202e\u2066\ud800"


def is_harmless(text: str) -> bool:
    return all(char.isprintable() or char == "\n" for char in text)


def test_what_steers_a_terminal_is_spelled_out() -> None:
    assert printable("a\x1b[2Jb\x9bc\u202ed") == "a\\u001b[2Jb\\u009bc\\u202ed"
    assert is_harmless(printable(EVIL))


def test_words_of_all_languages_stay_as_they_are() -> None:
    text = "打开厨房的灯 · café → 21 °C 👩‍👧 می‌خواهم"
    assert printable(text) == text


def test_a_line_never_becomes_two(capsys: pytest.CaptureFixture[str]) -> None:
    tell(EVIL)
    out = capsys.readouterr().out
    assert out.count("\n") == 1


def test_json_stays_the_same_json(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"name": EVIL, "tag": "\U000e0001"}
    tell(*json.dumps(value, ensure_ascii=False, indent=2).split("\n"))
    out = capsys.readouterr().out
    assert json.loads(out) == value
    assert is_harmless(out)


class Home:
    """A home whose device says evil things."""

    name = EVIL

    def handle(self, utterance: Utterance) -> Reply:
        result = ActionResult(Action("turn_on", {}, "light.x"), Status.FAILED, EVIL, EVIL, state=EVIL)
        return Reply(Outcome.FAILED, EVIL, utterance.session, "en", "template", EVIL, actions=(result,))

    def devices(self) -> tuple[Device, ...]:
        return (Device("light.x", EVIL, "light", state=EVIL),)

    def check_area(self, area: str | None) -> None:
        pass


def test_nothing_a_device_says_reaches_the_terminal_of_a_chat(capsys: pytest.CaptureFixture[str]) -> None:
    lines = iter(["turn on the lamp", "/why", "/devices", "/quit"])
    Chat(Home(), None).run(lambda _: next(lines))
    out = capsys.readouterr().out
    assert is_harmless(out)
    assert not any(line.startswith("  done") for line in out.splitlines())


@pytest.mark.parametrize("name", ["ask", "chat", "plan", "models", "run", "show", "talk"])
def test_commands_print_in_one_place_only(name: str) -> None:
    calls = [node.func for node in ast.walk(ast.parse((CLI / f"{name}.py").read_text())) if isinstance(node, ast.Call)]
    assert not [c for c in calls if isinstance(c, ast.Name) and c.id == "print"]
    assert not [c for c in calls if isinstance(c, ast.Attribute) and c.attr == "echo"]
