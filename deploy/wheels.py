"""Builds wheels that bring the native library along, so that no machine needs a compiler: `make wheels`.

ziglang compiles for every machine and for an old C library; the rest of a wheel is the same for all.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from runtimes.af_native.build import Compiler, compile_library, library_key, note_digest

MACHINES = ("x86_64", "aarch64")
GLIBC = "2.28"
"""Debian 10 and everything after it."""
PLACE = "runtimes/af_native/prebuilt"


def main() -> int:
    """Build one wheel per machine into the folder named on the command line."""
    into = Path(sys.argv[1] if len(sys.argv) > 1 else "dist")
    with tempfile.TemporaryDirectory() as name:
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "--wheel-dir", name, "."], check=True)
        (pure,) = Path(name).glob("agentkit-*.whl")
        for machine in MACHINES:
            print(with_library(pure, machine, build_library(machine, Path(name)), into))
    return 0


def build_library(machine: str, folder: Path) -> Mapping[str, bytes]:
    """Compile for a machine; returns the files that a wheel gets."""
    target = f"{machine}-linux-gnu.{GLIBC}"
    compiler = Compiler((sys.executable, "-m", "ziglang", "c++", "-target", target), "ziglang", has_own_names=True)
    own = folder / machine
    own.mkdir()
    library = compile_library(compiler, own, machine=machine)
    note_digest(library)
    library.with_suffix(".key").write_text(library_key(machine), encoding="ascii")
    return {f"libaf{ending}": (own / f"libaf{ending}").read_bytes() for ending in (".so", ".sha256", ".key")}


def with_library(pure: Path, machine: str, files: Mapping[str, bytes], into: Path) -> Path:
    """Write the wheel again with the files in it, and the name of the machine that they are for."""
    name, version, *_ = pure.name.split("-")
    tag = f"py3-none-manylinux_{GLIBC.replace('.', '_')}_{machine}"
    wheel, info = into / f"{name}-{version}-{tag}.whl", f"{name}-{version}.dist-info"
    into.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(pure) as source:
        content = {item: source.read(item) for item in source.namelist() if not item.endswith("/")}
    content |= {f"{PLACE}/{machine}/{file}": data for file, data in files.items()}
    head = content[f"{info}/WHEEL"].decode().replace("Tag: py3-none-any", f"Tag: {tag}")
    content[f"{info}/WHEEL"] = head.replace("Root-Is-Purelib: true", "Root-Is-Purelib: false").encode()
    del content[f"{info}/RECORD"]
    lines = [f"{path},sha256={_digest(data)},{len(data)}" for path, data in content.items()]
    content[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as target:
        for path, data in content.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            target.writestr(entry, data)
    return wheel


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    sys.exit(main())
