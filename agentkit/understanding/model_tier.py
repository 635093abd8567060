"""The model's tier: a short prompt, an answer inside the home's grammar, no call without evidence."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from agentkit.decoder.chat import Message, Prompt, split_chat
from agentkit.decoder.decoder import Generation
from agentkit.decoder.grammar import Grammar
from agentkit.decoder.tokenizer import Tokenizer
from agentkit.errors import DecoderError, PromptTooLong
from agentkit.types import Intent, Kind, Selector, Understanding
from agentkit.understanding.entries import Role
from agentkit.understanding.evidence import Level, read_sentence, weigh
from agentkit.understanding.home_cache import HomeCache
from agentkit.understanding.home_grammar import home_grammar
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.labels import Label, make_labels
from agentkit.understanding.lexicon import Lexicon, lexicons_of
from agentkit.understanding.normalise import Normalised
from agentkit.understanding.offers import offers_of
from agentkit.understanding.phrase_map import PhraseMap
from agentkit.understanding.prompt import MAX_UTTERANCE, PromptText, example_text, system_text, user_text
from agentkit.understanding.shortlist import shortlist
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

MAX_TOKENS = 160


class Generator(Protocol):
    """What this tier needs of a decoder."""

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that grammars are compiled for."""
        ...

    def generate(self, prompt: Prompt, *, grammar: Grammar | None = None, max_tokens: int) -> Generation:
        """Answer a prompt inside a grammar."""
        ...


@dataclass(frozen=True)
class _Turn:
    """What one utterance offers the model."""

    labels: tuple[Label, ...]
    grammar: Grammar
    prompt: Prompt


class ModelTier:
    """Asks the decoder about sentences that templates left over."""

    def __init__(
        self,
        decoder: Generator,
        *,
        tools: Mapping[str, Tool],
        words: Mapping[str, Words],
        phrases: PhraseMap,
        text: PromptText,
        lexicons: HomeCache[Lexicon] | None = None,
    ) -> None:
        """`lexicons`: those that others use as well; None = of its own."""
        told = {n: t for n, t in tools.items() if t.is_told}
        tools = {n: t for n, t in told.items() if t.types or not t.params}  # what needs no device has its own tier
        self._decoder, self._tools, self._words, self._phrases = decoder, tools, words, phrases
        self._lexicons = lexicons if lexicons is not None else lexicons_of(words.values())
        self._static = _static_messages(text, tools)

    def check(self, view: HomeView) -> None:
        """Compile the grammar of the whole home. Raises GrammarError: an app must not start with such a home."""
        Grammar.compile(home_grammar(make_labels(view.devices, view), self._tools), self._decoder.tokenizer)

    @property
    def static_prompt(self) -> Prompt:
        """The part that is the same for every turn, with an empty tail."""
        return split_chat(self._decoder.tokenizer, self._static, n_static=len(self._static))

    def warm_up(self, view: HomeView) -> None:
        """Compile the home's grammar and run the static prompt, whose cache rows every turn reuses.

        Raises GrammarError, and DecoderError if the model cannot run.
        """
        self.check(view)
        self._decoder.generate(self.static_prompt, max_tokens=1)

    def understand(self, text: Normalised, view: HomeView) -> Understanding:
        """Understand a sentence or refuse it; only what the sentence bears out is a call."""
        start = time.perf_counter()
        if len(text.text) > MAX_UTTERANCE:
            return _refuse("too_long", f"{len(text.text)} characters, at most {MAX_UTTERANCE} are read", start)
        words = self._words[text.language]
        lexicon = self._lexicons.get(view, words)
        turn = self._prepare(text, view, words, lexicon)
        try:
            generation = self._decoder.generate(turn.prompt, grammar=turn.grammar, max_tokens=MAX_TOKENS)
        except PromptTooLong as err:
            return _refuse("too_long", str(err), start)
        except DecoderError as err:
            return _refuse("model_failed", str(err), start)
        answer = parse_answer(generation.text, turn.labels, self._tools)
        if answer.kind is Kind.CALLS:
            answer = self._judge(answer, text, view, words, lexicon)
        if generation.fallback_reason:
            answer = replace(answer, why=f"{answer.why}; on {generation.target} ({generation.fallback_reason})")
        return replace(answer, path="model", timings_ms=_timings(start, generation))

    def _prepare(self, text: Normalised, view: HomeView, words: Words, lexicon: Lexicon) -> _Turn:
        near = shortlist(text, view, words, lexicon)
        labels = make_labels(near.devices, view) if near.evidence else ()
        tools = self._tools if near.evidence else {}
        mentions = read_sentence(text.text, lexicon, words).mentions
        rooms = tuple(a.name for a in view.areas if any(m.role is Role.AREA and m.value == a.id for m in mentions))
        offers = offers_of(mentions, rooms, self._phrases)
        grammar = Grammar.compile(home_grammar(labels, tools, offers), self._decoder.tokenizer)
        messages = [*self._static, Message("user", user_text(labels, view, text.text))]
        return _Turn(labels, grammar, split_chat(self._decoder.tokenizer, messages, n_static=len(self._static)))

    def _judge(
        self, answer: Understanding, text: Normalised, view: HomeView, words: Words, lexicon: Lexicon
    ) -> Understanding:
        sentence = read_sentence(text.text, lexicon, words)
        verdict = weigh(answer.intents, sentence, view, words, self._phrases)
        why = f"model: {answer.why}; evidence {verdict.level}: {verdict.why}"
        if verdict.level is Level.NONE:
            return Understanding(Kind.REFUSE, (), "not_understood", {"words": text.text}, why=why)
        if verdict.level is Level.WEAK and all(self._tools[i.tool].is_query for i in answer.intents):
            # an answer to another question than the one asked is as false as an action nobody wanted
            return Understanding(Kind.REFUSE, (), "not_understood", {"words": text.text}, why=why)
        # no other tier could account for every word, so one of them may forbid, report or take back: ask first
        return replace(answer, why=why, needs_confirmation=True)


def parse_answer(text: str, labels: Sequence[Label], tools: Mapping[str, Tool]) -> Understanding:
    """Read an answer of the grammar; one that was cut off is refused."""
    try:
        raw = json.loads(text)
    except json.JSONDecodeError:
        return Understanding(Kind.REFUSE, (), "not_understood", why=f"the answer was cut off: {text[-40:]!r}")
    for kind in (Kind.ASK, Kind.REFUSE, Kind.SAY):
        if kind.value in raw:
            return Understanding(kind, (), str(raw[kind.value]), why=f"model: {kind.value} {raw[kind.value]}")
    by_text = {x.text: x for x in labels}
    intents: list[Intent] = []
    for call in raw["calls"]:
        intent = _intent(call, by_text, tools)
        if intent is None:
            return Understanding(Kind.REFUSE, (), "not_understood", why=f"no such call: {call!r}")
        if intent not in intents:
            intents.append(intent)
    return Understanding(Kind.CALLS, tuple(intents), why="; ".join(i.tool for i in intents))


def _intent(call: Mapping[str, Any], labels: Mapping[str, Label], tools: Mapping[str, Tool]) -> Intent | None:
    tool = tools.get(str(call.get("tool")))
    args = {k: v for k, v in call.items() if k not in ("tool", "device")}
    if tool is None or set(args) - {p.name for p in tool.params}:
        return None
    if tool.scope == "home":
        return Intent(tool.name, args, Selector())
    label = labels.get(str(call.get("device")))
    if label is None or (tool.types and label.device_type not in tool.types):
        return None
    return Intent(tool.name, args, replace(label.selector, types=(label.device_type,)))


def _static_messages(text: PromptText, tools: Mapping[str, Tool]) -> tuple[Message, ...]:
    messages = [Message("system", system_text(text, tools))]
    for example in text.examples:
        messages.append(Message("user", example_text(example.devices, example.said)))
        messages.append(Message("assistant", example.answer))
    return tuple(messages)


def _timings(start: float, generation: Generation) -> dict[str, float]:
    decoder = {f"model.{k}": float(v) for k, v in generation.timings_ms.items()}
    tokens = {"model.n_prompt": float(generation.n_prompt), "model.n_cached": float(generation.n_cached)}
    return {"model": (time.perf_counter() - start) * 1000, **decoder, **tokens}


def _refuse(key: str, why: str, start: float) -> Understanding:
    timings = {"model": (time.perf_counter() - start) * 1000}
    return Understanding(Kind.REFUSE, (), key, {}, "model", why, timings_ms=timings)
