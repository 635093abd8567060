"""Colours by name, by hex code and by numbers; whites by their temperature."""

from __future__ import annotations

import re

RGB = tuple[int, int, int]

COLORS: dict[str, RGB] = {
    "red": (255, 0, 0),
    "green": (0, 255, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "orange": (255, 165, 0),
    "purple": (128, 0, 128),
    "violet": (148, 0, 211),
    "indigo": (75, 0, 130),
    "pink": (255, 105, 180),
    "rose": (255, 80, 120),
    "magenta": (255, 0, 255),
    "lavender": (181, 126, 220),
    "lilac": (200, 162, 200),
    "cyan": (0, 255, 255),
    "turquoise": (64, 224, 208),
    "teal": (0, 128, 128),
    "aqua": (0, 220, 255),
    "sky blue": (100, 190, 255),
    "light blue": (130, 200, 255),
    "dark blue": (0, 0, 139),
    "navy": (0, 0, 128),
    "light green": (144, 238, 144),
    "dark green": (0, 100, 0),
    "lime": (160, 255, 0),
    "mint": (120, 255, 190),
    "olive": (128, 128, 0),
    "gold": (255, 200, 0),
    "amber": (255, 175, 0),
    "peach": (255, 190, 140),
    "coral": (255, 127, 80),
    "salmon": (250, 128, 114),
    "crimson": (220, 20, 60),
    "scarlet": (255, 36, 0),
    "maroon": (128, 0, 0),
    "brown": (140, 80, 30),
    "white": (255, 255, 255),
}

WHITES: dict[str, int] = {
    "candlelight": 1900,
    "warm white": 2700,
    "soft white": 3000,
    "neutral white": 4000,
    "natural white": 4000,
    "cool white": 5000,
    "cold white": 6000,
    "daylight": 6500,
}

OTHER_NAMES: dict[str, str] = {
    "红": "red",
    "绿": "green",
    "蓝": "blue",
    "黄": "yellow",
    "橙": "orange",
    "橘": "orange",
    "紫": "purple",
    "粉": "pink",
    "粉红": "pink",
    "玫红": "rose",
    "洋红": "magenta",
    "青": "cyan",
    "天蓝": "sky blue",
    "浅蓝": "light blue",
    "深蓝": "dark blue",
    "浅绿": "light green",
    "深绿": "dark green",
    "金": "gold",
    "琥珀": "amber",
    "棕": "brown",
    "白": "white",
    "暖白": "warm white",
    "暖光": "warm white",
    "自然光": "neutral white",
    "冷白": "cool white",
    "冷光": "cool white",
    "日光": "daylight",
    "烛光": "candlelight",
    "warm": "warm white",
    "cool": "cool white",
    "cold": "cold white",
    "grey": "white",
    "gray": "white",
}

TRADITIONAL = str.maketrans("紅綠藍黃燭淺", "红绿蓝黄烛浅")

KELVIN_RGB: tuple[tuple[int, RGB], ...] = (
    (1500, (255, 110, 0)),
    (2000, (255, 138, 20)),
    (2700, (255, 170, 90)),
    (3500, (255, 196, 140)),
    (4500, (255, 219, 186)),
    (5500, (255, 236, 224)),
    (6500, (255, 250, 250)),
    (8000, (225, 232, 255)),
    (10000, (205, 220, 255)),
)
"""White light as an RGB lamp can show it; between two rows it is interpolated."""


def color_name(text: str) -> str:
    """Return the English name of a colour said in English or Chinese; an unknown name comes back tidied."""
    name = re.sub(r"[\s_-]+", " ", text.strip().lower()).translate(TRADITIONAL)
    bare = name.removesuffix("色")
    return OTHER_NAMES.get(name) or OTHER_NAMES.get(bare) or name


def parse_color(text: str) -> RGB | None:
    """Turn a name, #rrggbb or "r,g,b" into RGB."""
    name = color_name(text)
    if name in COLORS:
        return COLORS[name]
    if hexadecimal := re.fullmatch(r"#?([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})", name):
        red, green, blue = (int(x, 16) for x in hexadecimal.groups())
        return red, green, blue
    if numbers := re.fullmatch(r"[\[(]?\s*(\d{1,3})\s*[, ]\s*(\d{1,3})\s*[, ]\s*(\d{1,3})\s*[\])]?", name):
        red, green, blue = (int(x) for x in numbers.groups())
        return (red, green, blue) if max(red, green, blue) <= 255 else None
    return None


def nearest_name(rgb: RGB) -> str:
    """Name the known colour that is nearest."""
    return min(COLORS, key=lambda name: sum((a - b) ** 2 for a, b in zip(COLORS[name], rgb, strict=True)))


def kelvin_to_rgb(kelvin: float) -> RGB:
    """Show white light of that temperature on a lamp that only mixes colours."""
    (low, first), *rest = KELVIN_RGB
    if kelvin <= low:
        return first
    for high, second in rest:
        if kelvin <= high:
            part = (kelvin - low) / (high - low)
            red, green, blue = (round(a + (b - a) * part) for a, b in zip(first, second, strict=True))
            return red, green, blue
        low, first = high, second
    return first
