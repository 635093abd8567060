"""agentkit: an embeddable edge-agent framework with an on-device decoder runtime."""

from __future__ import annotations

import os

__version__ = "0.1.0"
__all__ = ["__version__"]

# Nothing leaves the machine: ONNX Runtime would keep a device id in the home folder and call out. It looks once, when
# it is loaded, whoever loads it first; so this stands before everything that could.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
