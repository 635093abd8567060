"""Finds targets by name: injected ones first, then the entry-point group `agentkit.runtimes`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from typing import cast

from agentkit.decoder.backend import Backend
from agentkit.errors import BackendUnavailable

GROUP = "agentkit.runtimes"


def backend_names() -> tuple[str, ...]:
    """Names of all installed targets, sorted."""
    return tuple(sorted({point.name for point in metadata.entry_points(group=GROUP)}))


def find_backend(name: str, injected: Mapping[str, Backend] | None = None) -> Backend:
    """Load the target of that name, importing it only now. Raises BackendUnavailable naming what is installed."""
    if injected and name in injected:
        return injected[name]
    for point in metadata.entry_points(group=GROUP):
        if point.name == name:
            try:
                return cast(Backend, point.load())
            except Exception as err:  # edge: a plugin is foreign code, and a broken one must not stop the planning
                said = " ".join(f"{type(err).__name__}: {err}".split())
                raise BackendUnavailable(
                    f"{name}: {point.value} cannot be imported ({said}); install what it needs or plan another target"
                ) from err
    known = ", ".join(backend_names()) or "none"
    raise BackendUnavailable(f"{name}: no such target is installed; installed are {known}")
