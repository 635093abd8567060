"""The home model's tier: the shortlist in, pointers out, no call without evidence, no action without being sure."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from agentkit.decoder.chat import Prompt
from agentkit.decoder.decoder import Generation
from agentkit.decoder.grammar import Grammar
from agentkit.devices.adapter import Device
from agentkit.errors import DecoderError, PromptTooLong
from agentkit.types import Kind, Selector, Understanding
from agentkit.understanding.entries import Role
from agentkit.understanding.evidence import Evidence, Level, Sentence, is_said, read_sentence, weigh
from agentkit.understanding.home_cache import HomeCache
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon, lexicons_of
from agentkit.understanding.model_tier import Generator
from agentkit.understanding.normalise import Normalised
from agentkit.understanding.offers import offers_of
from agentkit.understanding.phrase_map import PhraseMap
from agentkit.understanding.pointer.answer import Answer, read_answer
from agentkit.understanding.pointer.format import clean
from agentkit.understanding.pointer.grammar import Verb, pointer_grammar, verbs_of, with_values
from agentkit.understanding.pointer.offered import Offered, offer
from agentkit.understanding.pointer.strange import strange_word
from agentkit.understanding.prompt import MAX_UTTERANCE
from agentkit.understanding.shortlist import shortlist
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

MAX_TOKENS = 40
N_NAMES = 1024
"""Names whose spelling in prompts is kept."""
N_GRAMMARS = 64
"""Kept written and compiled: what is said is often about alike devices, and compiling takes longer than the model."""
SURE = 0.95
"""Probability from which a call that the sentence bears out runs without being asked about."""
LIKELY = 0.6
"""Probability from which a call that the sentence bears out is asked about; below, nothing was understood."""
HINTED = 0.9
"""Probability from which something that was only hinted at ("too dark here") is asked about."""


@dataclass(frozen=True)
class _Turn:
    offered: Offered
    verbs: Mapping[str, Verb]
    sentence: Sentence
    is_about_home: bool


class PointerTier:
    """Asks the home model about sentences that templates left over."""

    def __init__(
        self,
        decoder: Generator,
        *,
        tools: Mapping[str, Tool],
        words: Mapping[str, Words],
        phrases: PhraseMap,
        lexicons: HomeCache[Lexicon] | None = None,
    ) -> None:
        """`lexicons`: those that others use as well; None = of its own."""
        self._decoder, self._tools, self._words, self._phrases = decoder, tools, words, phrases
        self._lexicons = lexicons if lexicons is not None else lexicons_of(words.values())
        self._spell = lru_cache(N_NAMES)(clean)
        self._verbs = verbs_of(tools, phrases)
        self._written = lru_cache(N_GRAMMARS)(lambda shape, said: pointer_grammar(shape, dict(said), tools))
        self._compiled = lru_cache(N_GRAMMARS)(lambda lark: Grammar.compile(lark, self._decoder.tokenizer))

    def warm_up(self, view: HomeView) -> None:
        """Read one sentence, so that the first one need not wait. Raises GrammarError and DecoderError."""
        language = next(iter(self._words))
        turn = self._prepare(Normalised("x", language, "x"), view)
        self._decoder.generate(Prompt("", turn.offered.prompt("x")), grammar=self._grammar(turn), max_tokens=2)

    def understand(self, text: Normalised, view: HomeView) -> Understanding:
        """Understand a sentence or refuse it; only what the sentence bears out is a call."""
        start = time.perf_counter()
        if len(text.text) > MAX_UTTERANCE:
            return _refuse("too_long", f"{len(text.text)} characters, at most {MAX_UTTERANCE} are read", start)
        turn = self._prepare(text, view)
        try:
            prompt = Prompt(
                "", turn.offered.prompt(text.text, self._spell)
            )  # no static part: every sentence has its own shortlist
            generation = self._decoder.generate(prompt, grammar=self._grammar(turn), max_tokens=MAX_TOKENS)
        except PromptTooLong as err:
            return _refuse("too_long", str(err), start)
        except DecoderError as err:
            return _refuse("model_failed", str(err), start)
        answer = read_answer(generation.text, turn.offered, turn.verbs, self._tools, view, self._phrases)
        found = self._judge(answer, turn, text, view, generation)
        return replace(found, path="model", timings_ms=_timings(start, generation))

    def _prepare(self, text: Normalised, view: HomeView) -> _Turn:
        words = self._words[text.language]
        lexicon = self._lexicons.get(view, words)
        near = shortlist(text, view, words, lexicon)
        sentence = read_sentence(text.text, lexicon, words)
        rooms = tuple(a.id for a in view.areas if a.id in sentence.of(Role.AREA))
        offered = offer(near.devices, view, mentioned=rooms, is_vague=not near.evidence)
        verbs = with_values(self._verbs, offers_of(sentence.mentions, (), self._phrases))
        return _Turn(offered, verbs, sentence, bool(near.evidence))

    def _grammar(self, turn: _Turn) -> Grammar:
        said = tuple((name, verb.values) for name, verb in turn.verbs.items())
        return self._compiled(self._written(turn.offered.shape, said))

    def _judge(
        self, answer: Answer, turn: _Turn, text: Normalised, view: HomeView, generation: Generation
    ) -> Understanding:
        sure = math.exp(generation.logprob)
        why = f"home model: {generation.text}, p {sure:.2f}"
        if answer.refusal:
            key = (
                "not_home"
                if answer.refusal in ("not_home", "chitchat") and not turn.is_about_home
                else "not_understood"
            )
            return Understanding(Kind.REFUSE, (), key, {"words": text.text}, why=why)
        words = self._words[text.language]
        verdict = weigh(answer.intents, turn.sentence, view, words, self._phrases)
        why = f"{why}; evidence {verdict.level}: {verdict.why}"
        calls = Understanding(Kind.CALLS, answer.intents, why=why)
        if self._is_borne_out(answer, verdict) and sure >= LIKELY:
            is_plain = verdict.level is Level.FULL and not answer.is_wish and sure >= SURE
            doubt = self._doubt(answer, turn, text, view) if is_plain else "not sure enough"
            return replace(calls, needs_confirmation=bool(doubt), why=f"{why}; {doubt}" if doubt else why)
        if (answer.is_wish or answer.is_here) and sure >= HINTED:
            return replace(calls, needs_confirmation=True)
        return Understanding(Kind.REFUSE, (), "not_understood", {"words": text.text}, why=why)

    def _doubt(self, answer: Answer, turn: _Turn, text: Normalised, view: HomeView) -> str:
        """Why a call that looks right is asked about all the same; "" = it runs."""
        is_asking = any(m.start == 0 and m.role in (Role.COPULA, Role.ASK) for m in turn.sentence.mentions)
        is_query = all(self._tools[i.tool].is_query for i in answer.intents)
        if not is_query and (is_asking or (text.is_question and not text.is_request)):
            return "it may be a question"
        if turn.sentence.of(Role.IT):
            return "it leans on something said before"
        if word := strange_word(turn.sentence):
            return f"{word!r} is unknown"
        rival = self._rival(answer, turn, view, self._words[text.language])
        return "" if rival is None else f"{rival.name!r} would fit as well"

    def _rival(self, answer: Answer, turn: _Turn, view: HomeView, words: Words) -> Device | None:
        """A device that was not called but that the sentence names as well as one that was."""
        for n, intent in enumerate(answer.intents):
            called = [d for i in intent.selector.device_ids if (d := view.device(i)) is not None]
            types = {d.type for d in called}
            for other in view.devices:
                is_fit = other.type in types and other not in called
                if not is_fit or not is_said(other, turn.sentence, view, words):
                    continue
                instead = replace(intent, selector=Selector(device_ids=(other.id,)))
                intents = (*answer.intents[:n], instead, *answer.intents[n + 1 :])
                if weigh(intents, turn.sentence, view, words, self._phrases).level is Level.FULL:
                    return other
        return None

    def _is_borne_out(self, answer: Answer, verdict: Evidence) -> bool:
        """An answer to another question than the one asked is as false as an action nobody wanted."""
        is_query = all(self._tools[i.tool].is_query for i in answer.intents)
        return verdict.level is Level.FULL or (verdict.level is Level.WEAK and not is_query)


def _timings(start: float, generation: Generation) -> dict[str, float]:
    decoder = {f"model.{k}": float(v) for k, v in generation.timings_ms.items()}
    tokens = {"model.n_prompt": float(generation.n_prompt), "model.n_cached": float(generation.n_cached)}
    return {"model": (time.perf_counter() - start) * 1000, **decoder, **tokens}


def _refuse(key: str, why: str, start: float) -> Understanding:
    timings = {"model": (time.perf_counter() - start) * 1000}
    return Understanding(Kind.REFUSE, (), key, {}, "model", why, timings_ms=timings)
