"""Start-up of an app: load, open its devices, build the agent; the model opens when it is first needed."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentkit.assemble import Live, build_agent
from agentkit.config import App, load_app
from agentkit.devices.adapter import Device
from agentkit.devices.registry import Registry
from agentkit.host import Host, Opened, Turns
from agentkit.intake import check_area, check_utterance
from agentkit.open_model import Model, Say, open_model
from agentkit.state import own, state_dir
from agentkit.types import Reply, Utterance

if TYPE_CHECKING:
    from agentkit.decoder.decoder import Decoder


@dataclass(frozen=True)
class Options:
    """What the command line says about an app."""

    path: Path
    overrides: tuple[str, ...] = ()
    has_model: bool = True
    state: Path | None = None
    """Folder of device states; None = the user's."""


@dataclass(frozen=True)
class Loaded:
    """An app and where its state is."""

    app: App
    state_dir: Path
    has_model: bool


@dataclass(frozen=True)
class Talk:
    """An open app for a command that serves nobody else."""

    app: App
    registry: Registry
    agent: Turns

    @property
    def name(self) -> str:
        """Name of the app."""
        return self.app.name

    def handle(self, utterance: Utterance) -> Reply:
        """Run one turn. Raises UtteranceError for what the agent should not see."""
        check_utterance(utterance, self.registry, max_chars=self.app.limits.max_text_chars)
        return self.agent.handle(utterance)

    def devices(self) -> tuple[Device, ...]:
        """Every device as last read."""
        return self.registry.devices()

    def check_area(self, area: str | None) -> None:
        """Raise UtteranceError if there is no such room."""
        check_area(area, self.registry.areas)


class LazyModel:
    """Opens the model at the first call, once, whoever calls."""

    def __init__(self, app: App, say: Say):
        self._app, self._say = app, say
        self._lock = threading.Lock()
        self._model: Model | None = None
        second = replace(app, model=app.larger_model, larger_model=None)
        self._larger = None if app.larger_model is None else LazyModel(second, say)

    @property
    def larger_decoder(self) -> Callable[[], Decoder] | None:
        """How to open the larger model; None if the app has none."""
        return None if self._larger is None else self._larger.decoder

    def decoder(self) -> Decoder:
        """Return the warm decoder, opening it if need be. Raises what `open_model` raises."""
        return self.model().decoder

    def model(self) -> Model:
        """Return decoder and plan, opening them if need be. Raises what `open_model` raises."""
        with self._lock:
            if self._model is None:
                self._model = open_model(self._app, self._say)
            return self._model

    def close(self) -> None:
        """Close the decoders that are open."""
        if self._larger is not None:
            self._larger.close()
        with self._lock:
            if self._model is not None:
                self._model.decoder.close()
                self._model = None


def load(options: Options) -> Loaded:
    """Load the app. Raises AppError, ConfigError."""
    app = load_app(options.path, options.overrides)
    return Loaded(app, state_dir(app.name, options.state), options.has_model and app.model is not None)


def open_host(loaded: Loaded, say: Say) -> Host:
    """Open devices and agent at once; the model follows when the host starts."""
    listeners: list[Say] = [say]

    def tell(line: str) -> None:
        for listener in listeners:
            listener(line)

    lazy = LazyModel(loaded.app, tell)
    live = _build(loaded, lazy, say)

    def open_agent(note: Say) -> Opened:
        listeners.append(note)
        return _open(loaded, lazy, live, say)

    return Host(loaded.app.name, live.registry, open_agent)


def _open(loaded: Loaded, lazy: LazyModel, live: Live, say: Say) -> Opened:
    model = lazy.model() if loaded.has_model else None
    started_at = time.perf_counter()
    live.warm_up()
    if model is None:
        say("model    none; what the templates do not know is not done")
        live.ticker.start()
        return Opened(live.agent, close=live.close, schedule=live.schedule, history=live.agent.trace.turns)
    took_s = time.perf_counter() - started_at
    say(f"grammar  of {len(live.registry.devices())} devices, and the static prompt, after {took_s:.1f} s")

    def close() -> None:
        live.close()
        lazy.close()

    live.ticker.start()
    return Opened(live.agent, model.plan.as_dict(), model.decoder.status, close, live.schedule, live.agent.trace.turns)


def _build(loaded: Loaded, lazy: LazyModel, say: Say) -> Live:
    live = build_agent(
        loaded.app,
        loaded.app.home,
        decoder=lazy.decoder if loaded.has_model else None,
        larger=lazy.larger_decoder if loaded.has_model else None,
        state_dir=loaded.state_dir,
    )
    for warning in (*live.registry.warnings, *live.schedule.warnings):
        say(f"warning  {warning}")
    return live


@contextmanager
def opened_once(options: Options, say: Say) -> Iterator[Talk]:
    """Open an app for one command; the model opens only if the templates do not know a sentence.

    Raises StateInUse while another process has the app's state: there is one home, so it is never copied.
    """
    with opened_loaded(load(options), say) as talk:
        yield talk


@contextmanager
def opened_loaded(loaded: Loaded, say: Say) -> Iterator[Talk]:
    """Like `opened_once`, for an app that is loaded already."""
    with own(loaded.state_dir):
        lazy = LazyModel(loaded.app, say)
        live = _build(loaded, lazy, say)
        live.ticker.start()
        try:
            yield Talk(loaded.app, live.registry, live.agent)
        finally:
            if live.schedule.seconds_to_next() is not None:
                say("note: timers and plans go on only while agentkit run or agentkit chat is open")
            live.close()
            lazy.close()


def settle_memory() -> None:
    """Tell the garbage collector that what is loaded by now stays: looking through it takes a turn 0.2 s longer.

    For a process of ours that is ready to serve; an app that embeds an agent decides that for itself.
    """
    gc.collect()
    gc.freeze()
