from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agentkit.compiler.checkpoint import load_checkpoint
from agentkit.compiler.importance import Importance, load_importance, save_importance
from agentkit.compiler.quantise import Form, choose_form, rounds, run_tensor
from agentkit.errors import CheckpointError
from tests.support.tiny import TINY, write_gguf

QKV = ["layers.0.q", "layers.0.k", "layers.0.v"]


def seen(seed: int = 0) -> Importance:
    rng = np.random.default_rng(seed)
    parts = {"q": TINY.hidden_size, "o": TINY.n_heads * TINY.head_dim, "gate": TINY.hidden_size, "down": TINY.ffn_size}
    names = {f"layers.{n}.{part}": size for n in range(TINY.n_layers) for part, size in parts.items()}
    names["head"] = TINY.hidden_size
    return Importance({name: np.exp(rng.standard_normal(size)).astype(np.float32) for name, size in names.items()})


def test_matrices_with_the_same_input_have_the_same_weights() -> None:
    importance = seen()
    q = importance.of("layers.1.q")
    assert q is not None
    np.testing.assert_array_equal(q, importance.of("layers.1.v"))
    np.testing.assert_array_equal(importance.of("layers.0.gate"), importance.of("layers.0.up"))
    assert importance.of("embed") is None


def test_a_column_that_the_prompts_never_used_still_counts() -> None:
    found = Importance({"head": np.array([0, 0, 4], np.float32)}).of("head")
    assert found is not None
    assert 0 < found[0] < found[2] / 50


def test_a_calibration_survives_the_disk_and_has_a_digest_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.npz"
    save_importance(path, seen())

    assert load_importance(path).digest == seen().digest != seen(1).digest
    assert [file.name for file in path.parent.iterdir()] == ["a.npz"]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive", b"\x93NUMPY"])
def test_a_damaged_calibration_is_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"a\.npz: .*delete it, it is made again") as raised:
        load_importance(path)
    assert "\n" not in str(raised.value)


def test_values_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    save_importance(path, Importance({"head": np.array([1, np.nan], np.float32)}))
    with pytest.raises(CheckpointError, match="damaged"):
        load_importance(path)


@pytest.mark.parametrize(
    ("kind", "embed_kind", "precision", "is_rounded"),
    [
        ("F16", "F16", "f32", False),
        ("F16", "F16", "int8", True),
        ("F32", "F32", "int4", True),
        ("Q4_1", "Q8_0", "int4", False),
        ("Q4_0", "Q8_0", "int4", False),
        ("Q8_0", "Q8_0", "int8", False),
        ("Q4_1", "Q8_0", "int8", True),
        ("Q4_0", "F16", "int4", True),  # the head
    ],
)
def test_only_what_is_not_stored_that_way_is_rounded(
    tmp_path: Path, kind: str, embed_kind: str, precision: str, is_rounded: bool
) -> None:
    checkpoint = load_checkpoint(write_gguf(tmp_path / "tiny.gguf", kind=kind, embed_kind=embed_kind))
    assert rounds(checkpoint, precision) is is_rounded


def test_a_calibrated_checkpoint_takes_a_free_minimum_and_keeps_what_counts(tmp_path: Path) -> None:
    path, calibration = write_gguf(tmp_path / "tiny.gguf", kind="F32"), tmp_path / "a.npz"
    save_importance(calibration, seen())
    plain, calibrated = load_checkpoint(path), load_checkpoint(path, str(calibration))

    assert choose_form(plain, QKV, "int4") is Form.INT4_ZERO
    assert choose_form(calibrated, QKV, "int4") is Form.INT4_MINIMUM
    assert (plain.calibrated_by, calibrated.calibrated_by) == ((), (seen().digest,))
    for name, precision in (
        ("layers.0.down", "int4"),
        ("layers.1.k", "int4"),
        ("layers.0.o", "int8"),
        ("head", "int8"),
    ):
        weight = calibrated.weight_of_columns(name)
        assert weight is not None
        exact = plain.tensor(name)
        lost = [(((run_tensor(c, name, precision) - exact) ** 2) * weight).sum() for c in (plain, calibrated)]
        assert lost[1] < lost[0], name


def test_what_is_stored_in_blocks_is_not_rounded_by_a_calibration(tmp_path: Path) -> None:
    path, calibration = write_gguf(tmp_path / "tiny.gguf", kind="Q4_1", embed_kind="Q8_0"), tmp_path / "a.npz"
    save_importance(calibration, seen())
    calibrated = load_checkpoint(path, str(calibration))

    for name in (*QKV, "layers.1.down", "embed", "head"):
        np.testing.assert_array_equal(run_tensor(calibrated, name, "int4"), calibrated.tensor(name))


def test_a_tied_table_is_rounded_as_the_head_is(tmp_path: Path) -> None:
    path, calibration = write_gguf(tmp_path / "tiny.gguf", kind="F32"), tmp_path / "a.npz"
    save_importance(calibration, seen())
    calibrated = load_checkpoint(path, str(calibration))

    np.testing.assert_array_equal(run_tensor(calibrated, "embed", "int8"), run_tensor(calibrated, "head", "int8"))
