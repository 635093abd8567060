"""Calibrates what has to be rounded on the app's own prompts (rules A13, C4): once per model, kept beside it.

The prompts are those that the agent would send for the app's plain commands in its home, so their distribution is the
one that the model will meet. The f32 reference reads them and notes the mean square of what each matrix reads.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from agentkit.assemble import Assembly
from agentkit.compiler.checkpoint import load_checkpoint
from agentkit.compiler.importance import Importance, load_importance, save_importance
from agentkit.compiler.quantise import check_precision, rounds
from agentkit.config import App
from agentkit.decoder.backend import Session, SessionOptions
from agentkit.decoder.identity import identity
from agentkit.decoder.memory_pool import Pools
from agentkit.decoder.prefill import plan_chunks
from agentkit.decoder.prompt_encoder import PromptEncoder
from agentkit.decoder.tokenizer import Tokenizer, load_tokenizer
from agentkit.errors import CheckpointError, DecoderError
from agentkit.plugins import find_backend
from agentkit.understanding.normalise import detect_language, normalise

if TYPE_CHECKING:
    from agentkit.decoder.chat import Prompt
    from agentkit.decoder.decoder import Decoder, Generation
    from agentkit.decoder.grammar import Grammar

N_PROMPTS: Final = 100
MAX_TOKENS: Final = SessionOptions.max_seq_len
"""Of one prompt; the rest of a longer one is left out."""
VERSION: Final = 1
"""Raised whenever the same prompts give another calibration."""
_BUCKETS: Final = (1, *range(8, 136, 8))
_REFERENCE: Final = "reference"
Say = Callable[[str], None]
Ids = tuple[int, ...]


class _Observed(Session, Protocol):
    observe: Callable[[str, NDArray[np.float32]], None] | None


def ensure_calibrated(app: App, checkpoint: Path, precision: str | None, *, cache_dir: Path, say: Say) -> str:
    """Return the path of the calibration, made now if need be; "" where nothing of the checkpoint is rounded.

    Raises CheckpointError.
    """
    loaded = load_checkpoint(checkpoint)
    if not rounds(loaded, check_precision(loaded, precision)):
        return ""
    tokenizer = load_tokenizer(checkpoint)
    prompts = app_prompts(app, tokenizer)
    if not prompts:
        say(f"uncalibrated  {app.name} has no plain command to ask {checkpoint.name} about; it is rounded to nearest")
        return ""
    key = json.dumps([VERSION, *identity(checkpoint), prompts])
    path = cache_dir / "calibrations" / f"{checkpoint.stem}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.npz"
    with suppress(CheckpointError):  # not there, or damaged: it is made again
        load_importance(path)
        return str(path)
    started_s = time.perf_counter()
    say(f"calibrating  {checkpoint.name} on {len(prompts)} prompts of {app.name}")
    save_importance(path, observe(checkpoint, prompts))
    say(f"calibrated   after {time.perf_counter() - started_s:.1f} s")
    return str(path)


def app_prompts(app: App, tokenizer: Tokenizer, n_prompts: int = N_PROMPTS) -> list[Ids]:
    """Return the ids of what the agent would ask the model about the app's plain commands, evenly chosen."""
    asked = _Asked(tokenizer)
    # a stand-in for the decoder: it notes the prompt and refuses, so no model is open yet
    assembly = Assembly(app, decoder=lambda: cast("Decoder", asked), is_model_alone=True)
    with closing(assembly.open(app.home)) as live:
        view, words = live.agent.home.view(live.registry.home.speaker_area), assembly.words
        sentences = list(app.plain_commands())
        for at in range(min(n_prompts, len(sentences))):
            sentence = sentences[at * len(sentences) // min(n_prompts, len(sentences))]
            language = detect_language(sentence)
            language = language if language in words else app.languages[0]
            live.understander.understand(normalise(sentence, language, words[language]), view)
    encoder = PromptEncoder(tokenizer)
    return sorted({tuple(encoder.encode(prompt)[0]) for prompt in asked.prompts})[:n_prompts]


def observe(checkpoint: Path, prompts: Sequence[Ids]) -> Importance:
    """Run the prompts through the f32 reference; what they begin with in common is run, and counts, once.

    Raises CheckpointError.
    """
    n_most = min(MAX_TOKENS, load_checkpoint(checkpoint).spec.max_seq_len)
    fitting = sorted({prompt[:n_most] for prompt in prompts if prompt})
    sums: dict[str, NDArray[np.float64]] = {}
    counts: dict[str, int] = {}

    def note(name: str, rows: NDArray[np.float32]) -> None:
        sums[name] = sums.get(name, 0.0) + np.einsum("rc,rc->c", rows, rows, dtype=np.float64)
        counts[name] = counts.get(name, 0) + len(rows)

    with closing(_open_reference(checkpoint, max(map(len, fitting)))) as session:
        session.observe = note
        before: Ids = ()
        for prompt in fitting:
            _run(session, prompt, _n_common(before, prompt))
            before = prompt
    return Importance({name: (total / counts[name]).astype(np.float32) for name, total in sums.items()})


def _open_reference(checkpoint: Path, n_tokens: int) -> _Observed:
    backend = find_backend(_REFERENCE)
    options = SessionOptions(max_seq_len=n_tokens, n_slots=1, buckets=_BUCKETS)
    pools = Pools.from_sizes(backend.plan(checkpoint, options))
    return cast(_Observed, backend.open(checkpoint, options, pools=pools, cache_dir=checkpoint.parent))


def _run(session: Session, prompt: Ids, n_common: int) -> None:
    session.kv.truncate(0, n_common)
    for chunk in plan_chunks(len(prompt), n_common, _BUCKETS, session.options.max_seq_len):
        token_ids = np.zeros(chunk.bucket, np.int64)
        token_ids[: chunk.n_valid] = prompt[chunk.start : chunk.start + chunk.n_valid]
        session.step(token_ids, chunk.n_valid, slot=0)
        session.kv.commit(0, chunk.n_valid)


def _n_common(before: Ids, prompt: Ids) -> int:
    pairs = enumerate(zip(before, prompt, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(before), len(prompt)))


class _Asked:
    """What the understanding needs of a decoder, without a model."""

    def __init__(self, tokenizer: Tokenizer):
        self.tokenizer = tokenizer
        self.prompts: list[Prompt] = []

    def generate(self, prompt: Prompt, *, grammar: Grammar | None = None, max_tokens: int) -> Generation:
        """Note the prompt. Raises DecoderError, as a decoder does that cannot answer."""
        self.prompts.append(prompt)
        raise DecoderError("calibrating")
