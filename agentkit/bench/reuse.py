"""Speed that comes from not running the model: tokens that the grammar forces, and a static prompt that was saved."""

from __future__ import annotations

import secrets
import statistics
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from agentkit.bench.figures import Check, machine
from agentkit.bench.opened import open_warm
from agentkit.decoder.backend import SessionOptions
from agentkit.decoder.chat import Message, Prompt
from agentkit.decoder.decoder import Decoder, Generation
from agentkit.decoder.grammar import Grammar
from agentkit.decoder.open import open_decoder
from agentkit.decoder.tokenizer import load_tokenizer

MAX_FORCED_RATIO, MAX_PREFIX_RATIO = 0.6, 0.15
N_PREFIX = 1000
MAX_TOKENS = 80
CALL = """
start: "{\\"calls\\":[{\\"tool\\":\\"" call "}]}"
call: ("turn_on" | "turn_off") "\\",\\"device\\":\\"" name "\\""
    | "set_temperature\\",\\"device\\":\\"" name "\\",\\"temperature\\":" /[1-3][0-9]/
name: "kitchen light" | "living room lamp" | "bedroom air conditioner" | "bathroom fan"
"""
"""A tool call as a home's grammar has it: most of its bytes are dictated."""


def reuse_bench(
    checkpoint: Path, *, cache_dir: Path, target: str = "cpu_onnx", n_threads: int = 0, rounds: int = 5,
    n_prefix: int = N_PREFIX, on_round: Callable[[int], None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Measure a tool call with and without forced runs, by turns, and a first command with and without saved rows."""
    options = SessionOptions(max_seq_len=-(-(n_prefix + 300) // 64) * 64, n_slots=1, n_threads=n_threads)
    forced = _forced(checkpoint, cache_dir, target, options, rounds, on_round)
    prefix = _prefix(checkpoint, cache_dir, target, options, n_prefix)
    checks = [
        Check("tool call with forced runs / without", forced["ratio"], MAX_FORCED_RATIO),
        Check(f"first command with {n_prefix} saved tokens / without", prefix["ratio"], MAX_PREFIX_RATIO),
    ]
    return {
        "machine": machine(),
        "checkpoint": checkpoint.name,
        "target": target,
        "forced": forced,
        "prefix": prefix,
        "checks": [check.as_dict() for check in checks],
    }


def _forced(
    checkpoint: Path, cache_dir: Path, target: str, options: SessionOptions, rounds: int,
    on_round: Callable[[int], None] | None,
) -> dict[str, Any]:  # fmt: skip
    tokenizer, opened = load_tokenizer(checkpoint), open_warm(checkpoint, target, options, cache_dir)
    ways = [
        Decoder([(target, opened.session)], tokenizer, has_forced_runs=is_forcing) for is_forcing in (True, False)
    ]  # fmt: skip
    found: list[list[Generation]] = [[], []]
    try:
        for number in range(-1, rounds):  # the first one is not counted: caches warm up
            for way in (0, 1) if number % 2 else (1, 0):
                generation = _call(ways[way])
                if number >= 0:
                    found[way].append(generation)
            if on_round and number >= 0:
                on_round(number + 1)
    finally:
        opened.session.close()
    ms = [statistics.median(generation.timings_ms["total"] for generation in way) for way in found]
    first = found[0][0]
    return {
        "ms": {"with": ms[0], "without": ms[1]},
        "ratio": ms[0] / ms[1],
        "n_forced": first.n_forced,
        "n_sampled": first.n_sampled,
        "n_steps": {"with": first.n_steps, "without": found[1][0].n_steps},
        "texts": [way[0].text for way in found],
    }


def _call(decoder: Decoder) -> Generation:
    prompt = decoder.chat_prompt([_system(decoder, 100), Message("user", "turn on the kitchen light")])
    return decoder.generate(prompt, grammar=Grammar.compile(CALL, decoder.tokenizer), max_tokens=MAX_TOKENS)


def _prefix(
    checkpoint: Path, cache_dir: Path, target: str, options: SessionOptions, n_prefix: int
) -> dict[str, Any]:  # fmt: skip
    """Ask once with a static prompt that nobody has seen, close, open again and ask the same."""
    salt, found = secrets.token_hex(4), []
    for _ in range(2):
        with closing(open_decoder([(target, None)], checkpoint, options, cache_dir)) as decoder:
            prompt = _long_prompt(decoder, n_prefix, salt)
            found.append(decoder.generate(prompt, max_tokens=8))
    without, saved = found
    return {
        "ms": {"with": saved.timings_ms["total"], "without": without.timings_ms["total"]},
        "ratio": saved.timings_ms["total"] / without.timings_ms["total"],
        "n_prompt": saved.n_prompt,
        "n_cached": {"with": saved.n_cached, "without": without.n_cached},
        "are_answers_equal": saved.token_ids == without.token_ids,
    }


def _long_prompt(decoder: Decoder, n_prefix: int, salt: str) -> Prompt:
    return decoder.chat_prompt([_system(decoder, n_prefix, salt), Message("user", "turn on the kitchen light")])


def _system(decoder: Decoder, n_tokens: int, salt: str = "") -> Message:
    """Make a static message of about that many tokens."""
    words = [salt, *("You control the devices of one home and answer with one call. " * n_tokens).split()]
    ids: Sequence[int] = decoder.tokenizer.encode(" ".join(words))[:n_tokens]
    return Message("system", decoder.tokenizer.decode(ids))
