"""Compiles the library with the compiler of the system, or with the one that the package `ziglang` brings."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from agentkit.errors import BackendUnavailable

SOURCES = Path(__file__).parent / "src"
PREBUILT = Path(__file__).parent / "prebuilt"
"""Of each machine a library, as `make wheels` puts it into a wheel; a checkout has none."""
REMEDY = "install a C++ compiler (on Debian: apt install g++) or: pip install ziglang"
FLAGS: tuple[str, ...] = ("-std=c++17", "-O3", "-fPIC", "-fno-math-errno", "-ffp-contract=fast")
FLAGS += ("-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics")  # nothing of the C++ library is linked
_AVX2 = ("-mavx2", "-mfma", "-mf16c")
_AVX512 = ("-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mavx512vnni")
X86_64 = {
    "engine.cpp": (),
    "processor.cpp": (),
    "kernels_portable.cpp": (),
    "kernels_avx2.cpp": _AVX2,
    "kernels_avx_vnni.cpp": (*_AVX2, "-mavxvnni"),
    "kernels_avx512.cpp": (*_AVX2, *_AVX512),
}
AARCH64 = {
    "engine.cpp": (),
    "processor.cpp": (),
    "kernels_portable.cpp": (),
    "kernels_neon.cpp": ("-march=armv8.2-a+dotprod",),
    "kernels_neon_i8mm.cpp": ("-march=armv8.2-a+dotprod+i8mm",),
}
OTHER = {"engine.cpp": (), "processor.cpp": (), "kernels_portable.cpp": ()}
FILES = {"x86_64": X86_64, "AMD64": X86_64, "aarch64": AARCH64, "arm64": AARCH64}
TIMEOUT_S = 600
"""Of one file; it takes seconds on an idle machine."""


@dataclass(frozen=True)
class Compiler:
    """What compiles C++ here."""

    command: tuple[str, ...]
    title: str
    has_own_names: bool = False
    """ziglang calls arm64's features by names of its own."""

    def flags(self, flags: tuple[str, ...]) -> tuple[str, ...]:
        """Return flags as this compiler wants them."""
        if not self.has_own_names:
            return flags
        return tuple(flag.replace("-march=armv8.2-a", "-mcpu=generic") for flag in flags)

    @property
    def link_flags(self) -> tuple[str, ...]:
        """Return what keeps it from building a C++ library of its own, which takes a minute."""
        return ("-nostdlib++",) if self.has_own_names else ()


def find_compiler() -> Compiler | None:
    """Look for a C++ compiler; $CXX first, then the system's, then ziglang's."""
    for name in (os.environ.get("CXX", ""), "c++", "g++", "clang++"):
        if name and (path := shutil.which(name)):
            return Compiler((path,), path)
    if importlib.util.find_spec("ziglang") is not None:
        return Compiler((sys.executable, "-m", "ziglang", "c++"), "ziglang", has_own_names=True)
    return None


def find_prebuilt() -> Path | None:
    """Return the library that came with the wheel, if it was built from these very sources and loads here."""
    library = PREBUILT / platform.machine() / "libaf.so"
    if "CXX" in os.environ or platform.libc_ver()[0] != "glibc":
        return None
    try:
        is_ours = library.with_suffix(".key").read_text(encoding="ascii") == library_key(platform.machine())
    except OSError:
        return None
    return library if is_ours and _is_whole(library) else None


def ensure_library(cache_dir: Path, *, extra_flags: tuple[str, ...] = ()) -> Path:
    """Return the wheel's library or the compiled one, compiling now if that is missing or damaged.

    Raises BackendUnavailable.
    """
    if not extra_flags and (prebuilt := find_prebuilt()) is not None:
        return prebuilt
    compiler = find_compiler()
    folder = cache_dir / "af_native" / library_key(platform.machine(), extra_flags)
    library = folder / "libaf.so"
    if _is_whole(library):
        return library
    if compiler is None:
        raise BackendUnavailable(f"af_native: no C++ compiler; {REMEDY}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".compiling-", dir=folder, ignore_cleanup_errors=True) as name:
            built = compile_library(compiler, Path(name), extra_flags=extra_flags)
            digest = note_digest(built)
            digest.replace(library.with_suffix(".sha256"))  # before the library: a kill between leaves a mismatch
            built.replace(library)
    except OSError as err:
        raise BackendUnavailable(f"af_native: {folder}: cannot write the library ({err}); free space") from err
    return library


def compile_library(compiler: Compiler, folder: Path, *, machine: str = "", extra_flags: tuple[str, ...] = ()) -> Path:
    """Compile every file with its flags and link them. Raises BackendUnavailable with the first error."""
    files = FILES.get(machine or platform.machine(), OTHER)

    def compile_one(file: str) -> Path:
        made = folder / f"{file}.o"
        flags = (*FLAGS, *compiler.flags(files[file]), *extra_flags)
        _run([*compiler.command, *flags, "-c", str(SOURCES / file), "-o", str(made)])
        return made

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        objects = list(pool.map(compile_one, files))
    library = folder / "libaf.so"
    flags = (*compiler.link_flags, *extra_flags, "-shared", "-pthread")
    _run([*compiler.command, *flags, "-o", str(library), *map(str, objects)])
    return library


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as err:
        raise BackendUnavailable(f"af_native: {command[0]} took more than {TIMEOUT_S} s; {REMEDY}") from err
    except OSError as err:
        raise BackendUnavailable(f"af_native: {command[0]} does not run ({err}); {REMEDY}") from err
    if done.returncode != 0:
        lines = done.stderr.splitlines() or ["it says nothing"]
        first = next((line for line in lines if "error" in line), lines[-1])
        raise BackendUnavailable(f"af_native: {command[0]} failed: {first.strip()}; {REMEDY}")


def library_key(machine: str, extra_flags: tuple[str, ...] = ()) -> str:
    """Return what changes whenever another library comes out."""
    digest = hashlib.sha256(repr((machine, FLAGS, extra_flags)).encode())
    for path in sorted(SOURCES.iterdir()):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def note_digest(library: Path) -> Path:
    """Write the library's digest beside it, and return that file."""
    digest = library.with_suffix(".sha256")
    digest.write_text(_sha256(library), encoding="ascii")
    return digest


def _is_whole(library: Path) -> bool:
    """True if the library is there as it was written; loading a cut-off one would crash."""
    try:
        return library.with_suffix(".sha256").read_text(encoding="ascii") == _sha256(library)
    except OSError:
        return False


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
