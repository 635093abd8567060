from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from agentkit.decoder.backend import Logits
from agentkit.decoder.chat import Message
from agentkit.decoder.decoder import Decoder, Generation
from agentkit.decoder.grammar import Grammar
from agentkit.decoder.targets import Opened
from agentkit.decoder.tokenizer import Tokenizer
from agentkit.errors import BackendUnavailable, DecoderError, StepFailed, UnhealthyLogits
from tests.support.sessions import RecordingSession, fail_from, open_reference, spoil_from

GRAMMAR = 'start: ("turn_on" | "turn_off") "(" ("kitchen light" | "living room lamp") ")" ("" | "; " ("a" | "b"))'


def answer(decoder: Decoder, *, with_grammar: bool = True, text: str = "go") -> Generation:
    prompt = decoder.chat_prompt([Message("system", "You control a home."), Message("user", text)])
    grammar = Grammar.compile(GRAMMAR, decoder.tokenizer) if with_grammar else None
    return decoder.generate(prompt, grammar=grammar, max_tokens=30)


@pytest.mark.parametrize("with_grammar", [True, False])
@pytest.mark.parametrize("first", [1, 2, 4, 5, 6])
@pytest.mark.parametrize("breaks", [fail_from, lambda n: spoil_from(n, np.nan), lambda n: spoil_from(n, 0)])
def test_the_next_target_takes_over_in_mid_answer_with_the_same_answer(
    tiny_gguf: Path, tiny_tokenizer: Tokenizer, breaks: Callable[[int], Callable[[int, Logits], None]], first: int,
    with_grammar: bool, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    healthy = answer(Decoder([("good", open_reference(tiny_gguf))], tiny_tokenizer), with_grammar=with_grammar)
    sick = RecordingSession(open_reference(tiny_gguf), on_step=breaks(first))
    decoder = Decoder([("sick", sick), ("good", open_reference(tiny_gguf))], tiny_tokenizer)
    with caplog.at_level(logging.WARNING):
        replayed = answer(decoder, with_grammar=with_grammar)
        again = answer(decoder, with_grammar=with_grammar)
    assert replayed.token_ids == healthy.token_ids == again.token_ids
    assert (replayed.text, replayed.finish, replayed.target) == (healthy.text, healthy.finish, "good")
    assert replayed.fallback_reason is not None
    assert replayed.fallback_reason.startswith("sick: ")
    assert decoder.status()["fallback_reason"] == replayed.fallback_reason
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_a_streamed_answer_is_not_repeated_by_the_fallback(tiny_gguf: Path, tiny_tokenizer: Tokenizer) -> None:
    sick = RecordingSession(open_reference(tiny_gguf), on_step=fail_from(6))
    decoder = Decoder([("sick", sick), ("good", open_reference(tiny_gguf))], tiny_tokenizer)
    parts: list[str] = []
    prompt = decoder.chat_prompt([Message("user", "go")], n_static=0)
    generation = decoder.generate(prompt, max_tokens=10, on_text=parts.append)
    assert generation.target == "good"
    assert "".join(parts) == generation.text


def test_the_last_targets_error_reaches_the_caller_and_the_next_turn_works(
    tiny_gguf: Path, tiny_tokenizer: Tokenizer
) -> None:
    def fail_once(n_steps: int, logits: Logits) -> None:
        if n_steps == 3:
            raise StepFailed("a cable was loose; check it")

    session = RecordingSession(open_reference(tiny_gguf), on_step=fail_once)
    decoder = Decoder([("only", session)], tiny_tokenizer)
    with pytest.raises(StepFailed, match="a cable was loose"):
        answer(decoder, with_grammar=False)
    healthy = answer(Decoder([("good", open_reference(tiny_gguf))], tiny_tokenizer), with_grammar=False)
    recovered = answer(decoder, with_grammar=False)
    assert recovered.token_ids == healthy.token_ids
    assert recovered.fallback_reason is None


def test_rows_of_unhealthy_steps_are_not_reused(tiny_gguf: Path, tiny_tokenizer: Tokenizer) -> None:
    session = RecordingSession(open_reference(tiny_gguf), on_step=lambda n, logits: logits.fill(0) if n == 2 else None)
    decoder = Decoder([("only", session)], tiny_tokenizer)
    with pytest.raises(UnhealthyLogits):
        answer(decoder)
    assert answer(decoder).n_cached == 0


def test_a_fallback_is_opened_only_when_it_is_needed(tiny_gguf: Path, tiny_tokenizer: Tokenizer) -> None:
    opened: list[RecordingSession] = []

    def open_fallback() -> Opened:
        opened.append(RecordingSession(open_reference(tiny_gguf)))
        return Opened(opened[-1])

    sick = RecordingSession(open_reference(tiny_gguf), on_step=fail_from(20))
    decoder = Decoder([("sick", sick), ("spare", open_fallback)], tiny_tokenizer)
    decoder.warm_up()
    assert opened == []
    assert answer(decoder, with_grammar=False).target == "spare"
    assert len(opened) == 1
    assert [bucket for bucket, _ in opened[0].steps[:4]] == [1, 4, 16, 32]


def test_a_target_that_cannot_be_opened_is_passed_over(tiny_gguf: Path, tiny_tokenizer: Tokenizer) -> None:
    def open_missing() -> Opened:
        raise BackendUnavailable("npu: /dev/npu is missing; load the driver")

    decoder = Decoder([("npu", open_missing), ("good", open_reference(tiny_gguf))], tiny_tokenizer)
    decoder.warm_up()
    assert answer(decoder).fallback_reason == "npu: npu: /dev/npu is missing; load the driver"
    with pytest.raises(BackendUnavailable):
        Decoder([("npu", open_missing)], tiny_tokenizer).warm_up()


def test_a_target_that_is_sick_at_warm_up_is_replaced_before_the_first_turn(
    tiny_gguf: Path, tiny_tokenizer: Tokenizer
) -> None:
    sick = RecordingSession(open_reference(tiny_gguf), on_step=spoil_from(1, np.nan))
    decoder = Decoder([("sick", sick), ("good", open_reference(tiny_gguf))], tiny_tokenizer)
    decoder.warm_up()
    assert decoder.status()["target"] == "good"


def test_a_stuck_target_is_replaced(tiny_gguf: Path, tiny_tokenizer: Tokenizer) -> None:
    frozen: list[Logits] = []

    def freeze(n_steps: int, logits: Logits) -> None:
        if n_steps >= 4:
            frozen.append(logits.copy())
            logits[:] = frozen[0]

    healthy = answer(Decoder([("good", open_reference(tiny_gguf))], tiny_tokenizer), with_grammar=False)
    sick = RecordingSession(open_reference(tiny_gguf), on_step=freeze)
    decoder = Decoder([("sick", sick), ("good", open_reference(tiny_gguf))], tiny_tokenizer)
    generation = answer(decoder, with_grammar=False)
    assert generation.target == "good"
    assert "with the same logits" in str(generation.fallback_reason)
    assert generation.n_sampled == healthy.n_sampled


def test_a_model_that_goes_in_circles_ends_its_answer_but_keeps_its_target(
    tiny_gguf: Path, tiny_tokenizer: Tokenizer
) -> None:
    def insist(n_steps: int, logits: Logits) -> None:
        logits[50] = 1e4

    session = RecordingSession(open_reference(tiny_gguf), on_step=insist)
    decoder = Decoder([("first", session), ("second", open_reference(tiny_gguf))], tiny_tokenizer, max_repeats=8)
    generation = answer(decoder, with_grammar=False)
    assert (generation.target, generation.finish, generation.token_ids) == ("first", "length", (50,) * 8)


def test_a_decoder_without_targets_is_refused(tiny_tokenizer: Tokenizer) -> None:
    with pytest.raises(DecoderError, match="no target"):
        Decoder([], tiny_tokenizer)
