"""Wires one agent from an app and a home: the same for run, ask, chat and eval."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from agentkit.agent.agent import Agent, AgentLimits
from agentkit.agent.execute import Limits
from agentkit.agent.pin_memory import PinMemory
from agentkit.agent.reply import Replies
from agentkit.agent.schedule import Schedule
from agentkit.agent.ticker import Ticker
from agentkit.config import App
from agentkit.devices.adapter import Home
from agentkit.devices.registry import Registry
from agentkit.devices.route import RoutingAdapter
from agentkit.errors import ConfigError
from agentkit.pin_file import load_pin
from agentkit.policy_rules import PolicyRule, Verdict
from agentkit.understanding.open import open_understander
from agentkit.understanding.small_words import small_words
from agentkit.understanding.talk import read_talk
from agentkit.understanding.time_words import load_time_words
from agentkit.understanding.timer_words import load_timer_words
from agentkit.understanding.understand import Understander
from agentkit.understanding.words import Words, read_words

if TYPE_CHECKING:
    from agentkit.decoder.chat import Prompt
    from agentkit.decoder.decoder import Decoder, Generation
    from agentkit.decoder.grammar import Grammar
    from agentkit.decoder.tokenizer import Tokenizer

DEVICES = "devices.json"
"""File of registered devices and last states, in the folder of an app's state."""
SCHEDULE = "schedule.json"
"""File of timers, alarms and plans, in the same folder."""
PIN = "pin.json"
"""File of the wrong tries at the code, in the same folder."""


@dataclass(frozen=True)
class Live:
    """An agent with the devices that it moves."""

    agent: Agent
    registry: Registry
    understander: Understander
    schedule: Schedule
    ticker: Ticker

    def warm_up(self) -> None:
        """Prepare all tiers for this home, so that the first sentence need not wait. Raises DecoderError."""
        self.understander.warm_up(self.agent.home.view(self.registry.home.speaker_area))

    def prepare(self) -> None:
        """Do that part of `warm_up` that needs no model."""
        self.understander.prepare(self.agent.home.view(self.registry.home.speaker_area))

    def close(self) -> None:
        """Stop what is due later and write the last states."""
        self.ticker.close()
        self.registry.close()


class LazyDecoder:
    """A decoder that opens when it is first used, so that what the templates know need not wait for it."""

    def __init__(self, open_decoder: Callable[[], Decoder]):
        self._open = open_decoder

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the model."""
        return self._open().tokenizer

    def generate(self, prompt: Prompt, *, grammar: Grammar | None = None, max_tokens: int) -> Generation:
        """Answer a prompt inside a grammar. Raises DecoderError."""
        return self._open().generate(prompt, grammar=grammar, max_tokens=max_tokens)


class Assembly:
    """What agents of one app share, whatever their home: words, sentences, templates and the model."""

    def __init__(
        self,
        app: App,
        *,
        decoder: Callable[[], Decoder] | None = None,
        larger: Callable[[], Decoder] | None = None,
        is_model_alone: bool = False,
    ):
        """Read the app's language data. Raises ConfigError for what cannot be used.

        `decoder` is called when a sentence first needs the model, `larger` when that did not understand; None = none.
        `is_model_alone` leaves the templates out, to measure what the model does by itself.
        """
        self._app = app
        self._words = {
            lang: replace(
                read_words(app.words[lang], language=lang, path=app.path / "words" / f"{lang}.yaml"),
                time=load_time_words(app.path / "words" / f"when_{lang}.yaml"),
                timers=load_timer_words(app.path / "words" / f"timers_{lang}.yaml"),
                talk=read_talk(app.dialogue.get(lang, {}), path=app.path / "dialogue" / f"{lang}.yaml"),
            )
            for lang in app.languages
        }
        self._replies = Replies(app.replies, tools=app.tools, folder=str(app.path / "replies"))
        self._understander = open_understander(
            app.path,
            words=self._words,
            tools=app.tools,
            decoders=[LazyDecoder(opens) for opens in (decoder, larger) if opens is not None],
            is_model_alone=is_model_alone,
        )

    @property
    def words(self) -> Mapping[str, Words]:
        """The words of each language of the app."""
        return self._words

    def open(
        self,
        home: Home,
        *,
        state_dir: Path | None = None,
        policy: Sequence[PolicyRule] | None = None,
        now: Callable[[], datetime] = datetime.now,
        clock: Callable[[], float] = time.monotonic,
        pin: str | None = None,
    ) -> Live:
        """Build the agent of a home. `state_dir` keeps devices, states and plans over a restart; None = nowhere.

        `policy` replaces the app's rules and `pin` its code; `clock` counts the seconds after which questions and
        memories end. What is due later runs once the ticker is started.
        """
        store = None if state_dir is None else state_dir / DEVICES
        registry = Registry(home, store=store, is_small_word=small_words(self._words.values()))
        adapter = RoutingAdapter(registry)
        rules = self._app.policy if policy is None else policy
        path = None if state_dir is None else state_dir / SCHEDULE
        schedule = Schedule(now=now, clock=clock, path=path, rules=self._app.schedule)
        agent = Agent(
            tools=self._app.tools,
            registry=registry,
            adapter=adapter,
            understander=self._understander,
            replies=self._replies,
            words=self._words,
            policy_rules=rules,
            now=now,
            clock=clock,
            limits=_limits(self._app),
            schedule=schedule,
            pin=self._pin(rules) if pin is None else pin,
            pin_memory=PinMemory(None if state_dir is None else state_dir / PIN),
        )
        return Live(agent, registry, self._understander, schedule, Ticker(schedule, agent.carry_out))

    def _pin(self, rules: Sequence[PolicyRule]) -> str | None:
        """The code, if a rule wants one. Raises ConfigError if it does and there is none."""
        if not any(rule.verdict is Verdict.PIN for rule in rules):
            return None
        code = load_pin(self._app.pin)
        if code is None:
            raise ConfigError(
                "a rule says `then: pin` but there is no code; set the variable or file that `pin` names",
                path=self._app.path / "app.yaml",
                key="pin",
            )
        return code


def build_agent(
    app: App,
    home: Home,
    *,
    decoder: Callable[[], Decoder] | None = None,
    larger: Callable[[], Decoder] | None = None,
    state_dir: Path | None = None,
    policy: Sequence[PolicyRule] | None = None,
) -> Live:
    """Build the one agent of a home; see Assembly for the arguments. Raises ConfigError."""
    return Assembly(app, decoder=decoder, larger=larger).open(home, state_dir=state_dir, policy=policy)


def _limits(app: App) -> AgentLimits:
    return AgentLimits(
        max_text_chars=app.limits.max_text_chars,
        max_actions=app.limits.max_actions,
        question_timeout_s=app.limits.question_timeout_s,
        memory_s=app.limits.memory_s,
        execution=Limits(timeout_ms=app.limits.action_timeout_ms, verify_ms=app.limits.action_timeout_ms),
    )
