"""A vendor's target in a process of its own: whatever its driver does, no answer is lost."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from agentkit.decoder.chat import Message
from agentkit.decoder.child import ChildBackend, ChildSession
from agentkit.decoder.decoder import Decoder, Generation
from agentkit.decoder.memory_pool import Pools
from agentkit.decoder.targets import Opened
from agentkit.decoder.tokenizer import Tokenizer
from agentkit.errors import BackendUnavailable, CheckpointError
from runtimes.reference import BACKEND as REFERENCE
from tests.support.sessions import OPTIONS, open_reference

WHERE = "tests.support.faulty_backend"


def open_child(checkpoint: Path, fault: str, *, step_s: float = 60.0) -> ChildSession:
    backend = ChildBackend("npu", f"{WHERE}:{fault}", step_s=step_s)
    pools = Pools.from_sizes(REFERENCE.plan(checkpoint, OPTIONS))
    session = backend.open(checkpoint, OPTIONS, pools=pools, cache_dir=checkpoint.parent)
    assert all(pool["used_bytes"] == pool["n_bytes"] for pool in pools.describe().values())
    return session


def ask(decoder: Decoder, text: str = "go") -> Generation:
    prompt = decoder.chat_prompt([Message("system", "You control a home. " * 3), Message("user", text)])
    return decoder.generate(prompt, max_tokens=12)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("SIGKILL", "npu: npu: its process died by SIGKILL"),
        ("SIGSEGV", "npu: npu: its process died by SIGSEGV"),
        ("SIGILL", "npu: npu: its process died by SIGILL"),
        ("RAISE", "npu: npu: the driver reported 42"),
    ],
)
def test_a_crash_in_the_middle_of_a_step_loses_nothing(
    tiny_gguf: Path, tiny_tokenizer: Tokenizer, fault: str, reason: str
) -> None:
    healthy = ask(Decoder([("good", open_reference(tiny_gguf))], tiny_tokenizer))
    child = open_child(tiny_gguf, fault)
    decoder = Decoder([("npu", child), ("good", open_reference(tiny_gguf))], tiny_tokenizer)
    replayed = ask(decoder)
    child.close()
    assert (replayed.token_ids, replayed.logprob) == (healthy.token_ids, pytest.approx(healthy.logprob))
    assert (replayed.target, replayed.fallback_reason) == ("good", reason)
    assert decoder.status()["breakers"]["npu"]["is_open"]


def test_a_child_that_hangs_is_killed_and_nothing_is_lost(tiny_gguf: Path, tiny_tokenizer: Tokenizer) -> None:
    healthy = ask(Decoder([("good", open_reference(tiny_gguf))], tiny_tokenizer))
    child = open_child(tiny_gguf, "HANG", step_s=2.0)
    decoder = Decoder([("npu", child), ("good", open_reference(tiny_gguf))], tiny_tokenizer)
    replayed = ask(decoder)
    assert replayed.token_ids == healthy.token_ids
    assert replayed.fallback_reason == "npu: npu: no answer within 2 s; its process was killed"
    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)


def test_a_healthy_child_answers_like_the_same_target_in_this_process(
    tiny_gguf: Path, tiny_tokenizer: Tokenizer
) -> None:
    child = open_child(tiny_gguf, "HEALTHY")
    decoders = [Decoder([("any", session)], tiny_tokenizer) for session in (open_reference(tiny_gguf), child)]
    for text in ("one", "two", "one", "three"):
        expected, got = (ask(decoder, text) for decoder in decoders)
        assert (got.token_ids, got.n_cached, got.logprob) == (expected.token_ids, expected.n_cached, expected.logprob)
    os.kill(child.pid, signal.SIGKILL)  # between two steps it is noticed by the next one
    spare = Decoder([("npu", child), ("good", open_reference(tiny_gguf))], tiny_tokenizer)
    assert ask(spare, "one").fallback_reason == "npu: npu: its process died by SIGKILL"
    assert ChildBackend("npu", f"{WHERE}:HEALTHY").plan(tiny_gguf, OPTIONS) == child.sizes


def test_a_child_outlives_the_thread_that_opened_it_and_not_the_host(
    tiny_gguf: Path, tiny_tokenizer: Tokenizer
) -> None:
    sessions: list[ChildSession] = []

    def open_it() -> Opened:
        sessions.append(open_child(tiny_gguf, "HEALTHY"))
        return Opened(sessions[-1])

    decoder = Decoder([("npu", open_it), ("good", open_reference(tiny_gguf))], tiny_tokenizer)
    assert ask(decoder).target == "npu"
    for thread in threading.enumerate():
        if thread.name == "decoder":
            thread.join(30)
    assert ask(decoder).target == "npu"
    sessions[0]._process._link.close()  # what the kernel does for a host that was killed
    assert sessions[0]._process._child.wait(30) == 0


def test_what_cannot_be_opened_is_told_and_leaves_no_process(tiny_gguf: Path, tmp_path: Path) -> None:
    probe = ChildBackend("npu", f"{WHERE}:PROBE").probe()
    assert (probe.is_available, probe.detail) == (False, "npu: its process died by SIGILL")
    with pytest.raises(BackendUnavailable, match=r"npu: No module named 'runtimes.missing'"):
        ChildBackend("npu", "runtimes.missing:BACKEND").plan(tiny_gguf, OPTIONS)
    with pytest.raises(CheckpointError, match=r"npu: .*no-such"):
        ChildBackend("npu", f"{WHERE}:HEALTHY").plan(tmp_path / "no-such.gguf", OPTIONS)
