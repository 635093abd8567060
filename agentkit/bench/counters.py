"""The processor's own counters, where the kernel lets us read them."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Callable
from typing import Any, Final

_SYSCALL: Final = {"x86_64": 298, "aarch64": 241}
_HARDWARE, _REFERENCES, _MISSES = 0, 2, 3
_ATTR_BYTES: Final = 128
_INHERIT, _EXCLUDE_KERNEL, _EXCLUDE_HV = 1 << 1, 1 << 5, 1 << 6


def miss_rate(work: Callable[[], Any]) -> tuple[float | None, str]:
    """Return last-level cache misses per reference while `work` runs in this thread; None and why if not to be had."""
    number = _SYSCALL.get(platform.machine())
    if number is None:
        return None, f"no counters known for {platform.machine()}"
    handles = [_open(number, config) for config in (_REFERENCES, _MISSES)]
    try:
        if min(handles) < 0:
            return None, _why_not(ctypes.get_errno())
        before = [_read(handle) for handle in handles]
        work()
        references, misses = (_read(handle) - was for handle, was in zip(handles, before, strict=True))
        return (misses / references, "") if references else (None, "the counters stand still")
    finally:
        for handle in handles:
            if handle >= 0:
                os.close(handle)


def _why_not(number: int) -> str:
    if number in (errno.EACCES, errno.EPERM):
        return "the kernel keeps its counters to itself; lower /proc/sys/kernel/perf_event_paranoid to 2 or less"
    return f"the kernel or this virtual machine offers no cache counters ({os.strerror(number)})"


def _open(number: int, config: int) -> int:
    flags = _INHERIT | _EXCLUDE_KERNEL | _EXCLUDE_HV
    attr = struct.pack("<IIQQQQQ", _HARDWARE, _ATTR_BYTES, config, 0, 0, 0, flags).ljust(_ATTR_BYTES, b"\0")
    return int(ctypes.CDLL(None, use_errno=True).syscall(number, attr, 0, -1, -1, 0))


def _read(handle: int) -> int:
    return int(struct.unpack("<Q", os.read(handle, 8))[0])
