"""Builds agree.cpp for arm64 with ziglang and runs it under qemu: `make native-arm`."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from runtimes.af_native.build import AARCH64, FLAGS, SOURCES, Compiler

ZIG = Compiler((sys.executable, "-m", "ziglang", "c++", "-target", "aarch64-linux-musl"), "ziglang", has_own_names=True)
EMULATORS = ("qemu-aarch64", "qemu-aarch64-static")


def main() -> int:
    """Return the exit code of the check."""
    emulator = next((path for name in EMULATORS if (path := shutil.which(name))), None)
    if emulator is None and platform.machine() != "aarch64":
        print("no emulator for arm64; on Debian: apt install qemu-user", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {SOURCES / file: flags for file, flags in AARCH64.items()}
        files[Path(__file__).with_name("agree.cpp")] = ("-I", str(SOURCES))
        objects = [_compile(file, flags, folder) for file, flags in files.items()]
        program = folder / "agree"
        # The C++ library is left out of linking only: leaving it out of compiling takes its headers away
        subprocess.run(
            [*ZIG.command, "-nostdlib++", "-static", *map(str, objects), "-o", str(program), "-pthread"], check=True
        )
        command = [str(program)] if emulator is None else [emulator, "-cpu", "max", str(program)]
        return subprocess.run(command, check=False).returncode


def _compile(file: Path, flags: tuple[str, ...], folder: Path) -> Path:
    made = folder / f"{file.name}.o"
    subprocess.run([*ZIG.command, *FLAGS, *ZIG.flags(flags), "-c", str(file), "-o", str(made)], check=True)
    return made


if __name__ == "__main__":
    sys.exit(main())
