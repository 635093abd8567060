"""Brings the manifest's files onto this machine, whole and verified, and finds them again without the network."""

from agentkit.fetch.options import FetchOptions, OnProgress
from agentkit.fetch.pull import pull
from agentkit.fetch.store import agentkit_home, artifact_path, is_pulled, verified_path, verify

__all__ = [
    "FetchOptions",
    "OnProgress",
    "agentkit_home",
    "artifact_path",
    "is_pulled",
    "pull",
    "verified_path",
    "verify",
]
