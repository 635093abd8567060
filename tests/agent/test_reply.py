"""Replies say what was verified, in the speaker's language, and never more."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentkit.agent.reply import Replies
from agentkit.config import load_app
from agentkit.defaults import replies_over_defaults
from agentkit.devices.adapter import Area, Device
from agentkit.errors import ConfigError
from agentkit.types import Action, ActionResult, Status
from agentkit.understanding.home_view import HomeView
from agentkit.yaml_lines import load_mapping

FOLDER = Path(__file__).parents[2] / "apps" / "smart_home" / "replies"
RAW = {lang: replies_over_defaults(load_mapping(FOLDER / f"{lang}.yaml"), lang) for lang in ("en", "zh")}

HOME = HomeView(
    devices=(
        Device("light.kitchen", "Kitchen Light", "light", "kitchen", ("厨房灯",)),
        Device("light.hall", "Hall Lamp", "light", "hall", ("走廊灯",)),
        Device("light.bed", "Bedroom Lamp", "light", "bedroom", ("卧室灯",)),
        Device("light.ceiling_1", "Ceiling Light", "light", "kitchen", ("吸顶灯",)),
        Device("light.ceiling_2", "Ceiling Light", "light", "bedroom", ("吸顶灯",)),
        Device(
            "cover.bed", "Bedroom Curtains", "cover", "bedroom", ("卧室窗帘",), attributes={"device_class": "curtain"}
        ),
        Device("cover.garage", "Garage Door", "cover", "garage", ("车库门",), attributes={"device_class": "garage"}),
        Device("lock.front", "Front Door Lock", "lock", "hall", ("前门锁",)),
        Device("media_player.bose", "Bose Soundbar", "media_player", "kitchen", ("回音壁",)),
        Device("fan.lab", "Lab Fan", "fan"),
    ),
    areas=(
        Area("kitchen", "Kitchen", ("厨房",)),
        Area("hall", "Hall", ("走廊",)),
        Area("bedroom", "Bedroom", ("卧室",)),
        Area("garage", "Garage", ("车库",)),
    ),
)


@pytest.fixture(scope="module")
def replies() -> Replies:
    return Replies(RAW)


def result(tool: str, device: str | None, status: Status = Status.DONE, **more: Any) -> ActionResult:
    args = more.pop("args", {})
    return ActionResult(Action(tool, args, device), status, **more)


def off(*devices: str) -> list[ActionResult]:
    return [result("turn_off", d, state="off") for d in devices]


def test_devices_of_one_tool_share_a_sentence(replies: Replies) -> None:
    done = off("light.kitchen", "light.hall")
    assert replies.compose("en", done, HOME) == "Turned off the kitchen light and the hall lamp."
    assert replies.compose("zh", done, HOME) == "已关闭厨房灯和走廊灯。"


def test_partial_success_says_both_parts(replies: Replies) -> None:
    mixed = [*off("light.kitchen"), result("turn_off", "light.bed", Status.FAILED, reason="unavailable")]
    assert replies.compose("en", mixed, HOME) == "Turned off the kitchen light. The bedroom lamp is offline."
    assert replies.compose("zh", mixed, HOME) == "已关闭厨房灯。卧室灯离线了。"


def test_more_than_four_devices_are_counted(replies: Replies) -> None:
    lights = off("light.kitchen", "light.hall", "light.bed", "light.ceiling_1", "light.ceiling_2")
    assert replies.compose("en", lights, HOME) == "Turned off 5 lights."
    assert replies.compose("zh", lights, HOME) == "已关闭5盏灯。"
    assert replies.compose("en", [*lights, *off("fan.lab")], HOME) == "Turned off 6 devices."


def test_values_are_those_of_the_result(replies: Replies) -> None:
    dim = [result("set_brightness", "light.kitchen", args={"brightness": 40}, facts={"brightness": 40.0})]
    assert replies.compose("en", dim, HOME) == "Set the kitchen light to 40 %."
    assert replies.compose("zh", dim, HOME) == "已将厨房灯的亮度调到40%。"


def test_different_values_of_one_tool_are_said_apart(replies: Replies) -> None:
    dim = [result("set_brightness", d, args={"brightness": n}) for d, n in (("light.kitchen", 40), ("light.bed", 60))]
    assert replies.compose("en", dim, HOME) == "Set the kitchen light to 40 %. Set the bedroom lamp to 60 %."


def test_devices_of_one_name_are_told_apart_by_room(replies: Replies) -> None:
    assert replies.compose("en", off("light.ceiling_2"), HOME) == "Turned off the ceiling light in the bedroom."
    assert replies.compose("zh", off("light.ceiling_2"), HOME) == "已关闭卧室的吸顶灯。"


def test_proper_names_keep_their_capitals(replies: Replies) -> None:
    assert replies.compose("en", [result("mute", "media_player.bose")], HOME) == "Muted the Bose Soundbar."


def test_plural_names_take_a_plural_verb(replies: Replies) -> None:
    offline = [result("open_cover", "cover.bed", Status.FAILED, reason="unavailable")]
    assert replies.compose("en", offline, HOME) == "The bedroom curtains are offline."


def test_the_kind_of_device_chooses_the_verb(replies: Replies) -> None:
    both = [result("close_cover", "cover.bed"), result("close_cover", "cover.garage")]
    assert replies.compose("zh", both, HOME) == "已拉上卧室窗帘。已关闭车库门。"


def test_a_device_without_a_name_in_the_language_keeps_its_own(replies: Replies) -> None:
    assert replies.compose("zh", off("fan.lab"), HOME) == "已关闭Lab Fan。"


@pytest.mark.parametrize("status", [Status.FAILED, Status.UNKNOWN, Status.SKIPPED])
@pytest.mark.parametrize("reason", [None, "unavailable", "ignored", "timeout", "error", "never_heard_of"])
def test_nothing_sounds_like_success_unless_done(replies: Replies, status: Status, reason: str | None) -> None:
    said_en = replies.compose("en", [result("turn_off", "light.kitchen", status, reason=reason)], HOME)
    said_zh = replies.compose("zh", [result("turn_off", "light.kitchen", status, reason=reason)], HOME)
    assert said_en
    assert said_zh
    assert not re.search(r"\b(turned|set|done|opened|closed)\b", said_en, re.IGNORECASE)
    assert not said_zh.startswith("已")


def test_what_could_not_be_checked_is_said_so(replies: Replies) -> None:
    sent = [result("turn_on", "light.kitchen", Status.UNKNOWN)]
    assert replies.compose("en", sent, HOME) == "I sent it, but could not check the kitchen light."


def test_an_unknown_reason_still_gives_a_truthful_sentence(replies: Replies) -> None:
    odd = [result("turn_on", "light.kitchen", Status.FAILED, reason="gremlins")]
    assert replies.compose("en", odd, HOME) == "The kitchen light did not do it."


def test_no_results_is_no_success(replies: Replies) -> None:
    assert replies.compose("en", [], HOME) == "There is nothing of that kind here."


def test_a_tool_without_a_device_is_said_without_one(replies: Replies) -> None:
    assert replies.compose("en", [result("broadcast", None)], HOME) == "Announced it."
    failed = [result("broadcast", None, Status.FAILED, reason="unsupported")]
    assert replies.compose("en", failed, HOME) == "I cannot do that here."


def test_a_risky_action_is_asked_about_by_name(replies: Replies) -> None:
    action = [Action("open_cover", {}, "cover.garage")]
    for language, question in (("en", "Open the garage door?"), ("zh", "要打开车库门吗？")):
        doing = replies.describe(language, action, HOME)
        assert replies.render(language, "ask.confirm", {"action": doing}) == question


def test_options_are_named_in_the_speakers_language(replies: Replies) -> None:
    by_name = {"options": ("Kitchen", "Bedroom")}
    assert replies.render("en", "ask.which", by_name, HOME) == "Which one: the kitchen or the bedroom?"
    assert replies.render("zh", "ask.which", by_name, HOME) == "您指的是厨房还是卧室？"


def test_a_missing_value_is_asked_for(replies: Replies) -> None:
    values = {"devices": ("light.kitchen",), "slot": "brightness"}
    assert replies.render("en", "ask.missing", values, HOME) == "How bright should the kitchen light be?"


def test_what_was_not_understood_is_said_for_what_it_is(replies: Replies) -> None:
    for kind, said in (
        ("time", "when"),
        ("sun", "sun rises"),
        ("negation", "leave it"),
        ("unheard_of", "at that time"),
    ):
        assert said in replies.render("en", "refused.not_yet", {"kind": kind, "words": "…"})


@pytest.mark.parametrize(
    ("seconds", "en", "zh"),
    [
        (1, "1 second", "1秒"),
        (300, "5 minutes", "5分钟"),
        (5400, "1 hour and 30 minutes", "1小时30分钟"),
        (0, "0 seconds", "0秒"),
    ],
)
def test_durations_are_spoken(replies: Replies, seconds: int, en: str, zh: str) -> None:
    timer = [result("set_timer", None, facts={"duration": seconds})]
    assert replies.compose("en", timer, HOME) == f"Timer set for {en}."
    assert replies.compose("zh", timer, HOME) == f"计时器已设为{zh}。"


def test_text_is_clean_for_speech(replies: Replies) -> None:
    said = replies.render("en", "refused.unknown_device", {"name": "**lamp**\n`x` <b>"}, HOME)
    assert not re.search(r"[*`<>\n|#_]", said)


def test_braces_in_a_value_are_no_placeholders(replies: Replies) -> None:
    said = replies.render("en", "refused.unknown_device", {"name": "{devices} {0} {x!r:>99}"}, HOME)
    assert said.startswith("I do not know any")
    assert len(said) < 80


def changed(language: str, key: str, value: Any) -> dict[str, Mapping[str, Any]]:
    raw = copy.deepcopy(RAW)
    *path, last = key.split(".")
    at = raw[language]
    for part in path:
        at = at[part]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return raw


def test_a_missing_sentence_is_found_at_start() -> None:
    with pytest.raises(ConfigError, match=r"zh\.yaml:\d+: no sentence for failed\.timeout"):
        Replies(changed("zh", "failed.timeout", None))


def test_a_sentence_that_only_one_language_has_is_found_at_start() -> None:
    with pytest.raises(ConfigError, match=r"zh\.yaml: no sentence for say\.birthday"):
        Replies(changed("en", "say.birthday", "Happy birthday."))


def test_a_placeholder_that_does_not_exist_is_found_at_start() -> None:
    with pytest.raises(ConfigError, match=r"failed\.ignored: no placeholder \{device_name\} exists; nearest is"):
        Replies(changed("en", "failed.ignored", "{device_name} did nothing."))


def test_broken_braces_are_found_at_start() -> None:
    with pytest.raises(ConfigError, match="braces that cannot be filled"):
        Replies(changed("en", "failed.ignored", "{devices did nothing."))


@pytest.mark.parametrize("text", ["{devices:>9999999999} idle.", "{devices!z} idle.", "{devices:{n}} idle."])
def test_more_than_a_name_in_braces_is_found_at_start(text: str) -> None:
    with pytest.raises(ConfigError, match=r"en\.yaml:\d+: failed\.ignored: .*only a name may stand in braces"):
        Replies(changed("en", "failed.ignored", text))


def test_an_unknown_group_is_found_at_start() -> None:
    with pytest.raises(ConfigError, match="unknown key 'refusd'; nearest is refused"):
        Replies({**RAW, "en": {**RAW["en"], "refusd": {}}})


def test_a_sentence_of_the_wrong_type_is_found_at_start() -> None:
    with pytest.raises(ConfigError, match=r"say\.thanks is int"):
        Replies(changed("en", "say.thanks", 3))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_action_can_be_asked_about_even_without_its_values(language: str) -> None:
    app = load_app(Path(__file__).parents[2] / "apps" / "smart_home")
    own = Replies(app.replies, tools=app.tools)
    acting = [name for name, tool in app.tools.items() if not tool.is_query]

    unsaid = [name for name in acting if not own.describe(language, [Action(name)], HOME)]

    assert unsaid == []


def test_what_was_so_already_is_not_said_to_be_done(replies: Replies) -> None:
    was_off = result("turn_off", "light.hall", state="off", reply_key="already.turn_off")
    assert replies.compose("en", [was_off], HOME) == "The hall lamp is already off."
    assert replies.compose("zh", [was_off], HOME) == "走廊灯已经关着。"


def test_what_changed_is_told_apart_from_what_was_so_already(replies: Replies) -> None:
    was_off = result("turn_off", "light.hall", state="off", reply_key="already.turn_off")
    results = [was_off, *off("light.kitchen")]
    assert replies.compose("en", results, HOME) == "Turned off the kitchen light. The hall lamp is already off."
    assert replies.compose("zh", results, HOME) == "已关闭厨房灯。走廊灯已经关着。"


def test_many_that_were_so_already_are_counted_as_the_others(replies: Replies) -> None:
    lights = [replace(HOME.devices[0], id=f"light.{n}", name=f"Spot {n}", aliases=(f"射灯{n}",)) for n in range(6)]
    home = HomeView(devices=(*lights, *HOME.devices), areas=HOME.areas)
    were_off = [result("turn_off", d.id, state="off", reply_key="already.turn_off") for d in lights]
    results = [*were_off, *off("light.kitchen")]
    assert replies.compose("en", results, home) == "Turned off the kitchen light. The other 6 lights are already off."
    assert replies.compose("zh", results, home) == "已关闭厨房灯。其余6盏灯已经关着。"


def test_the_items_of_one_list_are_named_together(replies: Replies) -> None:
    added = [result("add_to_list", "light.hall", args={"item": item}) for item in ("rice", "salt", "oil")]
    assert replies.compose("en", added, HOME) == "Added rice, salt and oil to the hall lamp."
