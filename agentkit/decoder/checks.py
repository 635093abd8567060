"""Checks that every target makes before it runs, so that misuse has one message."""

from __future__ import annotations

from agentkit.decoder.backend import DecoderSpec, Session, SessionOptions, TokenIds
from agentkit.errors import CheckpointError, StepFailed


def check_options(spec: DecoderSpec, options: SessionOptions) -> None:
    """Raise CheckpointError if the model cannot be opened with these options."""
    if not 1 <= options.max_seq_len <= spec.max_seq_len:
        raise CheckpointError(
            f"max_seq_len {options.max_seq_len}: the model has {spec.max_seq_len} positions; ask for 1 to that many"
        )
    if list(options.buckets) != sorted(set(options.buckets)) or options.buckets[:1] != (1,):
        raise CheckpointError(f"buckets {options.buckets}: wanted ascending lengths that begin with 1")
    if options.n_slots < 1:
        raise CheckpointError(f"n_slots {options.n_slots}: wanted 1 or more")


def check_step(session: Session, token_ids: TokenIds, n_valid: int, *, slot: int) -> None:
    """Raise StepFailed for a malformed step, PromptTooLong if its rows do not fit behind the committed ones."""
    n_rows = len(token_ids)
    if n_rows not in session.options.buckets:
        raise StepFailed(f"step of {n_rows} rows: wanted one of {session.options.buckets}; pad to a bucket")
    if not 1 <= n_valid <= n_rows:
        raise StepFailed(f"step with {n_valid} valid rows of {n_rows}: wanted 1 to {n_rows}")
    if token_ids.min() < 0 or token_ids.max() >= session.spec.vocab_size:
        raise StepFailed(f"token ids {token_ids.min()} to {token_ids.max()}: wanted 0 to {session.spec.vocab_size - 1}")
    session.kv.check_room(slot, n_rows)
