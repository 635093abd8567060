"""Engines that `compare` can race: any installed target, llama.cpp and ONNX Runtime GenAI through their packages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from agentkit.bench.opened import open_warm
from agentkit.decoder.backend import SessionOptions
from agentkit.errors import BackendUnavailable

LLAMA_CPP, GENAI = "llama_cpp", "onnxruntime_genai"
PEERS = (LLAMA_CPP, GENAI)
"""Engines of others."""


class Engine(Protocol):
    """Greedy decoding of one sequence."""

    def prefill(self, token_ids: list[int]) -> int:
        """Start a sequence; returns the most likely next token."""
        ...

    def decode(self, token_id: int) -> int:
        """Append one token; returns the most likely next one."""
        ...

    def close(self) -> None:
        """Free the model."""
        ...


def open_engine(name: str, checkpoint: Path, options: SessionOptions, cache_dir: Path) -> Engine:
    """Open an engine by name. Raises BackendUnavailable, CheckpointError."""
    if name == LLAMA_CPP:
        return _LlamaCpp(checkpoint, options)
    if name == GENAI:
        from agentkit.bench.genai import GenAi

        return GenAi(checkpoint, options, cache_dir)
    return _Target(checkpoint, name, options, cache_dir)


class _Target:
    def __init__(self, checkpoint: Path, name: str, options: SessionOptions, cache_dir: Path):
        self._session = open_warm(checkpoint, name, options, cache_dir).session

    def prefill(self, token_ids: list[int]) -> int:
        self._session.kv.reset(0)
        return self._run(np.array(token_ids, np.int64))

    def decode(self, token_id: int) -> int:
        return self._run(np.array([token_id], np.int64))

    def close(self) -> None:
        self._session.close()

    def _run(self, token_ids: Any) -> int:
        logits = self._session.step(token_ids, len(token_ids), slot=0)
        self._session.kv.commit(0, len(token_ids))
        return int(logits.argmax())


class _LlamaCpp:
    def __init__(self, checkpoint: Path, options: SessionOptions):
        try:
            from llama_cpp import Llama
        except ImportError as err:
            raise BackendUnavailable(
                f"llama_cpp: cannot be imported ({err}); run make bench, which builds it, "
                "or: pip install llama-cpp-python"
            ) from err
        if checkpoint.suffix != ".gguf":
            raise BackendUnavailable(f"llama_cpp: got {checkpoint}, wanted a .gguf file; compare with another target")
        n_threads = options.n_threads or len(os.sched_getaffinity(0))
        try:
            self._llama: Any = Llama(
                str(checkpoint),
                n_ctx=options.max_seq_len,
                n_threads=n_threads,
                n_threads_batch=n_threads,
                n_gpu_layers=0,
                verbose=False,
            )
        except ValueError as err:
            raise BackendUnavailable(
                f"llama_cpp: {checkpoint} does not open ({err}); check it with models verify"
            ) from err

    def prefill(self, token_ids: list[int]) -> int:
        self._llama.reset()
        return self._run(token_ids)

    def decode(self, token_id: int) -> int:
        return self._run([token_id])

    def close(self) -> None:
        self._llama.close()

    def _run(self, token_ids: list[int]) -> int:
        self._llama.eval(token_ids)
        logits = np.ctypeslib.as_array(self._llama._ctx.get_logits_ith(-1), shape=(self._llama.n_vocab(),))
        return int(logits.argmax())
