"""Several callers on one target: who goes first, who waits, who is told to come back, and what a leaver leaves."""

from __future__ import annotations

import random
import threading
import time
import tracemalloc
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentkit.decoder.backend import Logits, SessionOptions, TokenIds
from agentkit.decoder.chat import Message
from agentkit.decoder.decoder import Caller, Decoder, Generation, Priority, Prompt, calling
from agentkit.decoder.grammar import Grammar
from agentkit.decoder.tokenizer import Tokenizer
from agentkit.errors import Busy, DecoderError, PromptTooLong, StepFailed
from tests.support.sessions import OPTIONS, RecordingSession, open_reference

FOUR = SessionOptions(max_seq_len=256, n_slots=4, buckets=(1, 4, 16, 32))
ONE = SessionOptions(max_seq_len=256, n_slots=1, buckets=(1, 4, 16, 32))


class Gated(RecordingSession):
    """Notes the slot of every step; the first one waits at the gate until the test has everybody in the queue."""

    def __init__(self, checkpoint: Path, options: SessionOptions):
        super().__init__(open_reference(checkpoint, options))
        self.gate, self.slots = threading.Event(), list[int]()

    def step(self, token_ids: TokenIds, n_valid: int, *, slot: int) -> Logits:
        assert self.gate.wait(60)
        self.slots.append(slot)
        return super().step(token_ids, n_valid, slot=slot)


class Callers:
    """Threads that each ask once."""

    def __init__(self, decoder: Decoder, session: Gated):
        self.decoder, self.session = decoder, session
        self.results: dict[str, Generation] = {}
        self.errors: dict[str, Exception] = {}
        self.order: list[str] = []
        self._threads: list[threading.Thread] = []

    def start(self, text: str, *, n_waiting: int | None = None, **options: object) -> None:
        """Ask in a thread of its own, and return once that many wait."""
        thread = threading.Thread(target=self._ask, args=(text, options))
        self._threads.append(thread)
        thread.start()
        until(lambda: n_waiting is None or self.decoder.scheduler.describe()["n_waiting"] == n_waiting)

    def finish(self) -> None:
        self.session.gate.set()
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()

    def _ask(self, text: str, options: dict[str, object]) -> None:
        def note(_: str) -> None:
            """Called by the thread that drives the target, so in the order of its work."""
            if text not in self.order:
                self.order.append(text)

        asked: dict[str, Any] = {"max_tokens": 6, "on_text": note, **options}
        try:
            self.results[text] = self.decoder.generate(Prompt("", text), **asked)
        except Exception as err:  # noqa: BLE001 - the test looks at it
            self.errors[text] = err


def until(is_true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def n_active(decoder: Decoder) -> int:
    return decoder.scheduler.describe()["n_active"]


def gated(checkpoint: Path, tokenizer: Tokenizer, options: SessionOptions, **more: int) -> Callers:
    session = Gated(checkpoint, options)
    return Callers(Decoder([("reference", session)], tokenizer, **more), session)


def test_sequences_take_turns_step_by_step_and_answer_as_if_alone(tiny_gguf: Path, tiny_tokenizer: Tokenizer) -> None:
    texts = ["a", "b", "c", "d"]
    alone = Decoder([("reference", open_reference(tiny_gguf))], tiny_tokenizer)
    expected = {text: alone.generate(Prompt("", text), max_tokens=6).token_ids for text in texts}
    callers = gated(tiny_gguf, tiny_tokenizer, FOUR)
    callers.start("first")  # holds the target until all the others stand in line
    until(lambda: n_active(callers.decoder) == 1)
    for number, text in enumerate(texts[1:] + texts[:1], 1):
        callers.start(text, n_waiting=number)
    callers.finish()
    assert {text: callers.results[text].token_ids for text in texts} == expected
    # Between two steps of a sequence every other one on its way had exactly one
    together = callers.session.slots[1:17]
    assert all(len(set(together[i : i + 4])) == 4 for i in range(0, 16, 4)), together


def test_a_voice_goes_before_a_chat_and_that_before_the_background(tiny_gguf: Path, tiny_tokenizer: Tokenizer) -> None:
    callers = gated(tiny_gguf, tiny_tokenizer, ONE)
    callers.start("first")
    until(lambda: n_active(callers.decoder) == 1)
    for number, priority in enumerate((Priority.BACKGROUND, Priority.CHAT, Priority.VOICE), 1):
        callers.start(priority.name, n_waiting=number, priority=priority)
    callers.finish()
    assert callers.order == ["first", "VOICE", "CHAT", "BACKGROUND"]


def test_steps_of_a_voice_go_first_but_a_background_turn_is_not_starved(
    tiny_gguf: Path, tiny_tokenizer: Tokenizer
) -> None:
    callers = gated(tiny_gguf, tiny_tokenizer, FOUR)
    callers.start("background", max_tokens=20, priority=Priority.BACKGROUND)
    until(lambda: n_active(callers.decoder) == 1)
    callers.start("voice", n_waiting=1, max_tokens=60, priority=Priority.VOICE)
    callers.finish()
    background = callers.session.slots[0]
    first = callers.session.slots[1:50]
    assert first[:8] == [first[0]] * 8 != [background] * 8
    assert background in first
    assert {generation.finish for generation in callers.results.values()} == {"length"}


def test_a_full_queue_says_so_at_once_and_loses_nobody(tiny_gguf: Path, tiny_tokenizer: Tokenizer) -> None:
    callers = gated(tiny_gguf, tiny_tokenizer, ONE, max_waiting=3)
    callers.start("0")
    until(lambda: n_active(callers.decoder) == 1)
    for number in range(1, 4):
        callers.start(str(number), n_waiting=number)
    for _ in range(96):
        with pytest.raises(Busy, match="3 requests wait for the model already; try again"):
            callers.decoder.generate(Prompt("", "one more"), max_tokens=3)
    callers.finish()
    assert (sorted(callers.results), callers.errors) == (["0", "1", "2", "3"], {})
    assert callers.decoder.generate(Prompt("", "one more"), max_tokens=3).finish == "length"


def test_a_deadline_that_passes_in_the_queue_costs_no_step(tiny_gguf: Path, tiny_tokenizer: Tokenizer) -> None:
    callers = gated(tiny_gguf, tiny_tokenizer, ONE)
    callers.start("first", max_tokens=1)
    until(lambda: n_active(callers.decoder) == 1)
    callers.start("late", n_waiting=1, deadline_s=0.0)
    callers.finish()
    assert callers.results["late"].finish == "cancelled"
    assert len(callers.session.slots) == callers.results["first"].n_steps


def test_two_callers_with_one_static_prefix_share_its_rows(tiny_gguf: Path, tiny_tokenizer: Tokenizer) -> None:
    session = Gated(tiny_gguf, OPTIONS)
    session.gate.set()
    decoder = Decoder([("reference", session)], tiny_tokenizer)
    prompt = decoder.chat_prompt([Message("system", "You control a home. " * 3), Message("user", "go")])
    expected = decoder.generate(prompt, max_tokens=8).token_ids
    session.gate.clear()
    found: list[Generation] = []
    threads = [threading.Thread(target=lambda: found.append(decoder.generate(prompt, max_tokens=8))) for _ in range(2)]
    for thread in threads:
        thread.start()
    until(lambda: n_active(decoder) >= 1 and sum(list(decoder.scheduler.describe().values())[:2]) == 2)
    session.gate.set()
    for thread in threads:
        thread.join(60)
    assert [generation.token_ids for generation in found] == [expected] * 2
    assert all(generation.n_cached > 0 for generation in found)


def test_a_callback_that_raises_ends_its_own_turn_and_no_other(tiny_gguf: Path, tiny_tokenizer: Tokenizer) -> None:
    def hang_up(*_: object) -> bool:
        raise ConnectionError("the client is gone")

    callers = gated(tiny_gguf, tiny_tokenizer, FOUR)
    callers.start("first")
    until(lambda: n_active(callers.decoder) == 1)
    callers.start("streamed", n_waiting=1, on_text=hang_up)
    callers.start("too long " * 99, n_waiting=2)
    callers.finish()
    assert callers.results["first"].finish == "length"
    assert isinstance(callers.errors["streamed"], ConnectionError)
    assert isinstance(callers.errors["too long " * 99], PromptTooLong)


def test_after_200_random_disconnects_all_slots_are_free_and_a_turn_is_as_ever(
    tiny_gguf: Path, tiny_tokenizer: Tokenizer
) -> None:
    session = RecordingSession(open_reference(tiny_gguf, FOUR))
    decoder = Decoder([("reference", session)], tiny_tokenizer)
    decoder.warm_up()
    grammar = Grammar.compile('start: ("turn_on" | "turn_off") "(" /[a-z]{4,9}/ ")"', tiny_tokenizer)
    static = Message("system", "You control the devices of one home. " * 3)
    command = decoder.chat_prompt([static, Message("user", "turn on the light")])
    expected = decoder.generate(command, grammar=grammar, max_tokens=40)
    rng, finishes, wrong = random.Random(5), list[str](), list[str]()

    def visit(seed: int) -> None:
        own = random.Random(seed)
        prompt = decoder.chat_prompt([static, Message("user", "x " * own.randrange(1, 12))])
        leaves_after, asked, steps_then = own.randrange(0, 13), 0, -1

        def is_gone() -> bool:
            nonlocal asked, steps_then
            asked += 1
            if asked > leaves_after and steps_then < 0:
                steps_then = len(session.steps)
            return asked > leaves_after

        generation = decoder.generate(prompt, grammar=grammar, max_tokens=40, cancelled=is_gone)
        finishes.append(generation.finish)
        if asked > leaves_after + 1 or (generation.finish == "cancelled") != (asked > leaves_after):
            wrong.append(f"{seed}: asked {asked} times, gone after {leaves_after}: {generation.finish}")

    for _ in range(25):
        threads = [threading.Thread(target=visit, args=(rng.randrange(10**6),)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert (len(finishes), wrong) == (200, [])
    assert finishes.count("cancelled") > 50
    assert (n_active(decoder), decoder.scheduler.describe()["n_waiting"]) == (0, 0)
    again = decoder.generate(command, grammar=grammar, max_tokens=40)
    assert (again.token_ids, again.logprob) == (expected.token_ids, expected.logprob)
    assert decoder.status()["fallback_reason"] is None


def test_what_a_server_knows_of_its_client_reaches_the_decoder(tiny_gguf: Path, tiny_tokenizer: Tokenizer) -> None:
    session = RecordingSession(open_reference(tiny_gguf))
    decoder = Decoder([("reference", session)], tiny_tokenizer)
    with calling(Caller(is_gone=lambda: len(session.steps) >= 4)):
        assert decoder.generate(Prompt("", "go"), max_tokens=50).finish == "cancelled"
    assert len(session.steps) == 4
    assert decoder.generate(Prompt("", "go"), max_tokens=5).finish == "length"


def test_a_turn_that_ended_in_the_round_of_a_failure_is_not_run_again(
    tiny_gguf: Path, tiny_tokenizer: Tokenizer
) -> None:
    callers = gated(tiny_gguf, tiny_tokenizer, FOUR)
    is_gone, texts = threading.Event(), list[str]()

    def leave(n_steps: int, logits: Logits) -> None:
        if n_steps == 3:  # one turn is dropped before this step, the step itself fails
            raise StepFailed("the driver reported error 42; check the device")

    callers.session._on_step = leave
    decoder = callers.decoder = Decoder(
        [("sick", callers.session), ("good", open_reference(tiny_gguf, FOUR))], tiny_tokenizer
    )
    callers.start("one", max_tokens=8)
    until(lambda: n_active(decoder) == 1)
    callers.start("two", n_waiting=1, max_tokens=8, on_text=texts.append, cancelled=is_gone.is_set)
    is_gone.set()
    callers.finish()
    assert {text: generation.finish for text, generation in callers.results.items()} == {
        "one": "length", "two": "cancelled",
    }  # fmt: skip
    assert callers.results["one"].target == "good"
    assert texts == []


def test_whatever_a_callback_raises_ends_its_turn_and_never_the_thread(
    tiny_gguf: Path, tiny_tokenizer: Tokenizer
) -> None:
    decoder = Decoder([("reference", open_reference(tiny_gguf))], tiny_tokenizer)

    def leave(*_: object) -> bool:
        raise SystemExit(3)

    for options in ({"on_text": leave}, {"cancelled": leave}):
        with pytest.raises(SystemExit):
            decoder.generate(Prompt("", "go"), max_tokens=5, **options)  # type: ignore[arg-type]
    assert decoder.generate(Prompt("", "go"), max_tokens=5).finish == "length"


@pytest.mark.parametrize("has_workers", [False, True])
def test_workers_serve_turns_and_survive_a_failing_target(
    tiny_gguf: Path, tiny_tokenizer: Tokenizer, has_workers: bool
) -> None:
    def fail(n_steps: int, logits: Logits) -> None:
        if n_steps >= 5:
            raise StepFailed("the driver reported error 42; check the device")

    sick = RecordingSession(open_reference(tiny_gguf, FOUR), on_step=fail)
    decoder = Decoder(
        [("sick", sick), ("good", open_reference(tiny_gguf, FOUR))], tiny_tokenizer, has_workers=has_workers
    )
    alone = Decoder([("good", open_reference(tiny_gguf, FOUR))], tiny_tokenizer)
    found: dict[str, Generation] = {}
    threads = [
        threading.Thread(
            target=lambda text=text: found.update({text: decoder.generate(Prompt("", text), max_tokens=9)})
        )
        for text in ("one", "two", "three")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for text, generation in found.items():
        assert generation.token_ids == alone.generate(Prompt("", text), max_tokens=9).token_ids
        assert generation.target == "good"
    assert len(found) == 3
    decoder.close()


def test_a_callback_that_asks_the_decoder_is_told_so_instead_of_waiting_forever(
    tiny_gguf: Path, tiny_tokenizer: Tokenizer
) -> None:
    decoder = Decoder([("reference", open_reference(tiny_gguf))], tiny_tokenizer)
    with pytest.raises(DecoderError, match="a callback asked the decoder"):
        decoder.generate(
            Prompt("", "go"), max_tokens=9, on_text=lambda _: decoder.generate(Prompt("", "go"), max_tokens=1) and None
        )
    assert decoder.generate(Prompt("", "go"), max_tokens=2).finish == "length"


@pytest.mark.parametrize("seed", range(3))
def test_whatever_fails_while_many_are_served_every_answer_is_the_healthy_one(
    tiny_gguf: Path, tiny_tokenizer: Tokenizer, seed: int
) -> None:
    texts = [f"turn {number} " * (1 + number % 4) for number in range(12)]
    alone = Decoder([("good", open_reference(tiny_gguf, FOUR))], tiny_tokenizer)
    expected = {text: alone.generate(Prompt("", text), max_tokens=12).token_ids for text in texts}
    rng = random.Random(seed)

    def misbehave(n_steps: int, logits: Logits) -> None:
        if rng.random() < 0.04:
            fault = rng.choice(["raise", np.nan, np.inf, 0.0, 3.0])
            if fault == "raise":
                raise StepFailed("the driver reported error 42; check the device")
            logits[:] = fault

    sick = [RecordingSession(open_reference(tiny_gguf, FOUR), on_step=misbehave) for _ in range(3)]
    planned = [*((f"sick {i}", session) for i, session in enumerate(sick)), ("good", open_reference(tiny_gguf, FOUR))]
    decoder = Decoder(planned, tiny_tokenizer)
    got: dict[str, tuple[int, ...]] = {}
    streamed: dict[str, list[str]] = {text: [] for text in texts}

    def ask(text: str) -> None:
        generation = decoder.generate(Prompt("", text), max_tokens=12, on_text=streamed[text].append)
        got[text] = generation.token_ids
        assert "".join(streamed[text]) == generation.text

    threads = [threading.Thread(target=ask, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert got == expected
    assert decoder.status()["n_fallbacks"] >= 1
    assert n_active(decoder) == 0


def test_a_token_in_the_pipeline_leaves_no_memory_behind(tiny_gguf: Path, tiny_tokenizer: Tokenizer) -> None:
    decoder = Decoder([("reference", open_reference(tiny_gguf))], tiny_tokenizer)
    sizes: list[int] = []

    def measure(text: str) -> None:
        sizes.append(tracemalloc.get_traced_memory()[0])

    grammar = Grammar.compile("start: /[a-z]{180}/", tiny_tokenizer)
    decoder.generate(Prompt("", "go"), grammar=grammar, max_tokens=190)
    tracemalloc.start()
    try:
        decoder.generate(Prompt("", "go"), grammar=grammar, max_tokens=190, on_text=measure)
    finally:
        tracemalloc.stop()
    assert len(sizes) > 100
    # what grows is the answer: its ids, their borders and its text
    assert sizes[-1] - sizes[20] < 150 * (len(sizes) - 20)


def test_a_hung_target_is_given_up_and_its_turn_goes_on_elsewhere(tiny_gguf: Path, tiny_tokenizer: Tokenizer) -> None:
    healthy = Decoder([("good", open_reference(tiny_gguf))], tiny_tokenizer).generate(Prompt("", "go"), max_tokens=9)
    now, is_released = [0.0], threading.Event()

    def hang(n_steps: int, logits: Logits) -> None:
        if n_steps == 4:
            now[0] += 31.0  # half a minute passes on the clock that the watch reads
            assert is_released.wait(60)

    sick = RecordingSession(open_reference(tiny_gguf), on_step=hang)
    decoder = Decoder(
        [("npu", sick), ("good", open_reference(tiny_gguf))], tiny_tokenizer, hang_s=30.0, clock=lambda: now[0]
    )
    generation = decoder.generate(Prompt("", "go"), max_tokens=9)
    assert (generation.token_ids, generation.target) == (healthy.token_ids, "good")
    assert generation.fallback_reason == "npu: no answer to a step within 30 s; the target hangs and is given up"
    is_released.set()  # the stuck thread comes back, too late to change anything
    assert decoder.generate(Prompt("", "go"), max_tokens=9).token_ids == healthy.token_ids
    assert len(sick.steps) == 4


def test_closing_ends_what_is_on_its_way(tiny_gguf: Path, tiny_tokenizer: Tokenizer) -> None:
    callers = gated(tiny_gguf, tiny_tokenizer, ONE)
    callers.start("running", max_tokens=200)
    until(lambda: n_active(callers.decoder) == 1)
    callers.start("waiting", n_waiting=1)
    closing = threading.Thread(target=callers.decoder.close)
    closing.start()
    callers.finish()
    closing.join(60)
    assert not closing.is_alive()
    assert {text: generation.finish for text, generation in callers.results.items()} == {
        "running": "cancelled", "waiting": "cancelled",
    }  # fmt: skip
    assert callers.session.is_closed
    with pytest.raises(DecoderError, match="closed"):
        callers.decoder.generate(Prompt("", "x"), max_tokens=1)
    callers.decoder.close()


def test_every_stage_of_every_step_is_traced_in_order(tiny_gguf: Path, tiny_tokenizer: Tokenizer) -> None:
    from agentkit.decoder.trace import Stage, StageTrace

    decoder = Decoder([("reference", open_reference(tiny_gguf))], tiny_tokenizer)
    decoder.scheduler.trace = trace = StageTrace(capacity=100)
    generation = decoder.generate(Prompt("", "go"), max_tokens=5)
    spans = sorted(trace.spans(), key=lambda span: span.start_s)
    assert [span.stage for span in spans] == [Stage.PRE, Stage.CORE, Stage.POST] * generation.n_steps
    assert all(a.end_s <= b.start_s for a, b in pairwise(spans))
    assert sum(span.n_valid for span in spans[::3]) == generation.n_prompt + 4  # the fifth token needs no step
    assert np.isclose(sum(s.end_s - s.start_s for s in spans[1::3]) * 1e3, generation.timings_ms["core"])
    assert trace.n_dropped == 0
