"""Loads an app: its folder of YAML files and tools becomes one frozen value."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from agentkit.app_module import import_handlers
from agentkit.artifact import PRECISIONS
from agentkit.defaults import replies_over_defaults, words_over_defaults
from agentkit.devices.adapter import Home
from agentkit.errors import AppError, ConfigError
from agentkit.home_file import load_home, load_homes
from agentkit.pin_file import PinSource, read_pin_source
from agentkit.planned import MISSED, ScheduleRules
from agentkit.policy_rules import PolicyRule, Verdict, read_rules
from agentkit.understanding.tools import Tool, load_tools
from agentkit.yaml_lines import YamlList, YamlMap, check_keys, did_you_mean, load_mapping, parse_yaml, take, take_list

__all__ = ["App", "Limits", "PolicyRule", "Verdict", "load_app", "load_home", "load_homes"]


@dataclass(frozen=True)
class Limits:
    """Bounds of one turn."""

    max_text_chars: int = 500
    """Longest utterance that is read."""
    action_timeout_ms: int = 3_000
    """Time that one device gets to take a command and be read back."""
    max_actions: int = 200
    """Most devices that one utterance may move."""
    question_timeout_s: int = 60
    """How long a question to the speaker waits for its answer."""
    memory_s: int = 120
    """How long "it", "again" and "undo" reach back."""


@dataclass(frozen=True)
class App:
    """Everything an app folder says."""

    path: Path
    """The folder, absolute."""
    name: str
    home: Home
    tools: Mapping[str, Tool]
    languages: tuple[str, ...] = ("en",)
    """Languages it answers in; the first is the fallback."""
    replies: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Language → replies/LANGUAGE.yaml, laid over the framework's."""
    words: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Language → words/LANGUAGE.yaml, laid over the framework's."""
    dialogue: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Language → dialogue/LANGUAGE.yaml as read."""
    policy: tuple[PolicyRule, ...] = ()
    """First rule that fits decides; none fits = allow."""
    pin: PinSource | None = None
    """Where the code for rules with `then: pin` comes from."""
    model: str | None = None
    """Name in the model manifest; None = templates only."""
    larger_model: str | None = None
    """Name of a second model, which is asked about what the first one did not understand."""
    manifest: Path | None = None
    target: str | None = None
    """Target to run the model on; None = the planner chooses."""
    precision: str | None = None
    """Of the weights as they are run, for every model of the app; None = as planned."""
    calibrate: bool = True
    """Whether weights that have to be rounded to 4 bits are rounded by what the app's prompts need."""
    threads: int = 0
    """Of the model on the processor; 0 = as many as the target finds best."""
    cores: tuple[int, ...] = ()
    """Cores that those threads are held to, on targets that can; empty = the target chooses."""
    limits: Limits = field(default_factory=Limits)
    schedule: ScheduleRules = field(default_factory=ScheduleRules)
    """What to do about what was due while nothing ran."""

    def plain_commands(self) -> Iterator[str]:
        """Say each tool without arguments to each device that it is for, by name: sentences to try the app with.

        What a model is not told of is what few devices can do.
        """
        for device in self.home.devices:
            for tool in self.tools.values():
                if device.type in tool.types and tool.is_told and not tool.params and not tool.is_query:
                    yield f"{tool.name.replace('_', ' ')} {device.name}"


KEYS = (
    "name",
    "home",
    "languages",
    "model",
    "larger_model",
    "manifest",
    "target",
    "precision",
    "calibrate",
    "threads",
    "cores",
    "limits",
    "schedule",
    "pin",
    "policy",
)
LIMIT_KEYS = tuple(f.name for f in fields(Limits))
MOST: Mapping[str, int] = MappingProxyType(
    {
        "max_text_chars": 100_000,
        "action_timeout_ms": 600_000,
        "max_actions": 10_000,
        "question_timeout_s": 86_400,
        "memory_s": 86_400,
        "missed_after_minutes": 525_600,
        "threads": 1_024,
    }
)
"""Largest values: what is more was a slip, or would stop a clock."""
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
SCHEDULE_KEYS = tuple(f.name for f in fields(ScheduleRules))
OVERRIDES = (
    *(k for k in KEYS if k not in ("limits", "schedule")),
    *(f"limits.{k}" for k in LIMIT_KEYS),
    *(f"schedule.{k}" for k in SCHEDULE_KEYS),
)


def load_app(path: Path, overrides: Sequence[str] = ()) -> App:
    """Load the app in a folder; overrides are KEY=VALUE with dotted keys, the value in YAML.

    Raises AppError or ConfigError: one line with the place and the next step.
    """
    folder = _find_folder(path)
    document = load_mapping(folder / "app.yaml")
    given = [_apply_override(document, text) for text in overrides]
    try:
        return _read_app(folder, document)
    except ConfigError as err:
        source = next((text for key, text in given if err.key == key and err.path == str(document.path)), None)
        if source is None:
            raise
        message = str(err).removeprefix(f"{err.path}:{err.line}: ")
        raise ConfigError(message, path=f"--config {source}", key=err.key) from err


def _read_app(folder: Path, document: YamlMap) -> App:
    check_keys(document, KEYS, required=("name",), what="app.yaml")
    languages, limits = _read_languages(document), _read_limits(document)
    home = load_home(folder / take(document, "home", str, "home.yaml"))
    tools = load_tools(import_handlers(folder))
    types = {t for tool in tools.values() for t in tool.types} | {d.type for d in home.devices}
    rules = take(document, "policy", YamlList, YamlList(document.path, document.line))
    manifest = take(document, "manifest", str, None)
    pin = take(document, "pin", YamlMap, None)
    return App(
        path=folder,
        name=take(document, "name", str),
        home=home,
        tools=tools,
        languages=languages,
        replies={x: replies_over_defaults(_optional(folder / "replies" / f"{x}.yaml"), x) for x in languages},
        words={x: words_over_defaults(_optional(folder / "words" / f"{x}.yaml"), x) for x in languages},
        dialogue={lang: _optional(folder / "dialogue" / f"{lang}.yaml") for lang in languages},
        policy=read_rules(
            rules,
            tools=tools,
            types=types,
            areas=[a.id for a in home.areas],
            device_ids=[d.id for d in home.devices],
            classes=[c for d in home.devices for c in d.classes if c is not None],
        ),
        pin=None if pin is None else read_pin_source(pin, folder),
        model=take(document, "model", str, None),
        larger_model=take(document, "larger_model", str, None),
        manifest=None if manifest is None else (folder / manifest).resolve(),
        target=take(document, "target", str, None),
        precision=_read_precision(document),
        calibrate=take(document, "calibrate", bool, True),
        threads=_read_threads(document),
        cores=_read_cores(document),
        limits=limits,
        schedule=_read_schedule(document),
    )


def _find_folder(path: Path) -> Path:
    folder = path.parent if path.name == "app.yaml" and path.is_file() else path
    if not folder.is_dir():
        what = "is a file, not an app folder" if folder.exists() else "no such app folder"
        raise AppError(f"{path}: {what}; {_suggest(folder)}")
    if not (folder / "app.yaml").is_file():
        inside = _apps_in(folder)
        hint = f"did you mean {inside[0]}?" if inside else _suggest(folder)
        raise AppError(f"{path}: there is no app.yaml, so it is no app folder; {hint}")
    return folder.resolve()


def _suggest(folder: Path) -> str:
    """Name the app next to a wrong path that is spelled most like it."""
    near = [app for place in (folder.parent, Path("apps")) for app in _apps_in(place) if app != folder]
    best = difflib.get_close_matches(folder.name, [app.name for app in near], 1, 0.0)
    if not best:
        return "give the path of a folder with an app.yaml, for example apps/smart_home"
    return f"did you mean {next(app for app in near if app.name == best[0])}?"


def _apps_in(folder: Path) -> list[Path]:
    return sorted(p.parent for p in folder.glob("*/app.yaml")) if folder.is_dir() else []


def _apply_override(document: YamlMap, text: str) -> tuple[str, str]:
    """Lay one KEY=VALUE over app.yaml; returns the last part of the key, and the text for messages."""
    dotted, equals, value = text.partition("=")
    place = Path(f"--config {text}")
    if not equals:
        raise ConfigError(f"wanted KEY=VALUE, for example limits.{LIMIT_KEYS[0]}=200", path=place)
    if dotted not in OVERRIDES:
        raise ConfigError(f"unknown key {dotted!r}; {did_you_mean(dotted, OVERRIDES)}", path=place, key=dotted)
    *parents, leaf = dotted.split(".")
    target = document
    for key in parents:
        if target.get(key) is None:
            target[key] = YamlMap(document.path, document.line)
        target = take(target, key, YamlMap)
    target[leaf] = parse_yaml(value, place)
    return leaf, text


def _read_precision(document: YamlMap) -> str | None:
    precision = take(document, "precision", str, None)
    if precision is not None and precision not in PRECISIONS:
        raise document.error(f"precision is {precision!r}, wanted one of {', '.join(PRECISIONS)}", "precision")
    return precision


def _read_threads(document: YamlMap) -> int:
    n_threads = take(document, "threads", int, 0)
    if not 0 <= n_threads <= MOST["threads"]:
        raise document.error(f"threads is {n_threads}, wanted 0 (as found best) to {MOST['threads']}", "threads")
    return n_threads


def _read_cores(document: YamlMap) -> tuple[int, ...]:
    cores = take_list(document, "cores", int, ())
    if any(core < 0 for core in cores) or len(set(cores)) < len(cores):
        raise document.error(f"cores is {list(cores)}, wanted different numbers from 0 up", "cores")
    return cores


def _read_limits(document: YamlMap) -> Limits:
    row = take(document, "limits", YamlMap, None)
    if row is None:
        return Limits()
    check_keys(row, LIMIT_KEYS, what="limits")
    values = {key: take(row, key, int) for key in row}
    for key, value in values.items():
        if value <= 0:
            raise row.error(f"{key} is {value}, wanted more than 0", key)
        _check_most(row, key, value)
    return Limits(**values)


def _read_schedule(document: YamlMap) -> ScheduleRules:
    row = take(document, "schedule", YamlMap, None)
    if row is None:
        return ScheduleRules()
    check_keys(row, SCHEDULE_KEYS, what="schedule")
    missed = take(row, "missed", str, "skip")
    if missed not in MISSED:
        raise row.error(f"missed is {missed!r}, wanted one of {', '.join(MISSED)}", "missed")
    minutes = take(row, "missed_after_minutes", int, 10)
    if minutes < 0:
        raise row.error(f"missed_after_minutes is {minutes}, wanted 0 or more", "missed_after_minutes")
    _check_most(row, "missed_after_minutes", minutes)
    return ScheduleRules(missed, minutes)


def _check_most(row: YamlMap, key: str, value: int) -> None:
    if value > MOST[key]:
        raise row.error(f"{key} is {value}, wanted at most {MOST[key]}", key)


def _read_languages(document: YamlMap) -> tuple[str, ...]:
    languages = take_list(document, "languages", str, ("en",))
    if not languages:
        raise document.error("languages is an empty list, wanted for example [en, zh]", "languages")
    for language in languages:
        if not _LANGUAGE.fullmatch(language):  # it becomes the name of files
            raise document.error(f"languages holds {language!r}, wanted codes such as en and zh", "languages")
    return tuple(dict.fromkeys(languages))


def _optional(path: Path) -> Mapping[str, Any]:
    return load_mapping(path) if path.is_file() else {}
