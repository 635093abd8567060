"""Trains the home model on CPU: seeded, resumable, with a log and held-out accuracy by kind of answer."""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import Counter
from pathlib import Path

import numpy as np
import sentencepiece as spm
import torch
from net import Config, HomeModel
from speech import Speaker
from torch.nn import functional as F

_PROMPT_WEIGHT = 0.03
_POOL = 8
"""Batches drawn at once and sorted by length."""


def main() -> None:
    """Train until --minutes or --steps are over; a checkpoint every --save steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokenizer", type=Path, default=Path(__file__).parent.parent / "tokenizer.model")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=8000)
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument("--rate", type=float, default=1.5e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", type=int, default=250)
    parser.add_argument("--threads", type=int, default=2)
    o = parser.parse_args()
    torch.manual_seed(o.seed)
    torch.set_num_threads(o.threads)
    o.out.mkdir(parents=True, exist_ok=True)
    pieces = spm.SentencePieceProcessor(model_file=str(o.tokenizer))
    model = HomeModel(Config(vocab_size=pieces.vocab_size()))
    decay = [p for p in model.parameters() if p.dim() > 1]
    rest = [p for p in model.parameters() if p.dim() <= 1]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.05}, {"params": rest, "weight_decay": 0.0}],
                                  lr=o.rate, betas=(0.9, 0.98))  # fmt: skip
    start = 0
    last = o.out / "last.pt"
    if last.exists():
        held = torch.load(last, weights_only=True)
        model.load_state_dict(held["model"])
        optimizer.load_state_dict(held["optimizer"])
        start = held["step"]
    print(f"parameters {sum(p.numel() for p in model.parameters())}, from step {start}", flush=True)
    began, n_tokens, mean = time.time(), 0, 0.0
    for step in range(start, o.steps):
        for group in optimizer.param_groups:
            group["lr"] = o.rate * min(1.0, (step + 1) / 200) * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * step / o.steps)))
        if step % _POOL == 0 or step == start:
            pool = _draw(pieces, Speaker(o.seed * 1_000_003 + step // _POOL), o.batch)
        ids, targets, weights = _batch(pool[step % _POOL])
        wanted = torch.nonzero(weights.flatten() > 0).flatten()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(ids, wanted)
        w = weights.flatten()[wanted]
        loss = (F.cross_entropy(logits.float(), targets.flatten()[wanted], reduction="none") * w).sum() / w.sum()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        n_tokens += ids.numel()
        mean = loss.item() if step == start else 0.98 * mean + 0.02 * loss.item()
        if step % 50 == 0:
            rate = n_tokens / (time.time() - began)
            print(f"step {step} loss {mean:.4f} tokens/s {rate:.0f}", flush=True)
        if (step + 1) % o.save == 0 or step + 1 == o.steps:
            kept = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}
            torch.save(kept, o.out / "next.pt")
            (o.out / "next.pt").replace(last)
        if (step + 1) % 500 == 0 or step + 1 == o.steps:
            print(json.dumps({"step": step + 1, **_judge(model, pieces)}), flush=True)


def _draw(pieces: spm.SentencePieceProcessor, speaker: Speaker, n: int) -> list[list[tuple[list[int], list[int]]]]:
    """Batches of like length, in random order: less padding, same data."""
    rows = []
    while len(rows) < n * _POOL:
        example = speaker.draw()
        prompt, answer = pieces.encode(example.prompt), _answer(pieces, example.answer)
        if len(prompt) + len(answer) <= 256:
            rows.append((prompt, answer))
    rows.sort(key=lambda r: len(r[0]))
    batches = [rows[i * n : (i + 1) * n] for i in range(_POOL)]
    speaker.rng.shuffle(batches)
    return batches


def _answer(pieces: spm.SentencePieceProcessor, answer: str) -> list[int]:
    return [*pieces.encode(answer.removesuffix("<end>")), pieces.eos_id()]


def _batch(rows: list[tuple[list[int], list[int]]]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    n, longest = len(rows), max(len(p) + len(a) for p, a in rows) - 1
    ids = np.zeros((n, longest), np.int64)
    targets = np.zeros((n, longest), np.int64)
    weights = np.zeros((n, longest), np.float32)
    for i, (prompt, answer) in enumerate(rows):
        whole = prompt + answer
        ids[i, : len(whole) - 1] = whole[:-1]
        targets[i, : len(whole) - 1] = whole[1:]
        weights[i, len(prompt) - 1 : len(whole) - 1] = 1.0
        weights[i, : len(prompt) - 1 : 4] = _PROMPT_WEIGHT
    return torch.from_numpy(ids), torch.from_numpy(targets), torch.from_numpy(weights)


@torch.no_grad()
def _judge(model: HomeModel, pieces: spm.SentencePieceProcessor, n: int = 400) -> dict[str, float]:
    """Share of held-out answers that are right to the token (teacher forced), whole and by first token."""
    speaker, right, seen = Speaker(999_999_937), Counter[str](), Counter[str]()
    for _ in range(n):
        example = speaker.draw()
        prompt, answer = pieces.encode(example.prompt), _answer(pieces, example.answer)
        if len(prompt) + len(answer) > 500:
            continue
        ids = torch.tensor([prompt + answer[:-1]])
        wanted = torch.arange(len(prompt) - 1, len(prompt) + len(answer) - 1)
        is_right = bool((model(ids, wanted).argmax(-1) == torch.tensor(answer)).all())
        kind = "refuse" if example.answer.startswith("<refuse>") else "wish" if example.answer.startswith("<wish>") else "call"
        for key in ("all", kind):
            seen[key] += 1
            right[key] += is_right
    return {k: round(right[k] / seen[k], 3) for k in seen}


if __name__ == "__main__":
    main()
