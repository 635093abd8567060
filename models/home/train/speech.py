"""Makes homes and things people say about them, with the right answer beside each; seeded, endless."""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from faker.providers.lorem.en_US import Provider as English
from faker.providers.lorem.zh_CN import Provider as Chinese
from homes import Builder, House, spell
from noise import blur
from targets import Targets

from agentkit.understanding.pointer.format import clean, write_home, write_said

LOOK_UP = "[x0]"
HERE = Path(__file__).parent
_CHOICE = re.compile(r"\(([^()\[\]]*)\)")
_MAYBE = re.compile(r"\[([^()\[\]]*)\]")
_HANZI = re.compile(r"[\u3400-\u9fff]")
_HELD_OUT = 16
"""One wording in so many is never trained on."""


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


@cache
def load_phrases() -> dict[str, Mapping[str, Any]]:
    """Read phrases/*.yaml."""
    return {p.stem: yaml.safe_load(p.read_text("utf-8")) for p in sorted((HERE / "phrases").glob("*.yaml"))}


class Speaker:
    """Draws examples; the same seed gives the same stream."""

    def __init__(self, seed: int, *, slips: float = 0.22, is_held_out: bool = False) -> None:
        """`is_held_out` prefers the wordings that training leaves out."""
        self.rng = random.Random(seed)
        self.slips, self.is_held_out = slips, is_held_out
        self.phrases = load_phrases()
        self.words = _common_words()
        self.builder = Builder(self.rng, self.phrases, self.words)
        self.targets = Targets(self.rng, self.phrases, self.pick, self.expand)

    def draw(self, n: int = 1) -> list[Example]:
        """Draw n sentences of any kind about one home."""
        house = self.builder.draw(self.rng.choice(("en", "zh")))
        home = write_home(house.areas, house.devices)
        found = []
        for _ in range(n):
            here = self.rng.randrange(len(house.areas)) if self.rng.random() < 0.6 else None
            text, answer = self._say(replace(house, here=here))
            if self.rng.random() < self.slips and len(text) > 5:
                text = blur(self.rng, text, self.phrases[house.language], house.language)
            found.append(Example(home, write_said(text, house.areas, house.devices, here), f"{answer}[end]"))
        return [*found, *(self._look_up(house, home) for _ in range(n // 6))]

    def _look_up(self, house: House, home: str) -> Example:
        """A name and its pointer, nothing else: what all answers are made of, in its shortest form."""
        known = [(n, f"[d{i}]") for i, d in enumerate(house.devices) for n in d.names if len(house.named(n)) == 1]
        known += [(a, f"[a{i}]") for i, a in enumerate(house.areas)]
        name, pointer = self.rng.choice(known)
        return Example(home, f"[user]{LOOK_UP}{clean(name)}[do]", f"{pointer}[end]")

    def pick(self, lines: Sequence[str]) -> str:
        """Choose a wording."""
        by_hash = sorted(map(str, lines), key=lambda x: zlib.crc32(x.encode()))
        n_held_out = -(-len(lines) // _HELD_OUT) if len(lines) > 3 else 0
        is_split = n_held_out > 0
        return self.rng.choice(by_hash[:n_held_out] if self.is_held_out and is_split else by_hash[n_held_out:])

    def expand(self, template: str, slots: Mapping[str, str]) -> str:
        """Fill one wording."""
        text = template
        while match := _CHOICE.search(text) or _MAYBE.search(text):
            inner = match[1]
            chosen = self.rng.choice(inner.split("|")) if match[0][0] == "(" or self.rng.random() < 0.5 else ""
            text = text[: match.start()] + chosen + text[match.end() :]
        for key, value in slots.items():
            text = text.replace("{" + key + "}", value)
        return re.sub(r"\s+", " ", text).strip()

    def say(self, lines: Sequence[str], slots: Mapping[str, str] | None = None) -> str:
        """Choose and fill a wording."""
        return self.expand(self.pick(lines), slots or {})

    # -- kinds of sentences

    def _say(self, house: House) -> tuple[str, str]:
        kinds = ((0.44, self._plain), (0.08, self._pair), (0.04, self._together), (0.04, self._corrected),
                 (0.03, self._bare), (0.07, self._wish), (0.09, self._blocked), (0.06, self._unknown),
                 (0.08, self._other), (0.04, self._salad), (0.03, self._chat))  # fmt: skip
        make = self.rng.choices([k for _, k in kinds], weights=[w for w, _ in kinds])[0]
        return make(house) or self._other(house)

    def _plain(self, house: House) -> tuple[str, str] | None:
        text, answer = self.command(house)
        return (self._frame(text, house), answer) if answer else None

    def command(self, house: House) -> tuple[str, str]:
        """A bare command and its answer; ("", "") if this home has nothing for the tool."""
        p, rng = self.phrases[house.language], self.rng
        names = list(p["tools"])
        tool = rng.choices(names, weights=[_WEIGHT.get(n, 1.0) for n in names])[0]
        foreign = self.phrases["zh" if house.language == "en" else "en"]["tools"]
        entry = p["tools"][tool] if rng.random() > 0.05 else foreign.get(tool, p["tools"][tool])
        phrase, target = self.targets.draw(house, entry["types"])
        if not phrase:
            return "", ""
        lines, slots, value = self._wording(entry, house.language)
        text = self.say(lines, {**slots, "x": phrase})
        return text, target if target.startswith("[ask]") else f"[{tool}]{target}{value}"

    def _wording(self, entry: Mapping[str, Any], language: str) -> tuple[Sequence[str], dict[str, str], str]:
        if entry.get("sign"):
            sign = self.rng.choice(("more", "less"))
            return entry[sign], {}, f"[{sign}]"
        if kind := entry.get("value"):
            said, value = self._value(kind, language)
            return entry["say"], {"v": said}, value
        return entry["say"], {}, ""

    def _value(self, kind: str, language: str) -> tuple[str, str]:
        p, rng = self.phrases[language], self.rng
        if kind in ("color", "mode"):
            value = rng.choice(list(p[kind + "s"]))
            return rng.choice(p[kind + "s"][value]), value
        if kind == "percent" and rng.random() < 0.15:
            word, value = rng.choice((("half", "50"), ("full", "100"), ("lowest", "1")))
            return rng.choice(p[word]), value
        number = {"percent": rng.choice((rng.randint(1, 100), 5 * rng.randint(1, 20), 10 * rng.randint(1, 10))),
                  "degrees": rng.choice((rng.randint(16, 30), rng.randint(60, 80))),
                  "kelvin": 100 * rng.randint(22, 65)}[kind]  # fmt: skip
        said = spell(number, language) if rng.random() < 0.25 and number <= 100 else str(number)
        return said, str(number)

    def _pair(self, house: House) -> tuple[str, str] | None:
        parts = [self.command(house) for _ in range(self.rng.choice((2, 2, 2, 3)))]
        if any(not a or "[ask]" in a for _, a in parts):
            return None
        joins = self.phrases[house.language]["joins"]
        text = parts[0][0] + "".join(self.pick(joins) + t for t, _ in parts[1:])
        return self._frame(text, house), "".join(a for _, a in parts)

    def _together(self, house: House) -> tuple[str, str] | None:
        """One verb for two kinds of devices in one room."""
        p, rng = self.phrases[house.language], self.rng
        tool = rng.choice(("turn_on", "turn_off"))
        here = [(d.type, d.area) for d in house.devices if d.type in p["tools"][tool]["types"] and d.area is not None]
        pairs = sorted({(a, b) for a in here for b in here if a[1] == b[1] and a[0] != b[0]})
        if not pairs:
            return None
        (first, area), (second, _) = rng.choice(pairs)
        slots = {"a": rng.choice(p["kinds"][first]), "b": rng.choice(p["kinds"][second]), "area": house.areas[area]}
        text = self.say(p["tools"][tool]["say"], {"x": self.say(p["np"]["two_kinds"], slots)})
        return self._frame(text, house), f"[{tool}][{first}][a{area}][{tool}][{second}][a{area}]"

    def _corrected(self, house: House) -> tuple[str, str] | None:
        """The speaker thinks better of it: what comes last counts."""
        p, rng = self.phrases[house.language], self.rng
        entry = p["tools"][tool := rng.choice(list(p["tools"]))]
        lines, slots, value = self._wording(entry, house.language)
        wrong, _ = self.targets.draw(house, entry["types"])
        right, target = self.targets.draw(house, entry["types"])
        if not right or wrong == right or target.startswith("[ask]"):
            return None
        line = self.pick(lines)
        if rng.random() < 0.6:
            text = self.expand(line, {**slots, "x": wrong}) + self.pick(p["corrections"]) + right
        else:
            text = self.expand(line, {**slots, "x": wrong + self.pick(p["corrections"]) + right})
        return self._frame(text, house), f"[{tool}]{target}{value}"

    def _bare(self, house: House) -> tuple[str, str] | None:
        """A verb or a value alone: the kind follows from it, the room from where the speaker is."""
        p, rng = self.phrases[house.language], self.rng
        case = rng.choice(p["bare"])
        if not house.of_type(case["type"]):
            return None
        slots, value = {}, f"[{case['sign']}]" if "sign" in case else ""
        if kind := case.get("value"):
            slots["v"], value = self._value(kind, house.language)
        return self._frame(self.say(case["say"], slots), house), f"[{case['tool']}][{case['type']}][here]{value}"

    def _wish(self, house: House) -> tuple[str, str] | None:
        p, rng = self.phrases[house.language], self.rng
        wish = rng.choice(p["wishes"])
        sign = f"[{wish['sign']}]" if "sign" in wish else ""
        if wish["where"] == "area":
            areas = sorted({a for i in house.of_type(wish["type"]) if (a := house.devices[i].area) is not None})
            if not areas:
                return None
            area = rng.choice(areas)
            return self._around(self.say(wish["say"], {"area": house.areas[area]}), house), (
                f"[wish][{wish['tool']}][{wish['type']}][a{area}]{sign}")  # fmt: skip
        text = self._around(self.say(wish["say"]), house)
        if wish["where"] == "named":
            found = [i for i, d in enumerate(house.devices) if any(wish["name"] in n for n in d.names)]
            return text, f"[wish][{wish['tool']}][d{found[0]}]" if len(found) == 1 else "[refuse][unknown_device]"
        if not house.of_type(wish["type"]):
            return text, "[refuse][unknown_device]"
        return text, f"[wish][{wish['tool']}][{wish['type']}][here]{sign}"

    def _blocked(self, house: House) -> tuple[str, str] | None:
        text, answer = self.command(house)
        if not answer:
            return None
        p = self.phrases[house.language]
        why = self.rng.choice(list(p["blocked"]))
        slots = {"c": text, "n": str(self.rng.randint(1, 59)), "person": self.rng.choice(p["people"])}
        return self.say(p["blocked"][why], slots), f"[refuse][{why}]"

    def _unknown(self, house: House) -> tuple[str, str] | None:
        """A command for something that the home does not have."""
        p, rng = self.phrases[house.language], self.rng
        entry = p["tools"][rng.choice([t for t in p["tools"] if t != "activate_scene"])]
        name = self.targets.missing(house, entry["types"], self.builder.made_up(house.language))
        if any(name in n or n in name for n in house.names):
            return None
        lines, slots, _ = self._wording(entry, house.language)
        slots["x"] = self.say(p["np"]["named"], {"name": name})
        return self._frame(self.say(lines, slots), house), "[refuse][unknown_device]"

    def _other(self, house: House) -> tuple[str, str]:
        p, pick = self.phrases[house.language], self.rng.choice
        slots = {
            k: pick(p[k + "s"] if k != "person" else p["people"]) for k in ("place", "topic", "food", "person", "lang")
        }
        slots |= {"n": str(self.rng.randint(1, 60)), "word": pick(self.words[house.language]),
                  "gadget": pick(p["gadgets"])}  # fmt: skip
        return self.say(p["not_home"], slots), "[refuse][not_home]"

    def _chat(self, house: House) -> tuple[str, str]:
        return self.say(self.phrases[house.language]["chat"]), "[say][chitchat]"

    def _salad(self, house: House) -> tuple[str, str]:
        """Common words in no order; with a word of the home among them it is as if something was half heard."""
        glue = " " if house.language == "en" else ""
        said = self.rng.choices(self.words[house.language], k=self.rng.randint(2, 9))
        if self.rng.random() < 0.4:
            return glue.join(said), "[refuse][not_home]"
        device = self.rng.choice(house.devices)
        known = [device.names[0], *house.areas, *self.phrases[house.language]["kinds"].get(device.type, [])]
        if self.rng.random() < 0.2:
            return self.rng.choice(known), "[refuse][unsure]"
        said.insert(self.rng.randrange(len(said) + 1), self.rng.choice(known))
        return glue.join(said), "[refuse][unsure]"

    # -- frames

    def _frame(self, text: str, house: House) -> str:
        return self._around(self.say(self.phrases[house.language]["frames"], {"c": text}), house)

    def _around(self, text: str, house: House) -> str:
        """What people add that asks for nothing: why, for whom, what for."""
        p, roll = self.phrases[house.language], self.rng.random()
        comma = "," if self.rng.random() < 0.5 else "" if house.language == "zh" else " "
        space = " " if house.language == "en" else ""
        if roll < 0.10:
            said = self.say(p["before"]) if roll < 0.07 else self._other(house)[0]
            return f"{said}{comma}{space}{text}".replace("  ", " ")
        return f"{text}{comma}{space}{self.say(p['after'])}".replace("  ", " ") if roll < 0.16 else text


_WEIGHT = {
    "turn_on": 5.0,
    "turn_off": 5.0,
    "set_brightness": 2.0,
    "open_cover": 1.5,
    "close_cover": 1.5,
    "get_state": 2.5,
    "set_temperature": 1.5,
    "adjust_brightness": 2.0,
    "set_color": 1.5,
}


@cache
def _common_words() -> dict[str, list[str]]:
    """Common words of both languages, from Faker (MIT), which is needed for training only."""
    english, chinese = set(map(str.lower, English.word_list)), set(Chinese.word_list)
    return {"en": sorted(w for w in english if w.isalpha()), "zh": sorted(w for w in chinese if _HANZI.match(w))}
