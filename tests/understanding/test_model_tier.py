from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agentkit.config import App
from agentkit.decoder.chat import Prompt
from agentkit.decoder.decoder import Decoder, Generation
from agentkit.decoder.grammar import Grammar
from agentkit.decoder.tokenizer import Tokenizer, load_tokenizer
from agentkit.errors import PromptTooLong, StepFailed
from agentkit.types import Kind, Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.model_tier import ModelTier
from agentkit.understanding.normalise import normalise
from agentkit.understanding.template_map import TemplateMap
from agentkit.understanding.understand import Understander
from agentkit.understanding.words import Words
from tests.support.smollm import smollm_path
from tests.support.tiny import write_gguf


class Scripted:
    """Gives one prepared answer, after the grammar has accepted it."""

    def __init__(self, tokenizer: Tokenizer, answer: str, error: Exception | None = None) -> None:
        self.tokenizer, self._answer, self._error = tokenizer, answer, error
        self.prompts: list[Prompt] = []

    def generate(self, prompt: Prompt, *, grammar: Grammar | None = None, max_tokens: int) -> Generation:
        if self._error is not None:
            raise self._error
        assert grammar is not None
        self.prompts.append(prompt)
        matcher = grammar.start()
        ids = self.tokenizer.encode(self._answer)
        for token_id in ids:
            matcher.consume(token_id)  # raises GrammarError if the model could not have said this
        return Generation(self._answer, tuple(ids), 1, 0, 0, len(ids), "stop", {}, "scripted", None, 0.0, 0.0, 1)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return load_tokenizer(write_gguf(tmp_path_factory.mktemp("tiny") / "tiny.gguf"))


@pytest.fixture
def tell(tokenizer: Tokenizer, app: App, words: dict[str, Words], templates: TemplateMap, home: HomeView):  # type: ignore[no-untyped-def]
    """What becomes of a sentence if the model answers so."""

    def understand(text: str, answer: str, error: Exception | None = None) -> Understanding:
        tier = make_tier(Scripted(tokenizer, answer, error), app, words, templates)
        return tier.understand(normalise(text, "en", words["en"]), home)

    return understand


def test_a_reply_says_that_another_target_had_to_answer_and_why(
    tokenizer: Tokenizer, app: App, words: dict[str, Words], templates: TemplateMap, home: HomeView
) -> None:
    class OnSpare(Scripted):
        def generate(self, prompt: Prompt, *, grammar: Grammar | None = None, max_tokens: int) -> Generation:
            answer = super().generate(prompt, grammar=grammar, max_tokens=max_tokens)
            return replace(answer, target="cpu_onnx", fallback_reason="npu: its process died by SIGSEGV")

    tier = make_tier(OnSpare(tokenizer, '{"refuse":"not_home"}'), app, words, templates)
    why = tier.understand(normalise("who won the election", "en", words["en"]), home).why
    assert why.endswith("; on cpu_onnx (npu: its process died by SIGSEGV)")


def make_tier(decoder: Scripted | Decoder, app: App, words: dict[str, Words], templates: TemplateMap) -> ModelTier:
    return ModelTier(decoder, tools=app.tools, words=words, phrases=templates.phrases, text=templates.prompt)


def calls(*items: str) -> str:
    return '{"calls":[' + ",".join("{" + i + "}" for i in items) + "]}"


DESK_ON = '"tool":"turn_on","device":"Desk Lamp"'


def test_an_answer_that_the_sentence_bears_out_is_a_call(tell) -> None:  # type: ignore[no-untyped-def]
    found = tell("brighten my desk lamp mate", calls('"tool":"adjust_brightness","device":"Desk Lamp","step":20'))
    assert (found.kind, found.needs_confirmation, found.path) == (Kind.CALLS, True, "model")
    assert found.intents[0].selector.device_ids == ("light.desk",)


def test_a_hint_without_a_verb_is_asked_about(tell) -> None:  # type: ignore[no-untyped-def]
    found = tell("it is murky around the desk lamp", calls(DESK_ON))
    assert (found.kind, found.needs_confirmation) == (Kind.CALLS, True)


def test_a_question_that_is_only_hinted_at_is_not_answered(tell) -> None:  # type: ignore[no-untyped-def]
    found = tell("how is the weather over lisbon", calls('"tool":"get_weather","device":"Weather"'))
    assert "evidence weak" in found.why
    assert (found.kind, found.intents) == (Kind.REFUSE, ())


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("shut off the desk lamp mate", calls(DESK_ON)),
        ("it is gloomy in the kitchen", calls('"tool":"turn_on","device":"Kitchen Radio"')),
        ("desk lamp and kitchen radio on mate", calls(DESK_ON)),
        ("desk lamp on mate, 40 of them", calls(DESK_ON)),
    ],
)
def test_an_answer_beside_the_sentence_is_refused(tell, text: str, answer: str) -> None:  # type: ignore[no-untyped-def]
    found = tell(text, answer)
    assert (found.kind, found.reply_key, found.intents) == (Kind.REFUSE, "not_understood", ())


def test_a_sentence_about_something_else_can_call_nothing(tell) -> None:  # type: ignore[no-untyped-def]
    found = tell("who won the election", '{"refuse":"not_home"}')
    assert (found.kind, found.reply_key) == (Kind.REFUSE, "not_home")


def test_no_text_of_the_model_is_ever_a_reply(tell) -> None:  # type: ignore[no-untyped-def]
    found = tell("who won the election", '{"say":"chitchat"}')
    assert (found.kind, found.reply_key, dict(found.reply_values)) == (Kind.SAY, "chitchat", {})


def test_an_answer_that_was_cut_off_is_refused(tell) -> None:  # type: ignore[no-untyped-def]
    found = tell("brighten my desk lamp mate", '{"calls":[{"tool":"turn_on","dev')
    assert (found.kind, found.reply_key) == (Kind.REFUSE, "not_understood")


@pytest.mark.parametrize(
    ("error", "key"),
    [(PromptTooLong(n_tokens=9, max_tokens=8), "too_long"), (StepFailed("the target broke"), "model_failed")],
)
def test_a_decoder_that_fails_calls_nothing(tell, error: Exception, key: str) -> None:  # type: ignore[no-untyped-def]
    found = tell("it is gloomy around the desk lamp", "", error)
    assert (found.kind, found.reply_key, found.intents) == (Kind.REFUSE, key, ())


def test_an_utterance_past_the_limit_is_refused_not_cut(tell) -> None:  # type: ignore[no-untyped-def]
    assert tell("desk lamp " * 100, calls(DESK_ON)).reply_key == "too_long"


def test_the_static_part_is_the_same_for_every_turn(
    tokenizer: Tokenizer, app: App, words: dict[str, Words], templates: TemplateMap, home: HomeView
) -> None:
    decoder = Scripted(tokenizer, '{"refuse":"not_understood"}')
    tier = make_tier(decoder, app, words, templates)
    for text in ("it is gloomy around the desk lamp", "the kitchen radio gets on my nerves"):
        tier.understand(normalise(text, "en", words["en"]), home)
    assert len({p.prefix for p in decoder.prompts}) == 1
    assert len({p.tail for p in decoder.prompts}) == 2
    assert decoder.prompts[0].prefix == tier.static_prompt.prefix


def test_the_model_is_not_asked_what_templates_know(
    tokenizer: Tokenizer, app: App, words: dict[str, Words], templates: TemplateMap, home: HomeView
) -> None:
    decoder = Scripted(tokenizer, '{"refuse":"not_understood"}')
    tier = make_tier(decoder, app, words, templates)
    understander = Understander(words=words, templates=templates, tools=app.tools, model=tier)
    for text in ("turn on the desk lamp", "don't turn on the desk lamp", "turn on the desk lamp at nine", "stop"):
        understander.understand(normalise(text, "en", words["en"]), home)
    assert decoder.prompts == []
    understander.understand(normalise("it is gloomy around the desk lamp", "en", words["en"]), home)
    assert len(decoder.prompts) == 1


@pytest.mark.model
def test_the_static_part_and_the_tail_fit_their_budgets(
    app: App, words: dict[str, Words], templates: TemplateMap, home: HomeView
) -> None:
    decoder = Scripted(load_tokenizer(smollm_path()), '{"refuse":"not_understood"}')
    tier = make_tier(decoder, app, words, templates)
    tier.check(home)
    tier.understand(normalise("it is gloomy around the desk lamp", "en", words["en"]), home)
    prompt = decoder.prompts[0]
    assert len(decoder.tokenizer.encode(prompt.prefix, allow_special=True)) <= 900
    assert len(decoder.tokenizer.encode(prompt.tail, allow_special=True)) <= 250


@pytest.mark.model
def test_the_real_model_stays_inside_the_rules(
    app: App, words: dict[str, Words], templates: TemplateMap, home: HomeView, tmp_path: Path
) -> None:
    from agentkit.decoder.backend import SessionOptions
    from agentkit.decoder.open import open_decoder
    from runtimes.onnx_cpu import BACKEND

    decoder = open_decoder(
        [("cpu_onnx", None)], smollm_path(), SessionOptions(), tmp_path, backends={"cpu_onnx": BACKEND}
    )
    try:
        tier = make_tier(decoder, app, words, templates)
        for text in ("let the sun past the bedroom curtain", "who won the election", "tell me about the desk lamp"):
            found = tier.understand(normalise(text, "en", words["en"]), home)
            assert found.kind in Kind
            assert all(i.tool in app.tools for i in found.intents)
        assert found.timings_ms["model.n_cached"] > 500, "the static part is computed once"
    finally:
        decoder.close()
