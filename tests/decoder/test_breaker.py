from __future__ import annotations

import threading
from pathlib import Path

from agentkit.decoder.backend import Logits
from agentkit.decoder.breaker import FIRST_BACK_OFF_S, MAX_BACK_OFF_S, Breaker
from agentkit.decoder.chat import Prompt
from agentkit.decoder.decoder import Decoder
from agentkit.decoder.targets import Opened
from agentkit.decoder.tokenizer import Tokenizer
from agentkit.errors import StepFailed
from tests.support.sessions import RecordingSession, open_reference


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_each_relapse_doubles_the_wait_up_to_a_bound() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    waits = []
    for _ in range(10):
        breaker.trip("it failed")
        assert not breaker.is_due
        waits.append(breaker.describe()["retry_in_s"])
        clock.now_s += waits[-1]
        assert breaker.is_due
        breaker.close()
    assert waits[:3] == [FIRST_BACK_OFF_S, 2 * FIRST_BACK_OFF_S, 4 * FIRST_BACK_OFF_S]
    assert waits[-1] == MAX_BACK_OFF_S


def test_a_failure_long_after_the_last_one_starts_small_again() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    for _ in range(3):
        breaker.trip("it failed")
        breaker.close()
        clock.now_s += 10_000
    breaker.trip("it failed")
    assert breaker.describe() == {
        "is_open": True, "reason": "it failed", "n_failures": 4, "retry_in_s": FIRST_BACK_OFF_S,
    }  # fmt: skip


def wait_for_probe() -> None:
    for thread in threading.enumerate():
        if thread.name.startswith(("probe-", "decoder")):
            thread.join(30)


def test_a_target_that_works_again_is_used_again_after_its_back_off(tiny_gguf: Path, tiny_tokenizer: Tokenizer) -> None:
    clock, is_sick, opened = Clock(), [True], list[RecordingSession]()

    def fail(n_steps: int, logits: Logits) -> None:
        if is_sick[0] and n_steps > 3:
            raise StepFailed("the driver reported error 42; check the device")

    def open_npu() -> Opened:
        opened.append(RecordingSession(open_reference(tiny_gguf), on_step=fail))
        return Opened(opened[-1])

    decoder = Decoder([("npu", open_npu), ("cpu", open_reference(tiny_gguf))], tiny_tokenizer, clock=clock)

    def ask() -> str:
        return decoder.generate(Prompt("", "turn on the light"), max_tokens=12).target

    assert ask() == "cpu"  # it failed in the middle
    wait_for_probe()
    assert len(opened) == 1  # too early for another try
    clock.now_s += FIRST_BACK_OFF_S
    assert ask() == "cpu"
    wait_for_probe()
    assert opened[0].is_closed
    assert len(opened) == 2  # tried in the background and found sick still
    assert decoder.status()["breakers"]["npu"]["n_failures"] == 2
    is_sick[0] = False
    clock.now_s += 2 * FIRST_BACK_OFF_S
    assert ask() == "cpu"
    wait_for_probe()
    assert ask() == "npu"
    assert len(opened) == 3
    assert decoder.status()["fallback_reason"] is None
    assert decoder.status()["n_fallbacks"] == 1
