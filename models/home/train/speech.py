"""Makes homes and things people say about them, with the right answer beside each; seeded, endless."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml
from faker.providers.lorem.en_US import Provider as English
from faker.providers.lorem.zh_CN import Provider as Chinese

from agentkit.understanding.pointer.format import Line, write_home, write_said

HERE = Path(__file__).parent
_CHOICE = re.compile(r"\(([^()\[\]]*)\)")
_MAYBE = re.compile(r"\[([^()\[\]]*)\]")
_CJK = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True)
class Example:
    """One sentence about a home with its answer."""

    home: str
    said: str
    answer: str

    @property
    def prompt(self) -> str:
        """The whole prompt."""
        return self.home + self.said


@dataclass
class House:
    """A random home in one language, with its shortlist order."""

    language: str
    areas: list[str]
    devices: list[Line]
    here: int | None

    def of_type(self, *types: str) -> list[int]:
        """Indices of the devices of these types."""
        return [i for i, d in enumerate(self.devices) if d.type in types]


def load_phrases() -> dict[str, Mapping[str, Any]]:
    """Read phrases/*.yaml."""
    return {p.stem: yaml.safe_load(p.read_text("utf-8")) for p in sorted((HERE / "phrases").glob("*.yaml"))}


class Speaker:
    """Draws examples; the same seed gives the same stream."""

    def __init__(self, seed: int, *, slips: float = 0.15) -> None:
        self.rng = random.Random(seed)
        self.slips = slips
        self.phrases = load_phrases()
        self.words = _common_words()

    def draw(self, n: int = 1) -> list[Example]:
        """Draw n sentences of any kind about one home."""
        house = self._house(self.rng.choice(("en", "zh")))
        home = write_home(house.areas, house.devices)
        found = []
        for _ in range(n):
            here = self.rng.randrange(len(house.areas)) if self.rng.random() < 0.6 else None
            heard = replace(house, here=here)
            text, answer = self._pick(heard)
            found.append(Example(home, write_said(here, self._noise(text, house.language)), f"{answer}[end]"))
        return found

    def _pick(self, house: House) -> tuple[str, str]:
        roll = self.rng.random()
        p = self.phrases[house.language]
        if roll < 0.50:
            text, answer = self._command(house)
            return (self._frame(text, house), answer) if answer else self._other(house)
        if roll < 0.60:
            return self._pair(house)
        if roll < 0.68:
            return self._wish(house)
        if roll < 0.76:
            return self._blocked(house)
        if roll < 0.82:
            return self._unknown(house)
        if roll < 0.93:
            return self._other(house)
        if roll < 0.97:
            return self._salad(house)
        return self._expand(self.rng.choice(p["chat"]), {}), "[say][chitchat]"

    def _other(self, house: House) -> tuple[str, str]:
        return self._expand(self.rng.choice(self.phrases[house.language]["not_home"]), self._world(house)), "[refuse][not_home]"

    def _world(self, house: House) -> dict[str, str]:
        p, pick = self.phrases[house.language], self.rng.choice
        return {"place": pick(p["places"]), "topic": pick(p["topics"]), "food": pick(p["foods"]),
                "person": pick(p["people"]), "lang": pick(p["langs"]), "n": str(self.rng.randint(1, 60))}  # fmt: skip

    def _salad(self, house: House) -> tuple[str, str]:
        """Common words in no order; with a word of the home among them it is as if something was half heard."""
        glue = " " if house.language == "en" else ""
        said = self.rng.choices(self.words[house.language], k=self.rng.randint(2, 9))
        if self.rng.random() < 0.5:
            return glue.join(said), "[refuse][not_home]"
        device = self.rng.choice(house.devices)
        known = [device.names[0], *house.areas, *self.phrases[house.language]["kinds"].get(device.type, [])]
        said.insert(self.rng.randrange(len(said) + 1), self.rng.choice(known))
        return glue.join(said), "[refuse][unsure]"

    # -- homes

    def _house(self, language: str) -> House:
        p, rng = self.phrases[language], self.rng
        n_areas = rng.choice((1, 2, 3, 3, 4, 5, 6, 8))
        areas = [self._made_up(language) if rng.random() < 0.05 else room for room in rng.sample(p["rooms"], n_areas)]
        areas = list(dict.fromkeys(areas))
        habit = rng.choice((0.1, 0.4, 0.8))  # how often this home writes the room into a name
        devices: list[Line] = []
        for _ in range(rng.choice((1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14))):
            kind = rng.choices(list(p["devices"]), weights=[8, 3, 2, 3, 4, 2, 3, 1.5, 0.5, 1, 1.5, 1])[0]
            area = rng.randrange(len(areas)) if rng.random() < 0.92 else None
            devices.append(Line(kind, self._names(areas, area, language, kind, habit), area))
        return House(language, areas, devices, None)

    def _names(self, areas: list[str], area: int | None, language: str, kind: str, habit: float) -> tuple[str, ...]:
        rng, glue, p = self.rng, " " if language == "en" else "", self.phrases[language]
        name = rng.choice(p["devices"][kind])
        roll = rng.random()
        if kind != "scene" and area is not None and rng.random() < habit:
            name = f"{areas[area]}{glue}{rng.choice((name, rng.choice(p['kinds'].get(kind, [name]))))}"
        elif roll < 0.10:
            name = f"{rng.choice(p['owners'])}{'s ' if language == 'en' else '的'}{name}"
        elif roll < 0.18:
            name = f"{name}{glue}{rng.choice((str(rng.randint(1, 9)), _spell(rng.randint(1, 9), language)))}"
        elif roll < 0.26:
            name = f"{self._made_up(language)}{glue}{name}"
        elif roll < 0.31:
            name = self._made_up(language)
        if rng.random() < 0.12:
            return (name, rng.choice(p["devices"][kind]))
        if rng.random() < 0.1:
            return (name, rng.choice(self.phrases["zh" if language == "en" else "en"]["devices"][kind]))
        return (name,)

    def _made_up(self, language: str) -> str:
        rng = self.rng
        if language == "zh":
            if rng.random() < 0.4:
                return rng.choice(self.words["zh"])
            if rng.random() < 0.5:
                return "".join(bytes((rng.randint(0xB0, 0xD6), rng.randint(0xA1, 0xFE))).decode("gb2312") for _ in "ab")
            return "".join(rng.choice("星云米家智慧小大海天山风华美乐居安宁静月光晨曦蓝白金东西南北左右上下前后") for _ in "ab")
        if rng.random() < 0.6:
            return " ".join(rng.choice(self.words["en"]) for _ in range(rng.choice((1, 1, 2))))
        return "".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(2, 3)))

    # -- commands

    def _command(self, house: House, tool: str | None = None) -> tuple[str, str]:
        """A bare command and its answer; ("", "") if this home has nothing for the tool."""
        p = self.phrases[house.language]
        names = list(p["tools"])
        tool = tool or self.rng.choices(names, weights=[_WEIGHT.get(n, 1.0) for n in names])[0]
        entry = p["tools"][tool]
        phrase, target = self._target(house, entry["types"])
        if not phrase:
            return "", ""
        slots = {"x": phrase}
        value = ""
        lines = entry.get("say")
        if entry.get("sign"):
            value = self.rng.choice(("more", "less"))
            lines, value = entry[value], f"[{value}]"
        elif kind := entry.get("value"):
            slots["v"], value = self._value(kind, house.language)
        if target.startswith("[ask]"):
            return self._expand(self.rng.choice(lines), slots), target
        return self._expand(self.rng.choice(lines), slots), f"[{tool}]{target}{value}"

    def _value(self, kind: str, language: str) -> tuple[str, str]:
        p, rng = self.phrases[language], self.rng
        if kind in ("color", "mode"):
            value = rng.choice(list(p[kind + "s"]))
            return rng.choice(p[kind + "s"][value]), value
        if kind == "percent" and rng.random() < 0.12:
            word, value = rng.choice((("half", "50"), ("full", "100")))
            return rng.choice(p[word]), value
        number = {"percent": rng.choice((rng.randint(1, 100), 5 * rng.randint(1, 20), 10 * rng.randint(1, 10))),
                  "degrees": rng.choice((rng.randint(16, 30), rng.randint(60, 80))),
                  "kelvin": 100 * rng.randint(22, 65)}[kind]  # fmt: skip
        said = _spell(number, language) if rng.random() < 0.25 and number <= 100 else str(number)
        return said, str(number)

    def _target(self, house: House, types: list[str]) -> tuple[str, str]:
        """Words for some devices and the tokens that point to them."""
        rng = self.rng
        fitting = house.of_type(*types)
        if not fitting:
            return "", ""
        index = rng.choice(fitting)
        device = house.devices[index]
        p = self.phrases[house.language]
        kind = rng.choice(p["kinds"].get(device.type, [device.names[0]]))
        roll = rng.random()
        if device.type in ("scene",):
            roll = 0.0
        if roll < 0.14 and len(fitting) > 1:
            other = rng.choice([i for i in fitting if i != index])
            first, a = self._single(house, index)
            second, b = self._single(house, other)
            if a.startswith("[d") and b.startswith("[d"):
                join = rng.choice((" and ", " and also ", ", ") if house.language == "en" else ("和", "、", "跟", "还有"))
                return f"{first}{join}{second}", a + b
        if roll < 0.60:
            return self._single(house, index)
        area = device.area
        if roll < 0.78 and area is not None:
            text = self._expand(rng.choice(p["np"]["kind_area"]), {"area": house.areas[area], "kind": kind})
            return text, f"[{device.type}][a{area}]"
        if roll < 0.90 and not any(kind == n for d in house.devices for n in d.names):
            return self._expand(rng.choice(p["np"]["kind_here"]), {"kind": kind}), f"[{device.type}][here]"
        return self._expand(rng.choice(p["np"]["kind_all"]), {"kind": kind}), f"[{device.type}][all]"

    def _single(self, house: House, index: int) -> tuple[str, str]:
        rng, device = self.rng, house.devices[index]
        p = self.phrases[house.language]
        name = rng.choice(device.names) if rng.random() < 0.15 else device.names[0]
        twins = [i for i, d in enumerate(house.devices) if name in d.names]
        if device.area is not None and device.type != "scene" and rng.random() < 0.35:
            rivals = [i for i in twins if house.devices[i].area == device.area]
            area = house.areas[device.area]
            text = self._expand(rng.choice(p["np"]["placed"]), {"area": area, "name": name})
            if name.startswith(area):
                text = name
            return text, f"[d{index}]" if len(rivals) == 1 else "[ask][which]"
        text = self._expand(rng.choice(p["np"]["named"]), {"name": name})
        if len(twins) == 1:
            return text, f"[d{index}]"
        near = [i for i in twins if house.here is not None and house.devices[i].area == house.here]
        return text, f"[d{near[0]}]" if len(near) == 1 else "[ask][which]"

    def _pair(self, house: House) -> tuple[str, str]:
        first, a = self._command(house)
        second, b = self._command(house)
        if not a or not b or "[ask]" in a + b:
            return self._other(house)
        return self._frame(first + self.rng.choice(self.phrases[house.language]["joins"]) + second, house), a + b

    def _wish(self, house: House) -> tuple[str, str]:
        p, rng = self.phrases[house.language], self.rng
        wish = rng.choice(p["wishes"])
        fitting = house.of_type(wish["type"])
        sign = f"[{wish['sign']}]" if "sign" in wish else ""
        if wish["where"] == "area":
            fitting = [i for i in fitting if house.devices[i].area is not None]
            if not fitting:
                return self._other(house)
            area = house.devices[rng.choice(fitting)].area
            text = self._expand(rng.choice(wish["say"]), {"area": house.areas[area or 0]})
            return text, f"[wish][{wish['tool']}][{wish['type']}][a{area}]{sign}"
        if not fitting:
            return self._expand(rng.choice(wish["say"]), {}), "[refuse][unknown_device]"
        return self._expand(rng.choice(wish["say"]), {}), f"[wish][{wish['tool']}][{wish['type']}][here]{sign}"

    def _blocked(self, house: House) -> tuple[str, str]:
        text, answer = self._command(house)
        if not answer:
            return self._other(house)
        p = self.phrases[house.language]
        why = self.rng.choice(list(p["blocked"]))
        slots = {"c": text, "n": str(self.rng.randint(1, 59))}
        return self._expand(self.rng.choice(p["blocked"][why]), slots), f"[refuse][{why}]"

    def _unknown(self, house: House) -> tuple[str, str]:
        """A command for something that the home does not have."""
        p, rng = self.phrases[house.language], self.rng
        tool = rng.choice([t for t in p["tools"] if t != "activate_scene"])
        entry = p["tools"][tool]
        missing = [k for k in entry["types"] if not house.of_type(k)]
        name = rng.choice(p["unknown"])
        if missing and rng.random() < 0.5:
            name = rng.choice(p["devices"][rng.choice(missing)])
        elif rng.random() < 0.4:
            area = rng.choice([r for r in p["rooms"] if r not in house.areas])
            name = self._expand(rng.choice(p["np"]["placed"]), {"area": area, "name": rng.choice(p["devices"][entry["types"][0]])})
        if any(name in n or n in name for d in house.devices for n in d.names):
            return self._other(house)
        slots = {"x": self._expand(rng.choice(p["np"]["named"]), {"name": name})}
        lines = entry.get("say") or entry["more"] + entry["less"]
        if kind := entry.get("value"):
            slots["v"] = self._value(kind, house.language)[0]
        return self._frame(self._expand(rng.choice(lines), slots), house), "[refuse][unknown_device]"

    # -- words

    def _frame(self, text: str, house: House) -> str:
        return self._expand(self.rng.choice(self.phrases[house.language]["frames"]), {"c": text})

    def _expand(self, template: str, slots: Mapping[str, str]) -> str:
        text = str(template)
        while match := _CHOICE.search(text) or _MAYBE.search(text):
            inner = match[1]
            chosen = self.rng.choice(inner.split("|")) if match[0][0] == "(" else inner if self.rng.random() < 0.5 else ""
            if match[0][0] == "[" and "|" in chosen:
                chosen = self.rng.choice(chosen.split("|"))
            text = text[: match.start()] + chosen + text[match.end() :]
        for key, value in slots.items():
            text = text.replace("{" + key + "}", value)
        return re.sub(r"\s+", " ", text).strip()

    def _noise(self, text: str, language: str) -> str:
        """Slips of typing and hearing; never in numbers."""
        rng = self.rng
        if rng.random() >= self.slips or len(text) < 8:
            return text
        places = [i for i, c in enumerate(text) if c.isalpha()]
        at = rng.choice(places or [0])
        roll = rng.random()
        if language == "zh":
            return text[:at] + text[at + 1 :] if roll < 0.3 else text + rng.choice("吧啊呀哦呢嘛")
        if roll < 0.35:
            return text[:at] + text[at + 1 :]
        if roll < 0.6 and at + 1 < len(text) and text[at + 1].isalpha():
            return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
        if roll < 0.8:
            return text.replace("the ", "", 1)
        return text[:at] + text[at] + text[at:]


_WEIGHT = {"turn_on": 4.0, "turn_off": 4.0, "set_brightness": 2.0, "open_cover": 1.5, "close_cover": 1.5, "get_state": 2.5,
           "set_temperature": 1.5, "adjust_brightness": 1.5}  # fmt: skip
_SYLLABLES = "ka ri to lu mi za no xe fi bo wyn dor el tra sen qu ip ax an ster ley mon gar ish ron".split()
_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()


def _spell(number: int, language: str) -> str:
    if language == "zh":
        digits = "零一二三四五六七八九"
        if number >= 100:
            return "一百"
        tens, ones = divmod(number, 10)
        head = "" if tens == 0 else "十" if tens == 1 else digits[tens] + "十"
        return (head + (digits[ones] if ones else "")) or "零"
    if number >= 100:
        return "one hundred"
    if number < 20:
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens] + (f" {_ONES[ones]}" if ones else "")


def _common_words() -> dict[str, list[str]]:
    """Common words of both languages, from Faker (MIT), which is needed for training only."""
    english, chinese = set(map(str.lower, English.word_list)), set(Chinese.word_list)
    return {"en": sorted(w for w in english if w.isalpha()), "zh": sorted(w for w in chinese if _CJK.match(w))}
