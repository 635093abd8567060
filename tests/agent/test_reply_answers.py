"""Everything that a tool of the smart home can answer or refuse has a sentence in both languages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from agentkit.agent.reply import Replies
from agentkit.app_module import import_handlers
from agentkit.defaults import replies_over_defaults
from agentkit.devices.adapter import Area, Device
from agentkit.devices.view import View
from agentkit.types import Action, ActionResult, Status
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.tools import Answer, Tool, load_tools
from agentkit.yaml_lines import load_mapping

APP = Path(__file__).parents[2] / "apps" / "smart_home"
RAW = {lang: replies_over_defaults(load_mapping(APP / "replies" / f"{lang}.yaml"), lang) for lang in ("en", "zh")}
TOOLS = load_tools(import_handlers(APP))

AREAS = (Area("living", "Living room", ("客厅",)), Area("kitchen", "Kitchen", ("厨房",)))
DEVICES = {
    d.id: d
    for d in (
        Device(
            "light.a", "Sofa lamp", "light", "living", ("沙发灯",), "on", {"brightness": 102, "rgb_color": [255, 0, 0]}
        ),
        Device("light.b", "Kitchen light", "light", "kitchen", ("厨房灯",), "off"),
        Device("light.c", "Hall light", "light", None, ("走廊灯",)),
        Device(
            "climate.a",
            "Air conditioner",
            "climate",
            "living",
            ("空调",),
            "cool",
            {"temperature": 24, "current_temperature": 26.5},
        ),
        Device("lock.a", "Front door lock", "lock", None, ("前门锁",), "locked"),
        Device(
            "cover.a",
            "Curtain",
            "cover",
            "living",
            ("窗帘",),
            "open",
            {"device_class": "curtain", "current_position": 100},
        ),
        Device(
            "sensor.a",
            "Kitchen humidity",
            "sensor",
            "kitchen",
            ("厨房湿度",),
            "55",
            {"device_class": "humidity", "unit_of_measurement": "%"},
        ),
        Device(
            "sensor.b",
            "Kitchen temperature",
            "sensor",
            "kitchen",
            ("厨房温度",),
            "19",
            {"device_class": "temperature", "unit_of_measurement": "°C"},
        ),
        Device(
            "binary_sensor.a", "Hall motion", "binary_sensor", None, ("走廊感应",), "on", {"device_class": "motion"}
        ),
        Device(
            "media_player.a",
            "Speaker",
            "media_player",
            "living",
            ("音箱",),
            "playing",
            {"volume_level": 0.3, "media_title": "Blue"},
        ),
        Device("vacuum.a", "Robot vacuum", "vacuum", None, ("扫地机器人",), "docked", {"battery_level": 80}),
        Device("todo.a", "Shopping list", "todo", None, ("购物清单",), "2", {"items": ["milk", "eggs"]}),
        Device("weather.a", "Weather", "weather", None, ("天气",), "rainy", {"temperature": 8, "humidity": 70}),
        Device("person.a", "Anna", "person", None, ("安娜",), "not_home"),
    )
}
HOME = HomeView(tuple(DEVICES.values()), AREAS)


@pytest.fixture(scope="module")
def replies() -> Replies:
    return Replies(RAW, tools=TOOLS)


def calls(*names: str) -> Iterator[ast.Call]:
    for path in sorted((APP / "tools").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
                yield node


def constants(node: ast.AST) -> set[str]:
    return {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def test_every_refusal_of_a_tool_has_a_sentence(replies: Replies) -> None:
    reasons = {r for call in calls("refuse") for r in constants(call.args[0])}
    assert reasons >= {"out_of_range", "unsupported"}
    assert not [r for r in reasons if not replies.has("en", f"failed.{r}") or not replies.has("zh", f"failed.{r}")]


def test_every_answer_of_a_tool_has_a_sentence(replies: Replies) -> None:
    keys = {k for call in calls("Answer") if not isinstance(call.args[0], ast.Name) for k in constants(call.args[0])}
    keys = {k for k in keys if re.fullmatch(r"[a-z]+\.[a-z_]+", k)}
    named = "temperature target_temperature humidity brightness position volume speed battery color mode title"
    keys |= {f"{name}.one" for name in named.split()}
    assert keys >= {"state.one", "weather.now", "list.items", "time.now"}
    assert not [k for k in keys if not replies.has("en", k) or not replies.has("zh", k)]


def test_every_tool_that_acts_has_a_sentence(replies: Replies) -> None:
    acting = [t for t in TOOLS.values() if not t.is_query]
    assert len(acting) > 30
    assert all(replies.has(lang, f"done.{t.name}") for t in acting for lang in replies.languages)


def ask(replies: Replies, language: str, tool: str, *devices: str, **args: Any) -> str:
    given: Any = tuple(DEVICES[d] for d in devices)
    if TOOLS[tool].scope == "home":
        given = View(datetime(2031, 3, 7, 8, 5), HOME.devices, AREAS)
    answer = TOOLS[tool].function(given, **args)
    assert isinstance(answer, Answer)
    result = ActionResult(Action(tool, args), Status.DONE, facts=answer.values, reply_key=answer.reply_key)
    return replies.compose(language, [result], HOME)


TABLE: list[tuple[str, tuple[str, ...], dict[str, Any], str, str]] = [
    ("get_state", ("light.a",), {}, "The sofa lamp is on.", "沙发灯开着。"),
    ("get_state", ("lock.a",), {}, "The front door lock is locked.", "前门锁已上锁。"),
    ("get_state", ("person.a",), {}, "Anna is away.", "安娜不在家。"),
    (
        "get_state",
        ("light.a", "light.b"),
        {},
        "The sofa lamp is on and the kitchen light is off.",
        "沙发灯开着，厨房灯关着。",
    ),
    ("get_state", ("light.c",), {}, "The hall light has not reported a state yet.", "走廊灯还没有报告过状态。"),
    ("get_state", ("light.b",), {"state": "on"}, "No, the kitchen light is off.", "没有，厨房灯关着。"),
    ("get_state", ("lock.a",), {"state": "locked"}, "Yes, the front door lock is locked.", "是的，前门锁已上锁。"),
    (
        "get_state",
        ("light.a", "light.b"),
        {"state": "on", "question": "any"},
        "Yes, the sofa lamp is on.",
        "是的，沙发灯开着。",
    ),
    (
        "get_state",
        ("light.b", "light.c"),
        {"state": "on", "question": "any"},
        "The kitchen light is off; the hall light is in an unknown state, so I cannot tell.",
        "厨房灯关着；走廊灯状态未知，所以我不能确定。",
    ),
    (
        "get_state",
        ("light.a", "light.b"),
        {"state": "on", "question": "all"},
        "No, the kitchen light is off.",
        "没有，厨房灯关着。",
    ),
    (
        "get_state",
        ("light.b", "light.b"),
        {"state": "off", "question": "all"},
        "Yes, the kitchen light and the kitchen light are off.",
        "是的，厨房灯和厨房灯关着。",
    ),
    ("get_state", ("light.a", "light.b"), {"state": "on", "question": "which"}, "The sofa lamp is on.", "沙发灯开着。"),
    (
        "get_state",
        ("light.b", "light.c"),
        {"state": "on", "question": "which"},
        "The kitchen light is off; the hall light is in an unknown state, so I cannot tell.",
        "厨房灯关着；走廊灯状态未知，所以我不能确定。",
    ),
    (
        "get_state",
        ("light.a", "light.b"),
        {"state": "on", "question": "how_many"},
        "1 light is on: the sofa lamp.",
        "有1盏灯开着：沙发灯。",
    ),
    (
        "get_state",
        ("light.b", "light.c"),
        {"state": "on", "question": "how_many"},
        "The kitchen light is off; the hall light is in an unknown state, so I cannot tell.",
        "厨房灯关着；走廊灯状态未知，所以我不能确定。",
    ),
    ("get_state", ("light.a", "light.b"), {"question": "how_many"}, "There are 2 lights.", "一共有2盏灯。"),
    (
        "get_state",
        ("climate.a",),
        {"attribute": "temperature"},
        "It is 26.5 °C in the living room.",
        "客厅现在26.5°C。",
    ),
    (
        "get_state",
        ("sensor.b",),
        {"attribute": "temperature"},
        "The kitchen temperature is at 19 °C.",
        "厨房温度是19°C。",
    ),
    (
        "get_state",
        ("climate.a", "sensor.b"),
        {"attribute": "temperature"},
        "The air conditioner is at 26.5 °C and the kitchen temperature is at 19 °C.",
        "空调是26.5°C，厨房温度是19°C。",
    ),
    (
        "get_state",
        ("climate.a",),
        {"attribute": "target_temperature"},
        "The air conditioner is set to 24 °C.",
        "空调设为24°C。",
    ),
    ("get_state", ("sensor.a",), {"attribute": "humidity"}, "The kitchen humidity is at 55 %.", "厨房湿度是55%。"),
    ("get_state", ("light.a",), {"attribute": "brightness"}, "The sofa lamp is at 40 %.", "沙发灯的亮度是40%。"),
    ("get_state", ("light.a",), {"attribute": "color"}, "The sofa lamp is red.", "沙发灯是红色。"),
    ("get_state", ("cover.a",), {"attribute": "position"}, "The curtain is 100 % open.", "窗帘开了100%。"),
    (
        "get_state",
        ("media_player.a",),
        {"attribute": "volume"},
        "The volume of the speaker is 30 %.",
        "音箱的音量是30%。",
    ),
    ("get_state", ("media_player.a",), {"attribute": "title"}, "Blue is on the speaker.", "音箱上是Blue。"),
    (
        "get_state",
        ("vacuum.a",),
        {"attribute": "battery"},
        "The battery of the robot vacuum is at 80 %.",
        "扫地机器人的电量是80%。",
    ),
    ("get_state", ("climate.a",), {"attribute": "mode"}, "The air conditioner is set to cool.", "空调是制冷模式。"),
    (
        "get_state",
        ("lock.a",),
        {"attribute": "humidity"},
        "The front door lock does not tell the humidity.",
        "前门锁没有湿度的信息。",
    ),
    ("get_state", ("binary_sensor.a",), {}, "The hall motion is detecting motion.", "走廊感应检测到有人移动。"),
    ("get_state", (), {"state": "on"}, "Nothing is on.", "没有开着的。"),
    ("get_weather", ("weather.a",), {}, "It is rainy and 8 °C, with 70 % humidity.", "现在天气有雨，8°C，湿度70%。"),
    ("get_list", ("todo.a",), {}, "On the shopping list: milk and eggs.", "购物清单上有milk和eggs。"),
    ("get_list", (), {}, "There is no such list.", "没有这个清单。"),
    ("get_time", (), {}, "It is 08:05.", "现在是08:05。"),
    ("get_date", (), {}, "It is Friday, March 7, 2031.", "今天是2031年3月7日，星期五。"),
]


@pytest.mark.parametrize(("tool", "devices", "args", "en", "zh"), TABLE)
def test_answers_are_whole_sentences(
    replies: Replies, tool: str, devices: tuple[str, ...], args: dict[str, Any], en: str, zh: str
) -> None:
    assert (ask(replies, "en", tool, *devices, **args), ask(replies, "zh", tool, *devices, **args)) == (en, zh)


def test_a_long_answer_names_some_and_counts_the_rest(replies: Replies) -> None:
    many = tuple(Device(f"light.n{i}", f"Lamp {i}", "light", None, (f"灯{i}",), "on") for i in range(12))
    home = HomeView(many)
    answer = TOOLS["get_state"].function(many, question="which", state="on")
    result = ActionResult(Action("get_state"), Status.DONE, facts=answer.values, reply_key=answer.reply_key)
    said = replies.compose("en", [result], home)
    assert said.startswith("The lamp 0, the lamp 1,")
    assert said.endswith("the lamp 6 and 5 more are on.")


def test_a_colour_or_mode_is_said_in_the_speakers_language(replies: Replies) -> None:
    red = ActionResult(Action("set_color", {"color": "red"}, "light.a"), Status.DONE, facts={"color": "red"})
    assert replies.compose("zh", [red], HOME) == "已将沙发灯调成红色。"
    heat = ActionResult(Action("set_hvac_mode", {"mode": "heat"}, "climate.a"), Status.DONE, facts={"mode": "heat"})
    assert replies.compose("zh", [heat], HOME) == "已将空调切换到制热模式。"
    assert replies.compose("en", [heat], HOME) == "Set the air conditioner to heat."


def test_limits_are_said_with_their_unit(replies: Replies) -> None:
    facts = {"name": "Air conditioner", "device_id": "climate.a", "value": 50, "low": 16, "high": 30, "unit": "°C"}
    refused = [
        ActionResult(
            Action("set_temperature", {"temperature": 50}, "climate.a"), Status.FAILED, "out_of_range", facts=facts
        )
    ]
    assert replies.compose("en", refused, HOME) == "The air conditioner only goes from 16 to 30 °C."
    assert replies.compose("zh", refused, HOME) == "空调只能设在16到30°C之间。"


def test_a_tool_of_another_type_is_used_by_no_sentence() -> None:
    assert all(isinstance(t, Tool) for t in TOOLS.values())
