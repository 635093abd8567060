"""A mistake in any file of an app is one line with file, line and key before the first sentence is heard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentkit.assemble import build_agent
from agentkit.cli.main import main
from agentkit.cli.new import write_app
from agentkit.config import load_app
from agentkit.errors import AgentKitError

BOMB = "a0: &a0 [x, x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10))
FAN = "id: x\ndevices:\n- id: a\n  name: A\n  type: fan\n"
ASK = "language: en\nintents:\n  Ask:\n    data:\n"
INTENT = "sentences: {en: sentences/en.yaml}\nintents:\n  Ask: {tool: turn_on}\n"


@pytest.fixture
def app(tmp_path: Path) -> Path:
    write_app(tmp_path / "app")
    return tmp_path / "app"


def start(app: Path) -> None:
    loaded = load_app(app)
    build_agent(loaded, loaded.home).warm_up()


def mistake(app: Path, file: str, text: str | bytes) -> str:
    """The one line that a file leads to."""
    path = app / file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    if file.startswith("sentences/"):
        (app / "templates.yaml").write_text(INTENT)
    with pytest.raises(AgentKitError) as caught:
        start(app)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def wrong(file: str, *rows: tuple[str | bytes, str]) -> Iterator[object]:
    for text, message in rows:
        yield pytest.param(file, text, message, id=f"{file}: {message}")


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        *wrong(
            "app.yaml",
            (f"name: x\nlimits: {{max_actions: {'9' * 5000}}}\n", ":2: max_actions is '999"),
            ("name: x\nlimits: {action_timeout_ms: 99999999999}\n", ":2: action_timeout_ms is 99999999999, wanted"),
            ("name: x\nlimits:\n  memory_s: -1\n", ":3: memory_s is -1, wanted more than 0"),
            ("name: x\nschedule: {missed_after_minutes: 999999999}\n", ":2: missed_after_minutes is 999999999"),
            ("name: x\nlanguages: [../en]\n", ":2: languages holds '../en', wanted codes"),
            ('name: x\nhome: "a\\0b"\n', "cannot be read"),
            ("name: x\nlimits:\n\tmax_actions: 3\n", ":3: broken YAML"),
            (b"name: caf\xe9\n", ":1: byte 0xe9 is not UTF-8"),
            ("name: x\nname: y\n", ":2: duplicate key 'name', first on line 1"),
            ("name: x\npolicy: " + "[" * 100_000, ":2: broken YAML"),
        ),
        *wrong(
            "home.yaml",
            (FAN + "  attributes:\n" + re.sub("(?m)^", "    ", BOMB), "values once"),
        ),
        *wrong(
            "words/en.yaml",
            ("kinds:\n  fan: [{a: b}]\n", ":1: kinds.fan[0] is a mapping, wanted a word"),
            ('verbs: {turn_on: [""]}\n', ":1: verbs.turn_on[0] is '', wanted a word"),
            ("levels: {half: [half]}\n", ":1: levels.half: the key is 'half', wanted a whole number"),
            ("is_pieces_first: maybe\n", ":1: is_pieces_first is 'maybe', wanted true or false"),
            ("\nsynonyms: {a: [b]}\n", ":2: synonyms.a is a list, wanted a word"),
            ("exclusions: [all but]\n", ":1: exclusions: 'all but' lacks the group (?P<but>"),
            ('links: ["{nope} in"]\n', ":1: links: '{nope} in', wanted {head} and {tail}"),
            (BOMB, ":6: "),
        ),
        *wrong(
            "words/when_en.yaml",
            (b"units: {60: [caf\xe9]}\n", ":1: byte 0xe9 is not UTF-8"),
            ("units: {60: }\n", ":1: units.60 is empty, wanted a list"),
            ("units: [a]\n", ":1: units is a list, wanted a mapping"),
            ("units: {}\n\tx: 1\n", ":2: broken YAML"),
            ("units: {}\nclocks: ['(']\n", ":2: clocks[0] is '(', wanted a regular expression"),
            ("units: {}\nfixed: {noon: lunch}\n", ":2: fixed.noon is 'lunch', wanted a time such as 12:00"),
            ("units: !!python/object:os.system x\n", ":1: tag "),
        ),
        *wrong(
            "words/timers_en.yaml",
            ("timer: [a]\nfoo: [b]\n", ":2: unknown key 'foo'"),
            ("acts: {jump: [x]}\n", ":1: unknown key 'jump' in acts"),
            ("timer: x\n", ":1: timer is 'x', wanted a list"),
            ("timer: " + "[" * 100_000, ":1: broken YAML"),
        ),
        *wrong(
            "templates.yaml",
            ("intents: [a]\n", ":1: intents is a list, wanted a mapping"),
            ("intents:\n  A: {tool: turn_onn}\n", ":2: tool names 'turn_onn', which is no tool of"),
            ("intents:\n  A:\n    tool: turn_on\n    args: {x: 3}\n", ":4: intents.A.args.x is 3, wanted text"),
            ("intents:\n  A: {tool: turn_on, types: fan}\n", ":2: intents.A.types is 'fan', wanted a list"),
            ("packs: {en: en}\n", ":1: packs.en is 'en', wanted a list"),
            ("lists:\n  x: {range: {from: a, to: b}}\n", ":2: lists.x.range.from is 'a', wanted a number"),
            ("phrases:\n  acts:\n    on: [{typs: [fan]}]\n", ":3: unknown key 'typs' in phrases.acts.on[0]"),
            ("phrases:\n  acts:\n    on: [{types: [fan]}]\n", ":3: missing key 'tool' in phrases.acts.on[0]"),
            ("phrases: {readers: [nope]}\n", ":1: readers names 'nope', which is no tool"),
            ("intents:\n  A: {tool: turn_on, translate: {a: }}\n", ":2: intents.A.translate.a is empty, wanted a"),
            ("phrases: {attributes: {x: }}\n", ":1: phrases.attributes.x is empty, wanted a list"),
            ("packs: {en: }\n", ":1: packs.en is empty, wanted a list"),
            ("phrases: {asks: 3}\n", ":1: phrases.asks is 3, wanted a mapping"),
            ("prompt: {examples: [a]}\n", ":1: prompt.examples[0] is 'a', wanted a mapping"),
            ("sentences: {en: nope.yaml}\n", "nope.yaml: no such file"),
        ),
        *wrong(
            "sentences/en.yaml",
            (ASK + "    - sentences: ['is [the {name']\n", ":5: intents.Ask.data[0].sentences[0] is 'is [the {name'"),
            (ASK + "    - sentences:\n      - is it\n      - 'is {nope}'\n", ":7: 'is {nope}': no slot {nope} exists"),
            (ASK + "    - sentences: ['is <nope>']\n", ":5: 'is <nope>': no rule <nope> exists"),
            (ASK + "    - sentences: is it\n", ":5: intents.Ask.data[0].sentences is 'is it', wanted a list"),
            (ASK + "    - response: one\n", ":5: missing key 'sentences' in intents.Ask.data[0]"),
            (ASK.replace("Ask", "Task") + "    - sentences: [x y]\n", ":3: intent 'Task' has no meaning"),
            ("intents:\n  Ask:\n", ":2: intents.Ask is empty, wanted a mapping of data"),
            ("expansion_rules:\n  a: <b>\n  b: <a>\n", ":2: rule 'a' contains itself"),
            ("lists:\n  x: {values: [{out: b}]}\n", ":2: missing key 'in' in lists.x.values[0]"),
        ),
        *wrong(
            "replies/en.yaml",
            ("done:\n  turn_on: 'on {nope}'\n  turn_off: off\n", ":2: done.turn_on: no placeholder {nope} exists"),
            ("done:\n  turn_on: 'on'\n", ":1: no sentence for done.turn_off"),
            ("grammar:\n  article: [a]\n", ":2: grammar.article is ['a'], wanted a text"),
        ),
        *wrong("dialogue/en.yaml", ("again: 3\n", ":1: again is 3, wanted a list")),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_its_place(app: Path, file: str, text: str | bytes, message: str) -> None:
    assert f"{message}" in mistake(app, file, text)
    assert Path(file).name in mistake(app, file, text) or "no such file" in message or "cannot be read" in message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("device: Device", "device: Nope", r"handlers\.py:\d+: tool turn_on: an annotation cannot be read \(NameError"),
        ("-> Decision", "-> 1 / 0", r"handlers\.py:\d+: tool turn_on: an annotation .*ZeroDivisionError"),
        ("device: Device", "", r"handlers\.py:\d+: tool turn_on: first parameter is missing"),
        ("types=SWITCHED", "types='fan'", r"handlers\.py:\d+: tool turn_on: types is 'fan', wanted a tuple of words"),
        ("from __future__", "raise SystemExit(3)\nfrom __future__", r"handlers\.py:\d+: SyntaxError"),
        ("SWITCHED = ", "exit(3)\nSWITCHED = ", r"handlers\.py:\d+: SystemExit: 3"),
    ],
)
def test_a_mistake_in_a_handler_is_one_line_with_its_place(app: Path, old: str, new: str, message: str) -> None:
    text = (app / "handlers.py").read_text("utf-8")
    assert old in text
    assert re.search(message, mistake(app, "handlers.py", text.replace(old, new, 1)))


@pytest.mark.parametrize("change", [lambda b: b"\xef\xbb\xbf" + b, lambda b: b.replace(b"\n", b"\r\n")])
def test_byte_order_marks_and_windows_lines_are_read(app: Path, change: object) -> None:
    for file in app.rglob("*.yaml"):
        file.write_bytes(change(file.read_bytes()))  # type: ignore[operator]
    start(app)


def test_app_that_leaves_at_import_ends_the_command_like_any_mistake(
    app: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (app / "handlers.py").write_text("import sys\nsys.exit(0)\n")
    assert main(["ask", str(app), "turn on the fan"]) == 1
    assert "handlers.py:2: SystemExit" in capsys.readouterr().err
