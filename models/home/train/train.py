"""Trains the home model on CPU: seeded, resumable, with a log and held-out accuracy by kind of answer."""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import sentencepiece as spm
import torch
from batches import POOL, Batch, draw, encode_answer
from muon import Muon
from net import Config, HomeModel
from speech import Speaker
from torch.nn import functional as F

WARM_UP = 100
LAST_RATE = 0.04
HELD_OUT_SEED = 999_999_937


@dataclass(frozen=True)
class Options:
    """What decides the result of a training."""

    out: Path
    tokenizer: Path
    steps: int
    homes: int
    said: int
    seed: int
    matrix_rate: float = 0.02
    other_rate: float = 3e-3


class Trainer:
    """Model, optimizers and the step they stand at."""

    def __init__(self, options: Options) -> None:
        self.options = options
        torch.manual_seed(options.seed)
        self.pieces = spm.SentencePieceProcessor(model_file=str(options.tokenizer))
        self.model = HomeModel(Config(vocab_size=self.pieces.vocab_size()))
        self.forward: Callable[..., torch.Tensor] = self.model
        matrices = [p for n, p in self.model.named_parameters() if p.dim() > 1 and n.startswith("layers")]
        others = [p for n, p in self.model.named_parameters() if p.dim() <= 1 or not n.startswith("layers")]
        self.optimizers = (Muon(matrices, options.matrix_rate), torch.optim.AdamW(
            others, options.other_rate, betas=(0.9, 0.98), weight_decay=0.01))  # fmt: skip
        self.rates = (options.matrix_rate, options.other_rate)
        self.step = 0
        self._pool: tuple[int, list[Batch]] = (-1, [])

    def load(self) -> None:
        """Go on from the last checkpoint, if there is one."""
        path = self.options.out / "last.pt"
        if not path.exists():
            return
        held = torch.load(path, weights_only=True)
        self.model.load_state_dict(held["model"])
        for optimizer, state in zip(self.optimizers, held["optimizers"], strict=True):
            optimizer.load_state_dict(state)
        self.step = held["step"]

    def save(self) -> None:
        """Write the checkpoint; a crash in between leaves the one before."""
        kept = {"model": self.model.state_dict(), "optimizers": [x.state_dict() for x in self.optimizers],
                "step": self.step}  # fmt: skip
        self.options.out.mkdir(parents=True, exist_ok=True)
        torch.save(kept, self.options.out / "next.pt")
        (self.options.out / "next.pt").replace(self.options.out / "last.pt")

    def advance(self) -> tuple[float, int]:
        """Take one step; return its loss and its number of tokens."""
        share = min(1.0, (self.step + 1) / WARM_UP) * _cosine(self.step / self.options.steps)
        for optimizer, rate in zip(self.optimizers, self.rates, strict=True):
            for group in optimizer.param_groups:
                group["lr"] = rate * share
        batch = self._batch()
        wanted = torch.nonzero(batch.weights.flatten() > 0).flatten()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = self.forward(batch.ids, wanted, batch.positions, batch.parts)
        weights = batch.weights.flatten()[wanted]
        losses = F.cross_entropy(logits.float(), batch.targets.flatten()[wanted], reduction="none")
        loss = (losses * weights).sum() / weights.sum()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self.step += 1
        is_answer = weights == 1.0
        return losses[is_answer].mean().item(), batch.ids.numel()

    def _batch(self) -> Batch:
        """The batch of this step; it follows from the seed and the step alone, wherever training began."""
        o, number = self.options, self.step // POOL
        if self._pool[0] != number:
            speaker = Speaker(o.seed * 1_000_003 + number)
            self._pool = number, draw(self.pieces, speaker, n_homes=o.homes, n_said=o.said)
        return self._pool[1][self.step % POOL]

    @torch.no_grad()
    def judge(self, n: int = 400) -> dict[str, float]:
        """Share of held-out answers that are right to the token, by kind of answer."""
        speaker, right, seen = Speaker(HELD_OUT_SEED, is_held_out=True), Counter[str](), Counter[str]()
        for _ in range(n):
            example = speaker.draw()[0]
            prompt, answer = self.pieces.encode(example.prompt), encode_answer(self.pieces, example.answer)
            ids = torch.tensor([prompt + answer[:-1]])[:, : self.model.c.max_position_embeddings]
            wanted = torch.arange(len(prompt) - 1, ids.shape[1])
            found = self.model(ids, wanted).argmax(-1).tolist()
            for key in ("all", kind_of(example.answer)):
                seen[key] += 1
                right[key] += found == answer
        return {k: round(right[k] / seen[k], 3) for k in sorted(seen)}


def kind_of(answer: str) -> str:
    """Name the kind of an answer, for statistics."""
    first = answer.split("]")[0].lstrip("[")
    return first if first in ("refuse", "ask", "wish", "say", "get_state") else "call"


def _cosine(done: float) -> float:
    return LAST_RATE + (1 - LAST_RATE) * 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))


def main() -> None:
    """Train until --steps are over; a checkpoint every --save steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokenizer", type=Path, default=Path(__file__).parent.parent / "tokenizer.model")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--homes", type=int, default=24)
    parser.add_argument("--said", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", type=int, default=250)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--compile", action="store_true", help="four times as fast after a minute or two")
    o = parser.parse_args()
    torch.set_num_threads(o.threads)
    trainer = Trainer(Options(o.out, o.tokenizer, o.steps, o.homes, o.said, o.seed))
    trainer.load()
    if o.compile:
        trainer.forward = torch.compile(trainer.model.forward, dynamic=True)
    print(f"parameters {sum(p.numel() for p in trainer.model.parameters())}, from step {trainer.step}", flush=True)
    began, n_tokens, mean = time.time(), 0, None
    while trainer.step < o.steps:
        loss, n = trainer.advance()
        n_tokens += n
        mean = loss if mean is None else 0.96 * mean + 0.04 * loss
        if trainer.step % 25 == 0:
            print(f"step {trainer.step} loss {mean:.4f} tokens/s {n_tokens / (time.time() - began):.0f}", flush=True)
            began, n_tokens = time.time(), 0
        if trainer.step % o.save == 0 or trainer.step == o.steps:
            trainer.save()
            print(json.dumps({"step": trainer.step, **trainer.judge()}), flush=True)


if __name__ == "__main__":
    main()
