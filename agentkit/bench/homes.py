"""The same commands in a small and a large home, by turns: understanding must not slow down with the home."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from agentkit.assemble import Assembly, Live
from agentkit.config import App
from agentkit.devices.adapter import Area, Device, Home
from agentkit.types import Utterance

MAX_RATIO = 1.5
"""What a turn in the largest home may take of one in the smallest."""
DEVICES_PER_AREA = 10
_SYLLABLES = {
    "en": ["ba", "dor", "el", "fi", "ga", "ker", "lu", "mo", "nel", "or", "pa", "quin", "ra", "sel", "tor", "wy", "zu"],
    "zh": list("安柏辰德恩枫谷海景岚茗宁琪若松棠薇夏妍舟"),
}


def homes_bench(
    app: App,
    *,
    sizes: Sequence[int] = (10, 100, 1000),
    rounds: int = 5,
    on_round: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Say the plain commands of the devices that all sizes share, templates only, and return milliseconds by size.

    Every round says each sentence once in each home, one home after the other, so that a busy moment meets all alike.
    """
    homes = {size: sized(app.home, size) for size in sizes}
    sentences = list(replace(app, home=homes[min(sizes)]).plain_commands())
    assembly = Assembly(app)
    ms: dict[int, list[float]] = {size: [] for size in sizes}
    with ExitStack() as stack:
        lives = {size: assembly.open(home) for size, home in homes.items()}
        for live in lives.values():
            stack.callback(live.close)
            live.warm_up()
        for n_round in range(rounds + 1):
            for (number, text), size in itertools.product(enumerate(sentences), sizes):
                took = _turn(lives[size], text, f"{n_round}-{number}")
                if n_round:  # the first round fills the caches
                    ms[size].append(took)
            if on_round:
                on_round(n_round)
    figures = {size: _figures(values) for size, values in ms.items()}
    ratio = figures[max(sizes)]["p50"] / figures[min(sizes)]["p50"]
    return {"n_sentences": len(sentences), "ms": figures, "ratio": ratio, "is_level": ratio <= MAX_RATIO}


def sized(home: Home, n_devices: int) -> Home:
    """Cut the home to this many devices, or fill it up with like ones of made-up names in made-up rooms."""
    devices = list(home.devices[:n_devices])
    areas = list(home.areas)
    draw = random.Random(n_devices)
    taken = {name for device in home.devices for name in device.names}
    taken |= {name for area in home.areas for name in area.names}
    for number in range(n_devices - len(devices)):
        if number % DEVICES_PER_AREA == 0:
            areas.append(Area(f"bench_area_{number}", _made_up(draw, home.language, taken)))
        devices.append(_like(home.devices[number % len(home.devices)], number, areas[-1], draw, home.language, taken))
    return replace(home, devices=tuple(devices), areas=tuple(areas))


def _like(device: Device, number: int, area: Area, draw: random.Random, language: str, taken: set[str]) -> Device:
    glue = "" if language == "zh" else " "
    name = f"{_made_up(draw, language, taken)}{glue}{device.name.split()[-1]}"
    return replace(device, id=f"bench.{number}", name=name, aliases=(), area=area.id)


def _made_up(draw: random.Random, language: str, taken: set[str]) -> str:
    while True:
        word = "".join(draw.choices(_SYLLABLES.get(language, _SYLLABLES["en"]), k=3)).capitalize()
        if word not in taken:
            taken.add(word)
            return word


def _turn(live: Live, text: str, session: str) -> float:
    started_at = time.perf_counter()
    live.agent.handle(Utterance(text, session=f"bench-{session}", source="cli"))
    return (time.perf_counter() - started_at) * 1e3


def _figures(ms: list[float]) -> dict[str, float]:
    return {"n": len(ms), "p50": float(np.percentile(ms, 50)), "p99": float(np.percentile(ms, 99)), "max": max(ms)}
