from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from deploy.wheels import PLACE, with_library
from runtimes.af_native import BACKEND, build
from runtimes.af_native.build import ensure_library, find_compiler, find_prebuilt, library_key, note_digest
from runtimes.af_native.library import Library

MACHINE = platform.machine()


@pytest.fixture
def prebuilt(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library where a wheel has it, on a machine without a compiler."""
    if find_compiler() is None or platform.libc_ver()[0] != "glibc":
        pytest.skip("no C++ compiler, or another C library")
    library = tmp_path / "prebuilt" / MACHINE / "libaf.so"
    library.parent.mkdir(parents=True)
    shutil.copy(ensure_library(folder), library)
    note_digest(library)
    library.with_suffix(".key").write_text(library_key(MACHINE), encoding="ascii")
    monkeypatch.setattr(build, "PREBUILT", tmp_path / "prebuilt")
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    return library


def test_a_wheels_library_needs_no_compiler(prebuilt: Path, tmp_path: Path) -> None:
    assert ensure_library(tmp_path / "cache") == prebuilt
    assert Library(prebuilt).instruction_sets()
    assert "built by this package" in BACKEND.probe().detail
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("ending", [".so", ".key", ".sha256"])
def test_a_library_of_other_sources_or_a_damaged_one_is_left_alone(prebuilt: Path, ending: str) -> None:
    damaged = prebuilt.with_suffix(ending)
    whole = damaged.read_bytes()
    damaged.unlink()
    assert find_prebuilt() is None
    damaged.write_bytes(whole[:-1])
    assert find_prebuilt() is None
    damaged.write_bytes(whole)
    assert find_prebuilt() == prebuilt


def test_a_named_compiler_goes_first(prebuilt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "c++")
    assert find_prebuilt() is None


def test_a_wheel_with_a_library_names_its_machine_and_lists_every_file(tmp_path: Path) -> None:
    pure, info = tmp_path / "agentkit-0.1.0-py3-none-any.whl", "agentkit-0.1.0.dist-info"
    with zipfile.ZipFile(pure, "w") as file:
        file.writestr("agentkit/__init__.py", "")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: agentkit\nVersion: 0.1.0\n")
        file.writestr(f"{info}/RECORD", "")

    wheel = with_library(pure, "aarch64", {"libaf.so": b"\x7fELF"}, tmp_path / "dist")

    assert wheel.name == "agentkit-0.1.0-py3-none-manylinux_2_28_aarch64.whl"
    with zipfile.ZipFile(wheel) as file:
        assert file.read(f"{PLACE}/aarch64/libaf.so") == b"\x7fELF"
        assert "Tag: py3-none-manylinux_2_28_aarch64\n" in file.read(f"{info}/WHEEL").decode()
        listed = {line.split(",")[0] for line in file.read(f"{info}/RECORD").decode().splitlines()}
        assert listed == set(file.namelist())
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", str(tmp_path / "site")]
    command += ["--platform", "manylinux_2_28_aarch64", "--only-binary=:all:", str(wheel)]
    subprocess.run(command, check=True, capture_output=True)
    assert (tmp_path / "site" / PLACE / "aarch64" / "libaf.so").read_bytes() == b"\x7fELF"
