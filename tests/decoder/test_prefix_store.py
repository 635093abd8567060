from __future__ import annotations

import logging
import resource
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentkit.decoder.backend import SessionOptions
from agentkit.decoder.decoder import Decoder, Generation, Prompt
from agentkit.decoder.lane import Lane
from agentkit.decoder.open import open_decoder
from agentkit.decoder.prefix_store import PrefixStore
from agentkit.errors import StepFailed, UnhealthyLogits
from runtimes.onnx_cpu import BACKEND as CPU
from runtimes.reference import BACKEND as REFERENCE
from tests.support.sessions import OPTIONS, open_reference

PROMPT = Prompt("<|im_start|>system\nturn on the light of the kitchen " * 3, "<|im_start|>user\nopen the door")
BACKENDS = {"reference": REFERENCE, "cpu_onnx": CPU}


def opened(checkpoint: Path, cache: Path, *, target: str = "reference", options: SessionOptions = OPTIONS) -> Decoder:
    return open_decoder([(target, None)], checkpoint, options, cache, backends=BACKENDS)


def answer(decoder: Decoder) -> Generation:
    return decoder.generate(PROMPT, max_tokens=8)


def saved(cache: Path) -> list[Path]:
    return sorted((cache / "prefixes").glob("*.rows"))


@pytest.mark.parametrize("target", ["reference", "cpu_onnx"])
def test_a_restart_reuses_the_static_prompt_and_answers_the_same(tiny_gguf: Path, tmp_path: Path, target: str) -> None:
    first = answer(opened(tiny_gguf, tmp_path, target=target))
    again = answer(opened(tiny_gguf, tmp_path, target=target))
    assert first.n_cached == 0
    assert again.n_cached > 64
    assert (again.token_ids, again.logprob) == (first.token_ids, first.logprob)
    assert len(saved(tmp_path)) == 1


def cut(content: bytes) -> bytes:
    return content[:-100]


def flip(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


@pytest.mark.parametrize("damage", [cut, flip, bytes.upper, lambda content: b""])
def test_a_damaged_file_is_computed_again(tiny_gguf: Path, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    first = answer(opened(tiny_gguf, tmp_path))
    (path,) = saved(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    again = answer(opened(tiny_gguf, tmp_path))
    assert again.n_cached == 0
    assert again.token_ids == first.token_ids
    assert path.read_bytes() == whole


def test_rows_of_another_target_or_other_options_are_not_taken(tiny_gguf: Path, tmp_path: Path) -> None:
    answer(opened(tiny_gguf, tmp_path))
    assert answer(opened(tiny_gguf, tmp_path, target="cpu_onnx")).n_cached == 0
    assert answer(opened(tiny_gguf, tmp_path, options=replace(OPTIONS, buckets=(1, 8)))).n_cached == 0
    assert len(saved(tmp_path)) == 3


def test_rows_of_a_changed_checkpoint_are_not_taken(tiny_gguf: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(tiny_gguf.read_bytes())
    answer(opened(copy, tmp_path))
    copy.write_bytes(tiny_gguf.read_bytes())
    assert answer(opened(copy, tmp_path)).n_cached == 0


def test_a_folder_that_cannot_be_written_costs_only_the_next_start(
    tiny_gguf: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "prefixes").write_text("in the way")
    with caplog.at_level(logging.WARNING):
        assert answer(opened(tiny_gguf, tmp_path)).n_sampled > 0
    assert "the static prompt is not saved" in caplog.text


def test_only_the_newest_files_are_kept(tiny_gguf: Path, tmp_path: Path) -> None:
    decoder = opened(tiny_gguf, tmp_path)
    for word in ("light", "door", "fan", "lock", "blind", "valve"):
        decoder.generate(Prompt(PROMPT.prefix + word, PROMPT.tail), max_tokens=1)
    assert len(list((tmp_path / "prefixes").iterdir())) == 4


def test_a_short_prefix_is_not_worth_a_file(tiny_gguf: Path, tmp_path: Path) -> None:
    opened(tiny_gguf, tmp_path).generate(Prompt("turn on", "<|im_start|>user"), max_tokens=1)
    assert saved(tmp_path) == []


def test_rows_that_lead_to_unhealthy_logits_are_deleted(tiny_gguf: Path, tmp_path: Path) -> None:
    lane = Lane("reference", open_reference(tiny_gguf), prefixes=PrefixStore(tmp_path / "prefixes", "any key"))
    ids = [5] * 80
    slot = lane.place([*ids, 6], len(ids))
    lane.run_prefix(slot, ids)
    assert len(saved(tmp_path)) == 1
    lane.distrust(StepFailed("a cable was loose"), slot)
    assert len(saved(tmp_path)) == 1
    lane.distrust(UnhealthyLogits("NaN among the logits"), slot)
    assert lane.kv.length(slot) == 0
    assert saved(tmp_path) == []


def test_a_disk_that_fills_up_while_saving_costs_only_the_next_start(
    tiny_gguf: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    expected = answer(opened(tiny_gguf, tmp_path / "other")).token_ids
    decoder = opened(tiny_gguf, tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, hard))  # the kernel refuses in the middle of the file
    try:
        with caplog.at_level(logging.WARNING):
            assert answer(decoder).token_ids == expected
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "the static prompt is not saved" in caplog.text
    assert list((tmp_path / "prefixes").iterdir()) == []
    assert answer(opened(tiny_gguf, tmp_path)).n_cached == 0
    assert answer(opened(tiny_gguf, tmp_path)).n_cached > 64
