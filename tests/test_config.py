from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

from agentkit.config import App, Limits, Verdict, load_app
from agentkit.devices.adapter import Device
from agentkit.errors import AppError, ConfigError

APP_YAML = """\
name: tiny
languages: [en, zh]
model: some-model
manifest: ../models.yaml
limits:
  max_text_chars: 100
policy:
  - {tools: [turn_on], then: confirm}
"""
HOME_YAML = "id: tiny\ndevices:\n- {id: light.a, name: Lamp, type: light}\n"
HANDLERS = '''\
from agentkit.devices.adapter import Device
from agentkit.understanding.tools import Decision, becomes, tool
from .words_for import ON


@tool(types=("light",))
def turn_on(device: Device) -> Decision:
    """Switch a light on."""
    return becomes(device, ON)
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "apps" / "tiny"
    folder.mkdir(parents=True)
    (folder / "app.yaml").write_text(APP_YAML)
    (folder / "home.yaml").write_text(HOME_YAML)
    (folder / "handlers.py").write_text(HANDLERS)
    (folder / "words_for.py").write_text('ON = "on"\n')
    (folder / "replies").mkdir()
    (folder / "replies" / "zh.yaml").write_text("done: 好的\n", encoding="utf-8")
    return folder


def test_an_app_is_loaded_with_everything_its_folder_says(folder: Path) -> None:
    app = load_app(folder)
    assert (app.name, app.path, app.languages, app.model) == ("tiny", folder, ("en", "zh"), "some-model")
    assert app.manifest == folder.parent / "models.yaml"
    assert app.limits == Limits(max_text_chars=100)
    assert app.replies["zh"]["done"] == "好的"
    assert app.words.keys() == {"en", "zh"}
    assert [rule.verdict for rule in app.policy] == [Verdict.CONFIRM]
    lamp = app.home.devices[0]
    decision = app.tools["turn_on"].function(lamp)
    assert dataclasses.asdict(decision)["changes"] == {"light.a": {"state": "on", "attributes": {}}}


def test_the_path_of_app_yaml_itself_means_its_folder(folder: Path) -> None:
    assert load_app(folder / "app.yaml").name == "tiny"


def test_two_apps_do_not_share_their_modules(folder: Path) -> None:
    other = folder.parent / "other"
    other.mkdir()
    for file in folder.glob("*.*"):
        (other / file.name).write_text(file.read_text())
    (other / "words_for.py").write_text('ON = "lit"\n')
    lamp = Device("light.a", "Lamp", "light")
    states = [load_app(path).tools["turn_on"].function(lamp).changes["light.a"].state for path in (folder, other)]
    assert states == ["on", "lit"]


def test_an_edited_handler_is_seen_when_the_app_is_loaded_again(folder: Path) -> None:
    load_app(folder)
    (folder / "handlers.py").write_text(HANDLERS.replace("Switch a light on", "Light a lamp, please"))
    assert load_app(folder).tools["turn_on"].summary == "Light a lamp, please."


@pytest.mark.parametrize(
    ("override", "read", "wanted"),
    [
        ("name=other", lambda app: app.name, "other"),
        ("model=null", lambda app: app.model, None),
        ("languages=[zh]", lambda app: app.languages, ("zh",)),
        ("limits.max_text_chars=7", lambda app: app.limits.max_text_chars, 7),
        ("threads=2", lambda app: app.threads, 2),
        ("precision=int4", lambda app: app.precision, "int4"),
        ("calibrate=false", lambda app: app.calibrate, False),
        ("cores=[4, 5]", lambda app: app.cores, (4, 5)),
        ("limits.action_timeout_ms=9", lambda app: app.limits, Limits(max_text_chars=100, action_timeout_ms=9)),
        ("policy=[]", lambda app: app.policy, ()),
        ("target=a=b", lambda app: app.target, "a=b"),
    ],
)
def test_an_override_replaces_a_key(folder: Path, override: str, read: object, wanted: object) -> None:
    assert read(load_app(folder, [override])) == wanted  # type: ignore[operator]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("limits.max_text_chars=x", r"--config limits\.max_text_chars=x: max_text_chars is 'x', wanted a whole number"),
        ("precision=int3", r"--config precision=int3: precision is 'int3', wanted one of f32, int8, int4"),
        ("threads=-1", r"--config threads=-1: threads is -1, wanted 0 \(as found best\) to 1024"),
        ("cores=[1, 1]", r"--config cores=\[1, 1\]: cores is \[1, 1\], wanted different numbers"),
        ("limits.max_text_chars=0", r"--config .*max_text_chars is 0, wanted more than 0"),
        ("limits.max_texts=1", r"--config .*unknown key 'limits\.max_texts'; did you mean 'limits\.max_text_chars'"),
        ("nam=x", "did you mean 'name'"),
        ("name", "wanted KEY=VALUE"),
        ("policy=[{then: maybe}]", r"--config .*then is 'maybe'"),
        ("policy=[{", r"--config .*broken YAML"),
    ],
)
def test_a_wrong_override_is_named_itself(folder: Path, override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_app(folder, [override])


def test_a_missing_folder_names_the_app_that_was_probably_meant(folder: Path) -> None:
    with pytest.raises(AppError, match=r"tinny: no such app folder; did you mean .*/apps/tiny\?"):
        load_app(folder.parent / "tinny")


def test_a_folder_of_apps_names_the_app_in_it(folder: Path) -> None:
    with pytest.raises(AppError, match=r"there is no app\.yaml.*did you mean .*/apps/tiny\?"):
        load_app(folder.parent)


def test_a_missing_folder_with_no_app_near_says_what_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AppError, match=r"give the path of a folder with an app\.yaml"):
        load_app(tmp_path / "nothing" / "here")


def test_a_file_is_no_app_folder(folder: Path) -> None:
    with pytest.raises(AppError, match="is a file, not an app folder"):
        load_app(folder / "home.yaml")


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("app.yaml", "name: [x", r"app\.yaml:\d: broken YAML"),
        (
            "app.yaml",
            "name: x\nhmoe: home.yaml\n",
            r"app\.yaml:2: unknown key 'hmoe' in app\.yaml; did you mean 'home'",
        ),
        ("app.yaml", "home: home.yaml\n", r"app\.yaml:1: missing key 'name'"),
        ("app.yaml", "name: 3\n", r"app\.yaml:1: name is 3, wanted text"),
        ("app.yaml", "name: x\nlanguages: []\n", r"app\.yaml:2: languages is an empty list"),
        ("app.yaml", "name: x\nlimits: {max_text: 3}\n", r"app\.yaml:2: unknown key 'max_text' in limits"),
        ("app.yaml", "- name\n", r"app\.yaml:1: the file holds a list"),
        ("home.yaml", "id: x\ndevices:\n- {id: a, name: A, type: light, area: den}\n", r"home\.yaml:3: area 'den'"),
        ("replies/zh.yaml", "done: [x", r"replies/zh\.yaml:\d: broken YAML"),
        ("words/en.yaml", "- a\n", r"words/en\.yaml:1: the file holds a list"),
    ],
)
def test_a_mistake_in_a_file_is_one_line_with_its_place(folder: Path, file: str, text: str, message: str) -> None:
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        load_app(folder)
    assert "\n" not in str(caught.value)


def test_a_missing_home_file_is_named(folder: Path) -> None:
    (folder / "home.yaml").unlink()
    with pytest.raises(ConfigError, match=r"home\.yaml: no such file"):
        load_app(folder)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import nonsense_that_is_not_there\n", r"handlers\.py:1: ModuleNotFoundError: No module named"),
        ("def broken(:\n", r"handlers\.py:1: SyntaxError: invalid syntax"),
        ("from .words_for import OFF\n", r"handlers\.py:1: ImportError: cannot import name 'OFF'"),
        ("x = 1\ny = x / 0\n", r"handlers\.py:2: ZeroDivisionError"),
        ("x = 1\n", r"no function is marked with @tool"),
    ],
)
def test_broken_app_code_is_one_line_with_its_place(folder: Path, code: str, message: str) -> None:
    (folder / "handlers.py").write_text(code)
    before = set(sys.modules)
    with pytest.raises(AppError, match=message) as caught:
        load_app(folder)
    assert "\n" not in str(caught.value)
    assert {n for n in set(sys.modules) - before if n.startswith("agentkit_app")} <= {
        n for n in sys.modules if "no function" in str(caught.value)
    }


def test_an_app_without_handlers_says_what_is_missing(folder: Path) -> None:
    (folder / "handlers.py").unlink()
    with pytest.raises(AppError, match=r"handlers\.py: no such file"):
        load_app(folder)


def test_a_loaded_app_cannot_be_changed(folder: Path) -> None:
    app: App = load_app(folder)
    with pytest.raises(dataclasses.FrozenInstanceError):
        app.name = "x"  # type: ignore[misc]
