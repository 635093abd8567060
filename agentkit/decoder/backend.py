"""The port between the decoder and a target: what a file in runtimes/ must offer.

A `Backend` opens a checkpoint on a target; the `Session` it returns runs single core steps. Everything
around the step (padding, grammar, sampling, health, commit) is the decoder's and the same for every target.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from agentkit.decoder.kv_cache import KVCache
    from agentkit.decoder.memory_pool import Pools

TokenIds = NDArray[np.int64]
Mask = NDArray[np.int32]
"""A bit per id, [vocab_size rounded up to 32] as i32 words, lowest bit first."""
Logits = NDArray[np.float32]
Activation = Literal["silu", "gelu"]
"""Of the feed-forward's gate; gelu is the form with tanh."""


@dataclass(frozen=True)
class DecoderSpec:
    """The shape of one Llama-family decoder, read from its checkpoint."""

    architecture: str
    n_layers: int
    hidden_size: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    ffn_size: int
    vocab_size: int
    max_seq_len: int
    """Positions the model was trained for; the cache may be opened shorter."""
    rope_theta: float
    rms_norm_eps: float
    is_head_tied: bool = True
    has_qkv_bias: bool = False
    has_qk_norm: bool = False
    """Each head of q and k is normed before it is turned."""
    activation: Activation = "silu"
    embed_scale: float = 1.0
    """What every embedding is multiplied by."""


@dataclass(frozen=True)
class Probe:
    """Whether a target can run here, and the reason if it cannot."""

    is_available: bool
    detail: str
    """One line: version and hardware found, or what is missing and the next step."""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PoolSizes:
    """Bytes of the three pools (rule A9), computed before anything is allocated."""

    weight_bytes: int
    cache_bytes: int
    temp_bytes: int


@dataclass(frozen=True)
class SessionOptions:
    """How to open a model; the same for every target."""

    max_seq_len: int = 2048
    """Capacity of each cache slot, in tokens."""
    n_slots: int = 2
    """Sequences that can live side by side in the cache."""
    buckets: tuple[int, ...] = (1, 4, 16, 32, 64, 128, 256)
    """Allowed lengths of one padded step, ascending; 1 is the decode step."""
    n_threads: int = 0
    """0 = all cores."""
    precision: str | None = None
    """None = the artifact's own; see the target for what it offers (f32, int8, int4 …)."""
    importance: str = ""
    """Path of a calibration (`agentkit.compiler.importance`) for weights that have to be rounded; "" = none."""
    cores: tuple[int, ...] = ()
    """Cores that the threads are held to, one each, on targets that can; empty = the target chooses."""


class Session(Protocol):
    """An opened model: fixed shapes, fixed memory."""

    spec: DecoderSpec
    options: SessionOptions
    sizes: PoolSizes
    kv: KVCache

    def step(self, token_ids: TokenIds, n_valid: int, *, slot: int) -> Logits:
        """Run one padded step after the committed rows of `slot`.

        `token_ids` is [bucket] i64 with n_valid real ids in front; rows length … length+bucket-1 of the cache may be
        overwritten, `kv.length(slot)` does not move (the caller commits n_valid). Returns [vocab_size] f32 logits
        of token n_valid-1, a view that the next step overwrites. Raises StepFailed.
        """
        ...

    def close(self) -> None:
        """Free what the session holds; calling it twice is harmless."""
        ...


class MaskingSession(Session, Protocol):
    """A session that is told which tokens may follow, and need not compute the others."""

    takes_masks: bool

    def step(self, token_ids: TokenIds, n_valid: int, *, slot: int, allowed: Mask | None = None) -> Logits:
        """Run one padded step, as for `Session`; logits of ids that are not `allowed` are -inf."""
        ...


class AsyncSession(Session, Protocol):
    """A session of a target that takes the next step while one still runs; steps end in the order they began.

    A session with `takes_masks` takes `allowed` in `submit` too.
    """

    max_shared_rows: int
    """Steps of up to so many rows may be in flight together; a longer one is given to the target alone."""

    def submit(self, token_ids: TokenIds, n_valid: int, *, slot: int) -> Any:
        """Hand over one padded step, as for `step`, and return its fence at once.

        A slot has at most one step in flight, `token_ids` stay as they are until its fence has passed. Raises
        StepFailed.
        """
        ...

    def wait(self, fence: Any) -> Logits:
        """Return the step's logits once its fence has passed; a view that the next `wait` overwrites.

        Raises StepFailed, StepCancelled.
        """
        ...

    def abandon(self) -> None:
        """Forget the steps in flight; nobody will wait for them."""
        ...


@runtime_checkable
class CancellableSession(Protocol):
    """A session whose step can be ended early."""

    def cancel(self) -> None:
        """End the step in progress soon with StepCancelled, its rows uncommitted; comes from another thread."""
        ...


class Backend(Protocol):
    """One target. A runtime file exports an instance as `BACKEND`, found through `agentkit.runtimes`."""

    name: str
    """The target's name in manifest and plan: reference, cpu_onnx, npu_rknn …"""

    def probe(self) -> Probe:
        """Look whether the target can run here; cheap, never raises, loads no model."""
        ...

    def plan(self, checkpoint: Path, options: SessionOptions) -> PoolSizes:
        """Compute the pool sizes of `open` without allocating them. Raises CheckpointError."""
        ...

    def open(self, checkpoint: Path, options: SessionOptions, *, pools: Pools, cache_dir: Path) -> Session:
        """Open the checkpoint, compiling into cache_dir if the compiled form is not there yet.

        Allocates from `pools` only; the caller seals them after warm-up. Raises BackendUnavailable, CheckpointError.
        """
        ...
