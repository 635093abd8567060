"""The home model in PyTorch: a small Llama (RMSNorm, RoPE, grouped K/V heads, SwiGLU, tied head)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Config:
    """Shape of the model; the names are those of Hugging Face's config.json."""

    vocab_size: int = 4096
    hidden_size: int = 256
    num_hidden_layers: int = 6
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    intermediate_size: int = 704
    max_position_embeddings: int = 512
    rope_theta: float = 10000.0
    rms_norm_eps: float = 1e-5

    @property
    def head_dim(self) -> int:
        """Width of one head."""
        return self.hidden_size // self.num_attention_heads


class Norm(nn.Module):
    """RMSNorm (Zhang and Sennrich, 2019)."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(size)), eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)).type_as(x) * self.weight


class Layer(nn.Module):
    """Attention and feed-forward; parameter names are those of Hugging Face's Llama."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        d, kv = c.hidden_size, c.num_key_value_heads * c.head_dim
        self.c = c
        self.input_layernorm = Norm(d, c.rms_norm_eps)
        sizes = {"q_proj": d, "k_proj": kv, "v_proj": kv, "o_proj": d}
        self.self_attn = nn.ModuleDict({name: nn.Linear(d, size, bias=False) for name, size in sizes.items()})
        self.post_attention_layernorm = Norm(d, c.rms_norm_eps)
        self.mlp = nn.ModuleDict({"gate_proj": nn.Linear(d, c.intermediate_size, bias=False),
                                  "up_proj": nn.Linear(d, c.intermediate_size, bias=False),
                                  "down_proj": nn.Linear(c.intermediate_size, d, bias=False)})  # fmt: skip

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        c, (b, t, _) = self.c, x.shape
        h = self.input_layernorm(x)
        q = self.self_attn["q_proj"](h).view(b, t, c.num_attention_heads, c.head_dim).transpose(1, 2)
        k = self.self_attn["k_proj"](h).view(b, t, c.num_key_value_heads, c.head_dim).transpose(1, 2)
        v = self.self_attn["v_proj"](h).view(b, t, c.num_key_value_heads, c.head_dim).transpose(1, 2)
        q, k = _rotate(q, cos, sin), _rotate(k, cos, sin)
        n_shared = c.num_attention_heads // c.num_key_value_heads
        k, v = k.repeat_interleave(n_shared, 1), v.repeat_interleave(n_shared, 1)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
        x = x + self.self_attn["o_proj"](a.transpose(1, 2).reshape(b, t, -1))
        h = self.post_attention_layernorm(x)
        return x + self.mlp["down_proj"](F.silu(self.mlp["gate_proj"](h)) * self.mlp["up_proj"](h))


def _rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


class HomeModel(nn.Module):
    """Token ids in, logits out."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.c = c
        self.embed_tokens = nn.Embedding(c.vocab_size, c.hidden_size)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.num_hidden_layers))
        self.norm = Norm(c.hidden_size, c.rms_norm_eps)
        inverse = 1.0 / c.rope_theta ** (torch.arange(0, c.head_dim, 2).float() / c.head_dim)
        angle = torch.outer(torch.arange(c.max_position_embeddings).float(), inverse)
        self.register_buffer("cos", torch.cat((angle, angle), -1).cos(), persistent=False)
        self.register_buffer("sin", torch.cat((angle, angle), -1).sin(), persistent=False)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def forward(
        self,
        token_ids: torch.Tensor,
        wanted: torch.Tensor,
        positions: torch.Tensor | None = None,
        parts: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Logits [n_wanted, vocab] at the flat positions `wanted` of token_ids [B, T].

        `positions` and `parts` [B, T]: a part sees part 0 and itself; None = one part, counted from 0.
        """
        x = self.embed_tokens(token_ids)
        at = torch.arange(token_ids.shape[1])[None] if positions is None else positions
        cos, sin = self.cos[at].unsqueeze(1), self.sin[at].unsqueeze(1)  # [B, 1, T, head_dim]
        mask = None if parts is None else _sees(parts)
        for layer in self.layers:
            x = layer(x, cos, sin, mask)
        chosen = self.norm(x).flatten(0, 1)[wanted]
        return F.linear(chosen, self.embed_tokens.weight.to(chosen.dtype))


def _sees(parts: torch.Tensor) -> torch.Tensor:
    """Which token sees which, [B, 1, T, T] bool."""
    n = parts.shape[1]
    is_before = torch.ones(n, n, dtype=torch.bool).tril()
    is_same = parts[:, :, None] == parts[:, None, :]
    return (is_before & (is_same | (parts == 0)[:, None, :])).unsqueeze(1)
