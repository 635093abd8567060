"""The decoder on the native target: passes that callers share, masks that the target is told, steps that are ended."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agentkit.decoder.backend import Mask, SessionOptions, TokenIds
from agentkit.decoder.decoder import Decoder, Priority, Prompt
from agentkit.decoder.grammar import Grammar
from agentkit.decoder.lane import Lane
from agentkit.decoder.pipeline import Pipeline
from agentkit.decoder.run import Run
from agentkit.decoder.sampler import Sampling
from agentkit.decoder.tokenizer import Tokenizer, load_tokenizer
from agentkit.decoder.turn import Turn
from agentkit.decoder.watch import Watch
from runtimes.af_native import AfNative
from runtimes.af_native.build import find_compiler
from runtimes.af_native.session import AfNativeSession, Step
from tests.runtimes.test_af_native import _OPEN, checkpoint, open_native

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C++ compiler")

FOUR = SessionOptions(max_seq_len=256, n_slots=4, buckets=(1, 4, 16, 32), n_threads=1)
GRAMMAR = 'start: "turn " ("on" | "off") " the " /[a-z ]{3,12}/ "."'


@pytest.fixture(autouse=True)
def _closing() -> Iterator[None]:
    yield
    while _OPEN:
        _OPEN.pop().close()


@pytest.fixture
def session(folder: Path) -> AfNativeSession:
    return open_native(checkpoint(folder, "int4"), folder, FOUR)


@pytest.fixture(scope="module")
def tokenizer(folder: Path) -> Tokenizer:
    return load_tokenizer(checkpoint(folder, "int4"))


def note_passes(session: AfNativeSession, monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """Collect the rows of each sequence, pass by pass."""
    passes: list[list[int]] = []
    run = session._run

    def noting(steps: list[Step]) -> None:
        passes.append([step.n_valid for step in steps])
        run(steps)

    monkeypatch.setattr(session, "_run", noting)
    return passes


def ask_all(decoder: Decoder, prompts: list[Prompt], **options: object) -> list[tuple[int, ...]]:
    """Ask all at once, each from a thread of its own."""
    answers: list[tuple[int, ...]] = [()] * len(prompts)

    def ask(i: int) -> None:
        answers[i] = decoder.generate(prompts[i], max_tokens=12, **options).token_ids  # type: ignore[arg-type]

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(prompts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


@pytest.mark.parametrize("has_grammar", [False, True])
def test_callers_at_once_get_the_answers_that_they_get_alone(
    session: AfNativeSession, tokenizer: Tokenizer, has_grammar: bool
) -> None:
    decoder = Decoder([("af_native", session)], tokenizer)
    grammar = Grammar.compile(GRAMMAR, tokenizer) if has_grammar else None
    prompts = [Prompt(f"turn on the {word}", "") for word in ("lamp", "kitchen light", "door of the room", "curtain")]
    alone = [decoder.generate(prompt, grammar=grammar, max_tokens=12).token_ids for prompt in prompts]

    answers = ask_all(decoder, prompts * 2, grammar=grammar)

    assert answers == alone * 2
    decoder.close()


def turn_of(tokenizer: Tokenizer, n_prompt: int, n_tokens: int, seed: int = 0) -> Turn:
    ids = [int(i) for i in np.random.default_rng(seed).integers(10, 300, n_prompt)]
    return Turn(
        tokenizer, ids, n_prefix=0, grammar=None, max_tokens=n_tokens, sampling=Sampling(), on_text=None,
        cancelled=None, deadline=None, max_repeats=n_tokens + 1,
    )  # fmt: skip


def drive(pipeline: Pipeline, runs: list[Run]) -> None:
    for run in runs:
        pipeline.entry.push(run)
    while len(pipeline.finished) < len(runs):
        pipeline.advance()


def test_four_sequences_share_every_pass_of_their_answers(
    session: AfNativeSession, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane, passes = Lane("af_native", session), note_passes(session, monkeypatch)
    runs: list[Run] = []
    for i in range(4):
        busy = {run.slot for run in runs}
        runs.append(Run(lane, turn_of(tokenizer, 5, 9, i), n_known=tokenizer.vocab_size, busy=busy))

    drive(Pipeline(lane, watch=Watch()), runs)

    assert sum(len(p) == 4 for p in passes) >= 7
    assert len(passes) <= 11


def test_a_long_step_goes_alone_and_an_urgent_sequence_does_not_wait_for_it(
    session: AfNativeSession, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane, passes = Lane("af_native", session), note_passes(session, monkeypatch)
    urgent = Run(lane, turn_of(tokenizer, 3, 5), n_known=320, priority=Priority.VOICE)
    long = Run(lane, turn_of(tokenizer, 90, 2, 1), n_known=320, busy={urgent.slot}, priority=Priority.BACKGROUND)

    drive(Pipeline(lane, watch=Watch()), [long, urgent])

    assert all(len(p) == 1 for p in passes if max(p) > 8)
    assert [p for p in passes if max(p) > 8][:1] == passes[5:6], passes


def test_the_target_is_told_the_mask_and_the_answer_is_that_of_masking_afterwards(
    folder: Path, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    grammar = Grammar.compile(GRAMMAR, tokenizer)
    told: list[bool] = []
    answers = []
    for takes_masks in (True, False):
        session = open_native(checkpoint(folder, "int4"), folder, FOUR)
        session.takes_masks = takes_masks  # type: ignore[misc]
        submit = session.submit

        def noting(ids: TokenIds, n: int, *, slot: int, allowed: Mask | None = None, submit=submit) -> Step:  # type: ignore[no-untyped-def]
            told.append(allowed is not None)
            step: Step = submit(ids, n, slot=slot, allowed=allowed)
            return step

        monkeypatch.setattr(session, "submit", noting)
        decoder = Decoder([("af_native", session)], tokenizer)
        found = decoder.generate(Prompt("turn on the lamp", ""), grammar=grammar, max_tokens=30)
        answers.append((found.token_ids, found.logprob))
        assert any(told) == takes_masks
        told.clear()
        decoder.close()
    assert answers[0] == answers[1]


def test_a_turn_past_its_deadline_ends_the_step_that_runs_for_it(
    session: AfNativeSession, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder = Decoder([("af_native", session)], tokenizer)
    is_cancelled, cancelled = threading.Event(), list[int]()

    def slow(engine: int, given: object) -> bool:
        return not is_cancelled.wait(60)

    def cancel() -> None:
        cancelled.append(1)
        is_cancelled.set()

    with monkeypatch.context() as patch:
        patch.setattr(session._library, "step", slow)
        patch.setattr(session, "cancel", cancel)
        found = decoder.generate(Prompt("", "turn on the light"), max_tokens=1, deadline_s=0.5)

    assert found.finish == "cancelled"
    assert cancelled == [1]
    assert decoder.status()["fallback_reason"] is None
    assert decoder.generate(Prompt("", "turn on the light"), max_tokens=1).finish != "cancelled"
    decoder.close()


def test_a_cancelled_pass_is_run_again_by_those_who_shared_it(
    session: AfNativeSession, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder = Decoder([("af_native", session)], tokenizer)
    prompts = [Prompt(f"turn on the {word}", "") for word in ("lamp", "kitchen light")]
    alone = [decoder.generate(prompt, max_tokens=12).token_ids for prompt in prompts]
    step, n_steps = session._library.step, 0

    def cancelling(engine: int, given: object) -> bool:
        nonlocal n_steps
        n_steps += 1
        return bool(step(engine, given)) and n_steps % 3 > 0  # type: ignore[arg-type]

    monkeypatch.setattr(session._library, "step", cancelling)

    assert ask_all(decoder, prompts) == alone
    assert decoder.status()["fallback_reason"] is None
    decoder.close()


def test_the_backend_plans_more_memory_for_more_slots(folder: Path) -> None:
    path = checkpoint(folder, "int4")
    one, four = (AfNative().plan(path, replace(FOUR, n_slots=n)) for n in (1, 4))
    assert four.temp_bytes > one.temp_bytes
