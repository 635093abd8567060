"""The native CPU target: fused kernels in C++, compiled on the machine that runs them."""

from __future__ import annotations

from runtimes.af_native.backend import AfNative

BACKEND = AfNative()

__all__ = ["BACKEND", "AfNative"]
