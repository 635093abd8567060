from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from agentkit.bench.overlap import Load, serve
from agentkit.decoder.backend import SessionOptions
from agentkit.decoder.lane import Lane
from agentkit.decoder.tokenizer import Tokenizer, load_tokenizer
from agentkit.decoder.trace import Stage, StageTrace
from tests.support.sessions import open_reference
from tests.support.tiny import write_gguf

OPTIONS = SessionOptions(max_seq_len=128, n_slots=4, buckets=(1, 4, 16))
LOAD = Load(n_requests=8, n_clients=4, n_prompt=12, n_tokens=6)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("tiny") / "tiny.gguf")


@pytest.fixture(scope="module")
def tokenizer(checkpoint: Path) -> Tokenizer:
    return load_tokenizer(checkpoint)


@pytest.mark.parametrize(("n_clients", "n_in_flight", "has_workers"), [(1, 1, False), (4, 4, False), (4, 1, True)])
def test_answers_do_not_depend_on_how_the_stages_are_driven(
    checkpoint: Path, tokenizer: Tokenizer, n_clients: int, n_in_flight: int, has_workers: bool
) -> None:
    expected = serve(Lane("reference", open_reference(checkpoint, OPTIONS)), tokenizer, LOAD)
    load = Load(LOAD.n_requests, n_clients, LOAD.n_prompt, LOAD.n_tokens)
    lane = Lane("reference", open_reference(checkpoint, OPTIONS))
    served = serve(lane, tokenizer, load, n_in_flight=n_in_flight, has_workers=has_workers)
    assert served == expected
    assert len(set(expected.token_ids)) > 1


def test_workers_trace_every_stage_of_every_step_once(checkpoint: Path, tokenizer: Tokenizer) -> None:
    trace = StageTrace()
    served = serve(
        Lane("reference", open_reference(checkpoint, OPTIONS)), tokenizer, LOAD, has_workers=True, trace=trace
    )
    spans = {stage: [s for s in trace.spans() if s.stage is stage] for stage in Stage}
    assert len(spans[Stage.PRE]) == len(spans[Stage.CORE]) == served.n_steps
    core = sorted((s.start_s, s.end_s) for s in spans[Stage.CORE])
    assert all(first[1] <= second[0] for first, second in pairwise(core))
