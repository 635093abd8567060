"""Nothing acts while a word of the sentence has no meaning: commands with one word too many, made by chance."""

from __future__ import annotations

import random
import re

import pytest

from agentkit.types import Kind, Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import detect_language

from .conftest import Ask

N_COMMANDS = 150
COMMANDS = {
    "en": (
        "turn on the {light}",
        "switch the {light} off",
        "set the {light} to 40 percent",
        "make the {light} red",
        "close the {cover}",
        "lock the {lock}",
        "set the {climate} to 22 degrees",
        "pause the {media_player}",
        "turn off the lights in the {area}",
        "turn off the {switch}",
    ),
    "zh": (
        "打开{light}",
        "把{light}调到百分之四十",
        "关上{cover}",
        "锁上{lock}",
        "把{climate}调到二十二度",
        "关掉{media_player}",
        "把{area}的灯打开",
    ),
}
CONTENT = {
    "en": "banana invoice neighbour slowly wedding holiday broken imaginary rental almost bake hate sell eat burn cost "
    "brother doctor police warranty repair password battery maybe opposite hardly pretending wrong",
    "zh": "香蕉 邻居 婚礼 也许 几乎 坏的 便宜 卖 吃 烧 价格 密码 保修 账单 哥哥 警察 汽车 常常 差点 讨厌",
}
FORBIDDING = {
    "en": "not never don't dont no nor if unless when until except but tomorrow tonight later without can't",
    "zh": "别 莫 勿 甭 如果 除了 明天 等会 假如 不要 不能 昨天 先不 毋 之前 的话 不许 除非",
}


def names(home: HomeView, language: str) -> dict[str, list[str]]:
    things: dict[str, list[str]] = {"area": [n for a in home.areas for n in a.names]}
    for device in home.devices:
        things.setdefault(device.type, []).extend(device.names)
    return {k: [n for n in v if detect_language(n) == language] for k, v in things.items()}


def with_one_more(said: str, word: str, chance: random.Random) -> str:
    pieces, glue = (said.split(), " ") if said.isascii() else (list(said), "")
    at = chance.randrange(len(pieces) + 1)
    return glue.join([*pieces[:at], word, *pieces[at:]])


def acts(found: Understanding) -> bool:
    is_reading = all(i.tool.startswith("get_") for i in found.intents)
    return found.kind is Kind.CALLS and not found.needs_confirmation and not is_reading


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("extra", [CONTENT, FORBIDDING], ids=["content", "forbidding"])
def test_a_word_too_many_keeps_a_command_from_running(
    language: str, extra: dict[str, str], ask: Ask, home: HomeView
) -> None:
    chance = random.Random(7)
    things = names(home, language)
    for _ in range(N_COMMANDS):
        pattern = chance.choice(COMMANDS[language])
        said = re.sub(r"\{(\w+)\}", lambda m: chance.choice(things[m[1]]), pattern)
        text = with_one_more(said, chance.choice(extra[language].split()), chance)
        assert acts(ask(said)), said
        assert not acts(ask(text)), (text, ask(text))


@pytest.mark.parametrize(
    "text", ["lock stop the back door", "unlock the draw back door", "mute the stop living room tv"]
)
def test_a_second_verb_is_not_passed_over(text: str, ask: Ask) -> None:
    assert not acts(ask(text))
