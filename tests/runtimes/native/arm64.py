"""Builds agree.cpp for arm64 with ziglang and runs it under qemu: `make native-arm`.

It runs twice: with the kernels linked in, and shortly against the library that an arm64 wheel brings. The second wants
a C library for arm64, in $QEMU_LD_PREFIX or where Debian's libc6-arm64-cross puts it.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from deploy.wheels import build_library
from runtimes.af_native.build import AARCH64, FLAGS, SOURCES, Compiler

TARGETS = {"static": "aarch64-linux-musl", "wheel": "aarch64-linux-gnu"}
EMULATORS = ("qemu-aarch64", "qemu-aarch64-static")
IS_NATIVE = platform.machine() == "aarch64"
AGREE = Path(__file__).with_name("agree.cpp")


def main() -> int:
    """Return the exit code of the check."""
    emulator = next((path for name in EMULATORS if (path := shutil.which(name))), None)
    if emulator is None and not IS_NATIVE:
        print("no emulator for arm64; on Debian: apt install qemu-user", file=sys.stderr)
        return 2
    command = [] if IS_NATIVE else [str(emulator), "-cpu", "max"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        failed = subprocess.run([*command, _linked_in(folder)], check=False).returncode
        return failed or _against_wheel(folder, command)


def _linked_in(folder: Path) -> str:
    zig = _compiler("static")
    files = {SOURCES / file: flags for file, flags in AARCH64.items()} | {AGREE: ("-I", str(SOURCES))}
    objects = [_compile(zig, file, flags, folder) for file, flags in files.items()]
    # The C++ library is left out of linking only: leaving it out of compiling takes its headers away
    return _link(zig, folder / "agree", "-static", *objects)


def _against_wheel(folder: Path, command: list[str]) -> int:
    root = Path(os.environ.get("QEMU_LD_PREFIX", "/usr/aarch64-linux-gnu"))
    if not IS_NATIVE and not (root / "lib/ld-linux-aarch64.so.1").exists():
        print(f"the wheel's library was not loaded: {root} has no C library; on Debian: apt install libc6-arm64-cross")
        return 0
    library = folder / "libaf.so"
    library.write_bytes(build_library("aarch64", folder)["libaf.so"])
    zig = _compiler("wheel")
    program = _link(zig, folder / "agree_wheel", _compile(zig, AGREE, ("-I", str(SOURCES)), folder), str(library))
    command = [] if IS_NATIVE else [*command, "-L", str(root), "-E", f"LD_LIBRARY_PATH={folder}"]
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder)} if IS_NATIVE else None
    return subprocess.run([*command, program, "short"], check=False, env=environment).returncode


def _compiler(kind: str) -> Compiler:
    return Compiler((sys.executable, "-m", "ziglang", "c++", "-target", TARGETS[kind]), "ziglang", has_own_names=True)


def _compile(zig: Compiler, file: Path, flags: tuple[str, ...], folder: Path) -> str:
    made = str(folder / f"{file.name}.o")
    subprocess.run([*zig.command, *FLAGS, *zig.flags(flags), "-c", str(file), "-o", made], check=True)
    return made


def _link(zig: Compiler, program: Path, *inputs: str) -> str:
    subprocess.run([*zig.command, "-nostdlib++", *inputs, "-o", str(program), "-pthread"], check=True)
    return str(program)


if __name__ == "__main__":
    sys.exit(main())
