"""Words for some devices of a home, and the pointer tokens that mean the same."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from homes import House

Pick = Callable[[Sequence[str]], str]
Expand = Callable[[str, Mapping[str, str]], str]


class Targets:
    """Draws what a sentence speaks of."""

    def __init__(
        self, rng: random.Random, phrases: Mapping[str, Mapping[str, Any]], pick: Pick, expand: Expand
    ) -> None:
        self.rng, self.phrases, self.pick, self.expand = rng, phrases, pick, expand

    def draw(self, house: House, types: Sequence[str]) -> tuple[str, str]:
        """Words and tokens for devices of some types; ("", "") if there is none."""
        rng = self.rng
        fitting = house.of_type(*types)
        if not fitting:
            return "", ""
        index = rng.choice(fitting)
        device, p = house.devices[index], self.phrases[house.language]
        if device.type == "scene":
            return self.single(house, index)
        roll = rng.random()
        if roll < 0.14 and len(fitting) > 1:
            return self._several(house, fitting)
        if roll < 0.58:
            return self.single(house, index)
        kind = rng.choice(p["kinds"].get(device.type, [device.names[0]]))
        if roll < 0.78 and device.area is not None:
            area = house.areas[device.area]
            exact = house.named(f"{area}{' ' if house.language == 'en' else ''}{kind}")
            target = (
                f"[{device.type}][a{device.area}]"
                if not exact
                else f"[d{exact[0]}]"
                if len(exact) == 1
                else "[ask][which]"
            )
            return self._np("kind_area" if not exact else "kind_area_single", house, area=area, kind=kind), target
        if roll < 0.89 and not house.named(kind):
            return self._np("kind_here", house, kind=kind), f"[{device.type}][here]"
        return self._all(house, device.type, kind)

    def single(self, house: House, index: int) -> tuple[str, str]:
        """One device by its name, by part of it or by name and room."""
        rng, device = self.rng, house.devices[index]
        name = rng.choice(device.names) if rng.random() < 0.3 else device.names[0]
        if rng.random() < 0.12 and (part := self._part(house, name)):
            holders = [i for i, d in enumerate(house.devices) if any(part in n for n in d.names)]
            return self._np("named", house, name=part), f"[d{index}]" if holders == [index] else "[ask][which]"
        twins = house.named(name)
        if device.area is not None and device.type != "scene" and rng.random() < 0.35:
            rivals = [i for i in twins if house.devices[i].area == device.area]
            area = house.areas[device.area]
            text = name if name.startswith(area) else self._np("placed", house, area=area, name=name)
            return text, f"[d{index}]" if len(rivals) == 1 else "[ask][which]"
        text = self._np("named", house, name=name)
        if len(twins) == 1:
            return text, f"[d{index}]"
        near = [i for i in twins if house.here is not None and house.devices[i].area == house.here]
        return text, f"[d{near[0]}]" if len(near) == 1 else "[ask][which]"

    def missing(self, house: House, types: Sequence[str], made_up: str) -> str:
        """A name that fits a verb but that this home does not have."""
        p, rng = self.phrases[house.language], self.rng
        gone = [k for k in types if not house.of_type(k)]
        roll = rng.random()
        if gone and roll < 0.4:
            return str(rng.choice(p["devices"][rng.choice(gone)]))
        if roll < 0.65:
            area = rng.choice([r for r in p["rooms"] if r not in house.areas])
            kind = rng.choice([*p["devices"][types[0]], *p["kinds"].get(types[0], [])])
            return self._np("placed", house, area=area, name=kind)
        if roll < 0.8:
            return f"{made_up}{' ' if house.language == 'en' else ''}{rng.choice(p['devices'][types[0]])}"
        return str(rng.choice(p["unknown"]))

    def _several(self, house: House, fitting: list[int]) -> tuple[str, str]:
        rng = self.rng
        chosen = rng.sample(fitting, min(len(fitting), rng.choice((2, 2, 3))))
        parts = [self.single(house, i) for i in chosen]
        if any(not a.startswith("[d") for _, a in parts):
            return parts[0]
        joins = (
            (" and ", " and also ", ", ", " as well as ")
            if house.language == "en"
            else ("和", "、", "跟", "还有", "以及")
        )
        text = parts[0][0]
        for more, _ in parts[1:]:
            text += rng.choice(joins) + more
        return text, "".join(a for _, a in parts)

    def _all(self, house: House, kind_type: str, kind: str) -> tuple[str, str]:
        text, rng, p = self._np("kind_all", house, kind=kind), self.rng, self.phrases[house.language]
        if rng.random() > 0.35:
            return text, f"[{kind_type}][all]"
        if rng.random() < 0.5:
            index = rng.choice(house.of_type(kind_type))
            left_out, target = self.single(house, index)
        else:
            area = rng.randrange(len(house.areas))
            words = [house.areas[area], f"{house.areas[area]}{' ' if house.language == 'en' else ''}{kind}"]
            left_out, target = rng.choice(words), f"[a{area}]"
        if target.startswith("[ask]"):
            return text, f"[{kind_type}][all]"
        line = self.pick(p["excepts"])
        return line.replace("{x}", text).replace("{y}", left_out), f"[{kind_type}][all][except]{target}"

    def _part(self, house: House, name: str) -> str:
        """The last words of a name, if they are more than a kind; "" if there is no such part."""
        if house.language == "zh" or not name.isascii():
            part = name[-self.rng.randint(2, len(name) - 1) :] if len(name) > 4 else ""
        else:
            words = name.split()
            part = " ".join(words[self.rng.randint(1, len(words) - 1) :]) if len(words) > 2 else ""
        kinds = {k for listed in self.phrases[house.language]["kinds"].values() for k in listed}
        return "" if part in kinds or part.isdigit() or len(part) < 2 else part

    def _np(self, form: str, house: House, **slots: str) -> str:
        return self.expand(self.pick(self.phrases[house.language]["np"][form]), slots)
