"""Compiled models of every target: a few of the newest stay, whatever is open stays whole, the rest goes."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agentkit.compiler.leftovers import N_KEPT, UNUSED_S, outdated
from agentkit.decoder.backend import Session
from agentkit.decoder.memory_pool import Pools
from agentkit.plugins import find_backend
from tests.runtimes.opened import OPTIONS
from tests.support.tiny import write_gguf

FORMS = {"cpu_onnx": "tiny-*/bundle.json", "af_native": "tiny-*.af"}


def open_on(target: str, checkpoint: Path, cache: Path, precision: str | None = None) -> Session:
    backend = find_backend(target)
    probe = backend.probe()
    if not probe.is_available:
        pytest.skip(probe.detail)
    options = replace(OPTIONS, precision=precision)
    pools = Pools.from_sizes(backend.plan(checkpoint, options))
    return backend.open(checkpoint, options, pools=pools, cache_dir=cache)


@pytest.mark.parametrize("target", FORMS)
def test_new_versions_of_a_model_leave_only_the_newest_behind(
    tmp_path: Path, cache_with_library: Path, target: str
) -> None:
    cache, checkpoint = cache_with_library, write_gguf(tmp_path / "tiny.gguf", kind="Q8_0", embed_kind="Q8_0")
    content = checkpoint.read_bytes()
    open_on(target, checkpoint, cache, "f32").close()  # another precision of it is not theirs to delete
    other = set(cache.glob(FORMS[target]))
    os.utime(*other, (os.stat(*other).st_atime, os.stat(*other).st_mtime - 100))
    for version in range(N_KEPT + 3):
        checkpoint.write_bytes(content)
        os.utime(checkpoint, (version, version))
        open_on(target, checkpoint, cache).close()
    open_on(target, checkpoint, cache).close()

    forms = set(cache.glob(FORMS[target]))
    assert other < forms
    assert len(forms - other) == N_KEPT


@pytest.mark.parametrize("target", FORMS)
def test_a_session_goes_on_when_its_files_are_replaced_by_newer_ones(
    tmp_path: Path, cache_with_library: Path, target: str
) -> None:
    cache, checkpoint = cache_with_library, write_gguf(tmp_path / "tiny.gguf", kind="Q8_0", embed_kind="Q8_0")
    content, token_ids = checkpoint.read_bytes(), np.array([1, 2, 3, 4])
    session = open_on(target, checkpoint, cache)
    first = next(cache.glob(FORMS[target]))
    expected = session.step(token_ids, 4, slot=0).copy()
    for version in range(N_KEPT + 1):
        checkpoint.write_bytes(content)
        os.utime(checkpoint, (version, version))
        open_on(target, checkpoint, cache).close()
    open_on(target, checkpoint, cache).close()

    assert not first.exists()
    assert np.array_equal(session.step(token_ids, 4, slot=0), expected)
    session.close()


def test_what_was_not_opened_for_long_is_outdated_however_few_there_are(tmp_path: Path) -> None:
    old, young, gone = (tmp_path / f"model-int4-{name}" for name in ("a", "b", "c"))
    old.touch()
    young.touch()
    os.utime(old, (old.stat().st_mtime - UNUSED_S - 60,) * 2)

    forms = {form: form for form in (old, young, gone)}
    assert outdated(forms, in_use=young) == [old]
    assert outdated(forms, in_use=old) == []


@pytest.mark.parametrize("target", FORMS)
def test_a_clock_that_was_set_back_does_not_delete_what_was_just_opened(
    tmp_path: Path, cache_with_library: Path, target: str
) -> None:
    cache, checkpoint = cache_with_library, write_gguf(tmp_path / "tiny.gguf", kind="Q8_0", embed_kind="Q8_0")
    content, a_year_on = checkpoint.read_bytes(), time.time() + 365 * 24 * 3600
    for version in range(N_KEPT):
        checkpoint.write_bytes(content)
        os.utime(checkpoint, (version, version))
        open_on(target, checkpoint, cache).close()
    for opened in cache.glob(FORMS[target]):
        os.utime(opened, (a_year_on, a_year_on))
    os.utime(checkpoint, (9, 9))
    open_on(target, checkpoint, cache).close()
    (made,) = [path for path in cache.glob(FORMS[target]) if path.stat().st_mtime < a_year_on - 60]

    open_on(target, checkpoint, cache).close()

    assert made.exists()
