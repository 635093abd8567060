"""docs/app.md tells the truth: its snippets work on a new app, and it names every key that can be written."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from agentkit.agent.sentences import GROUPS, TABLES
from agentkit.assemble import Live, build_agent
from agentkit.cli.main import main
from agentkit.cli.new import write_app
from agentkit.config import KEYS, Limits, load_app
from agentkit.dialogues.shape import KEYS as DIALOGUE_KEYS
from agentkit.home_file import AREA_KEYS, DEVICE_KEYS, FLOOR_KEYS, HOME_KEYS
from agentkit.planned import ScheduleRules
from agentkit.policy_rules import KEYS as RULE_KEYS
from agentkit.types import Outcome, Reply, Utterance
from agentkit.understanding.talk import Talk
from agentkit.understanding.template_shape import KEYS as TEMPLATE_KEYS
from agentkit.understanding.words import Words
from agentkit.yaml_lines import load_yaml, parse_yaml

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "docs" / "app.md").read_text("utf-8")
BLOCKS = re.findall(r"```(?:python|yaml)\n# (\S+\.(?:py|yaml))\n(.*?)```", GUIDE, re.S)
NO_KEYS = {"language", "talk", "time", "timers", "folded", "parsed"}
"""Fields of Words that come from elsewhere than words/LANGUAGE.yaml, or from its other fields."""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Live:
    """A new app with everything that the guide adds to it."""
    folder = tmp_path_factory.mktemp("guide") / "my_home"
    write_app(folder)
    for name, text in BLOCKS:
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        if file.suffix == ".py":
            file.write_text(text, "utf-8")
            continue
        before = load_yaml(file) if file.is_file() else {}
        after = _added(before, parse_yaml(text, file))
        file.write_text(json.dumps(after, ensure_ascii=False), "utf-8")  # JSON is YAML
    loaded = load_app(folder)
    return build_agent(loaded, loaded.home)


def _added(before: Any, more: Any) -> Any:
    if not isinstance(before, dict):
        return more
    return {**before, **{key: _added(before.get(key), value) for key, value in more.items()}}


def say(app: Live, text: str) -> Reply:
    return app.agent.handle(Utterance(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("turn on the north fan", "Turned on the north fan."),
        ("set the north fan to 40 percent", "Set the north fan to 40 %."),
        ("set the speed of the north fan to 40%", "Set the north fan to 40 %."),
        ("把北风扇调到40%", "已将北风扇的风速调到40%。"),
        ("is the north fan on?", "Yes, the north fan is on."),
        ("is the grow lamp on?", "No, the grow lamp is not on."),
        ("how is the north fan", "The north fan is on."),
        ("北风扇开着吗", "是的，北风扇开着。"),
        ("set the north fan to 0 percent", "The north fan cannot stand still at a speed."),
    ],
)
def test_snippets_work_on_a_new_app(app: Live, text: str, said: str) -> None:
    say(app, "turn on the north fan")
    assert say(app, text).say == said


@pytest.mark.parametrize("text", ["never set the north fan to 40 percent", "不要把北风扇调到40%"])
def test_snippets_do_not_run_what_was_not_asked_for(app: Live, text: str) -> None:
    assert say(app, text).outcome is Outcome.REFUSED


def test_conversation_of_the_guide_is_one_and_holds(tmp_path: Path) -> None:
    text = re.search(r"conversations\n.*?```yaml\n(.*?)```", GUIDE, re.S)
    assert text
    write_app(tmp_path / "my_home")
    (tmp_path / "my_home" / "tests" / "guide.yaml").write_text(text[1], "utf-8")
    assert main(["test", str(tmp_path / "my_home")]) == 0


def test_every_snippet_is_taken() -> None:
    assert len(BLOCKS) >= 10


def named(section: str) -> set[str]:
    """Words in code spans of a section."""
    text = re.search(rf"^## {re.escape(section)}\n(.*?)(?=^## |\Z)", GUIDE, re.S | re.M)
    assert text, section
    return {word for span in re.findall(r"`([^`\n]+)`", text[1]) for word in re.split(r"[^\w.]+", span)}


@pytest.mark.parametrize(
    ("section", "keys"),
    [
        ("app.yaml", {*KEYS, *RULE_KEYS} - {"limits", "schedule"}),
        ("home.yaml", {*HOME_KEYS, *AREA_KEYS, *FLOOR_KEYS, *DEVICE_KEYS}),
        ("templates.yaml", {*TEMPLATE_KEYS}),
        ("words/LANGUAGE.yaml", {f.name for f in fields(Words)} - NO_KEYS),
        ("replies/LANGUAGE.yaml", {*GROUPS, *TABLES}),
        ("dialogue/LANGUAGE.yaml", {f.name for f in fields(Talk)}),
        ("Testing an app by conversations", {*DIALOGUE_KEYS} - {"name", "turns"}),
    ],
)
def test_every_key_is_named(section: str, keys: set[str]) -> None:
    assert keys - named(section) == set()


def test_limits_are_named_with_their_defaults() -> None:
    for limit in fields(Limits):
        assert f"| `limits.{limit.name}` | {limit.default} |" in GUIDE
    for rule in fields(ScheduleRules):
        assert re.search(rf"\| `schedule\.{rule.name}` \| `?{rule.default}`? \|", GUIDE)


def test_types_in_the_http_guide_are_those_of_the_smart_home() -> None:
    text = (ROOT / "docs" / "http.md").read_text("utf-8")
    told = set(re.findall(r"`([a-z_]+)`", text.split("The smart home's tools know")[1].split("\n\n")[0]))

    tools = load_app(ROOT / "apps" / "smart_home").tools.values()
    assert told == {kind for tool in tools for kind in tool.types}
