"""The definition of the decoder, in NumPy and f32: slow, readable, and what every other target is compared with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agentkit.compiler.checkpoint import Tensor, load_checkpoint, tensor_shapes
from agentkit.decoder.backend import DecoderSpec, Logits, PoolSizes, Probe, SessionOptions, TokenIds
from agentkit.decoder.checks import check_options, check_step
from agentkit.decoder.kv_cache import KVCache, Layout, cache_bytes, cache_facts
from agentkit.decoder.memory_pool import Pools, aligned_bytes
from agentkit.errors import BackendUnavailable


class Reference:
    """The NumPy target."""

    name = "reference"

    def probe(self) -> Probe:
        """Always available."""
        facts = cache_facts(Layout.PACKED, np.float32)
        return Probe(True, f"NumPy {np.__version__}, f32; for checking, not for speed", facts)

    def plan(self, checkpoint: Path, options: SessionOptions) -> PoolSizes:
        """Compute the pool sizes of `open`."""
        return plan_sizes(load_checkpoint(checkpoint).spec, options)

    def open(self, checkpoint: Path, options: SessionOptions, *, pools: Pools, cache_dir: Path) -> ReferenceSession:
        """Read all weights as f32; there is nothing to compile."""
        loaded = load_checkpoint(checkpoint)
        if options.precision not in (None, "f32"):
            raise BackendUnavailable(f"reference: precision {options.precision!r} is not offered, wanted f32 or none")
        return ReferenceSession(loaded.spec, loaded.tensor, options, pools)


def plan_sizes(spec: DecoderSpec, options: SessionOptions) -> PoolSizes:
    """Compute the pools: all weights, the packed cache, one row of logits."""
    check_options(spec, options)
    return PoolSizes(
        weight_bytes=sum(aligned_bytes(shape, np.float32) for shape in tensor_shapes(spec).values()),
        cache_bytes=cache_bytes(spec, options, Layout.PACKED, np.float32),
        temp_bytes=aligned_bytes((spec.vocab_size,), np.float32),
    )


class ReferenceSession:
    """An opened model."""

    def __init__(self, spec: DecoderSpec, tensor: Callable[[str], Tensor], options: SessionOptions, pools: Pools):
        self.spec, self.options, self.sizes = spec, options, plan_sizes(spec, options)
        self._weights: dict[str, Tensor] = {}
        for name, shape in tensor_shapes(spec).items():
            self._weights[name] = pools.weight.alloc(name, shape, np.float32)
            self._weights[name][...] = tensor(name)
        self._head = self._weights["embed" if spec.is_head_tied else "head"]  # [vocab_size, hidden_size]
        self.kv = KVCache(pools.cache, spec, options, layout=Layout.PACKED, dtype=np.float32)
        self._logits: Logits = pools.temp.alloc("logits", (spec.vocab_size,), np.float32)
        self.observe: Callable[[str, Tensor], None] | None = None
        """Told the input of every product, [n_valid, columns], under the first name of the matrices that read it."""
        self._n_valid = 0

    def step(self, token_ids: TokenIds, n_valid: int, *, slot: int) -> Logits:
        """Run one padded step; see the port."""
        check_step(self, token_ids, n_valid, slot=slot)
        start, self._n_valid = self.kv.length(slot), n_valid
        hidden = self._weights["embed"][token_ids] * np.float32(self.spec.embed_scale)  # [bucket, hidden_size] f32
        for layer in range(self.spec.n_layers):
            hidden = hidden + self._attention(layer, slot, start, hidden)
            hidden = hidden + self._feed_forward(layer, hidden)
        last = rms_norm(hidden[n_valid - 1], self._weights["final_norm"], self.spec.rms_norm_eps)
        self._tell("head", last[None])
        np.matmul(self._head, last, out=self._logits)
        return self._logits

    def close(self) -> None:
        """Let go of the weights; the pools own the memory."""
        self._weights.clear()

    def _attention(self, layer: int, slot: int, start: int, hidden: Tensor) -> Tensor:
        spec, n_rows = self.spec, len(hidden)
        normed = rms_norm(hidden, self._layer(layer, "attn_norm"), spec.rms_norm_eps)
        self._tell(f"layers.{layer}.q", normed)
        positions = np.arange(start, start + n_rows)
        q, k, v = (self._project(layer, part, normed) for part in ("q", "k", "v"))
        if spec.has_qk_norm:
            q = rms_norm(q, self._layer(layer, "q_norm"), spec.rms_norm_eps)
            k = rms_norm(k, self._layer(layer, "k_norm"), spec.rms_norm_eps)
        keys, values = self.kv.keys(layer, slot), self.kv.values(layer, slot)
        keys[start : start + n_rows] = rotate(k, positions, spec.rope_theta)
        values[start : start + n_rows] = v
        end = start + n_rows
        mixed = attend(rotate(q, positions, spec.rope_theta), keys[:end], values[:end], positions).reshape(n_rows, -1)
        self._tell(f"layers.{layer}.o", mixed)
        projected: Tensor = mixed @ self._layer(layer, "o").T
        return projected

    def _project(self, layer: int, part: str, normed: Tensor) -> Tensor:
        """Return one part of q, k and v as [rows, heads, head_dim]."""
        projected = normed @ self._layer(layer, part).T
        if self.spec.has_qkv_bias:
            projected = projected + self._layer(layer, f"{part}_bias")
        return projected.reshape(len(normed), -1, self.spec.head_dim)

    def _feed_forward(self, layer: int, hidden: Tensor) -> Tensor:
        normed = rms_norm(hidden, self._layer(layer, "ffn_norm"), self.spec.rms_norm_eps)
        self._tell(f"layers.{layer}.gate", normed)
        opened = {"silu": silu, "gelu": gelu}[self.spec.activation](normed @ self._layer(layer, "gate").T)
        gated = opened * (normed @ self._layer(layer, "up").T)
        self._tell(f"layers.{layer}.down", gated)
        projected: Tensor = gated @ self._layer(layer, "down").T
        return projected

    def _tell(self, name: str, rows: Tensor) -> None:
        if self.observe is not None:
            self.observe(name, rows[: self._n_valid])

    def _layer(self, layer: int, part: str) -> Tensor:
        return self._weights[f"layers.{layer}.{part}"]


def rms_norm(hidden: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Scale each row to a root mean square of 1, then by the weight."""
    mean_square = np.mean(hidden * hidden, axis=-1, keepdims=True)
    normed: Tensor = hidden / np.sqrt(mean_square + np.float32(eps)) * weight
    return normed


def rotary_angles(positions: NDArray[np.int64], head_dim: int, theta: float) -> NDArray[np.float64]:
    """Return the angle of each position and element pair, [rows, head_dim / 2]."""
    frequencies = theta ** (-np.arange(0, head_dim, 2) / head_dim)
    return np.asarray(positions[:, None] * frequencies[None, :])


def rotate(heads: Tensor, positions: NDArray[np.int64], theta: float) -> Tensor:
    """Turn element i of each head with element i + head_dim/2 by the position's angle. [rows, heads, head_dim]."""
    angles = rotary_angles(positions, heads.shape[-1], theta)[:, None, :]  # [rows, 1, head_dim / 2] f64
    cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    first, second = np.split(heads, 2, axis=-1)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


def attend(q: Tensor, keys: Tensor, values: Tensor, positions: NDArray[np.int64]) -> Tensor:
    """Mix the values each query may see: rows up to its own position. [rows, n_heads, head_dim]."""
    n_groups = q.shape[1] // keys.shape[1]
    keys, values = np.repeat(keys, n_groups, axis=1), np.repeat(values, n_groups, axis=1)  # [cached, n_heads, head_dim]
    scores = np.matmul(q.swapaxes(0, 1), keys.transpose(1, 2, 0)) / np.float32(np.sqrt(q.shape[-1]))
    is_hidden = np.arange(len(keys))[None, :] > positions[:, None]  # [rows, cached]
    scores = np.where(is_hidden[None], -np.inf, scores)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    mixed: Tensor = np.matmul(weights, values.swapaxes(0, 1)).swapaxes(0, 1)
    return mixed


def silu(gate: Tensor) -> Tensor:
    """x * sigmoid(x), without overflow at large negative x."""
    return (gate * (np.float32(0.5) * (np.float32(1) + np.tanh(gate / 2)))).astype(np.float32)


def gelu(gate: Tensor) -> Tensor:
    """x * the share of a normal distribution below x, in the approximation with tanh."""
    inner = np.float32(np.sqrt(2 / np.pi)) * (gate + np.float32(0.044715) * gate**3)
    return (gate * (np.float32(0.5) * (np.float32(1) + np.tanh(inner)))).astype(np.float32)


BACKEND = Reference()
