"""Imports an app's own Python code by path. App code is trusted: it runs as part of the agent."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
import types
from pathlib import Path

from agentkit.errors import AppError


def import_handlers(folder: Path) -> types.ModuleType:
    """Import handlers.py of an app folder under a name of its own; its relative imports find the folder's files.

    Raises AppError with the file and line at which the code stopped.
    """
    source = folder / "handlers.py"
    if not source.is_file():
        raise AppError(f"{source}: no such file; an app keeps its tools there")
    digest = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]
    package = f"agentkit_app_{digest}"  # by path, so that two apps never share a module
    _forget(package)
    parent = types.ModuleType(package)
    parent.__path__ = [str(folder)]
    sys.modules[package] = parent
    name = f"{package}.handlers"
    spec = importlib.util.spec_from_file_location(name, source)
    assert spec is not None, source
    assert spec.loader is not None, source
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as err:  # edge: whatever the app's code raises becomes one clear line
        _forget(package)
        raise AppError(f"{_where(err, folder, source)}: {type(err).__name__}: {_one_line(err)}; mend it there") from err
    return module


def _forget(package: str) -> None:
    for name in [n for n in sys.modules if n == package or n.startswith(f"{package}.")]:
        del sys.modules[name]


def _where(err: BaseException, folder: Path, source: Path) -> str:
    """Name the innermost place inside the app: a broken import below it is still the app's line to change."""
    if isinstance(err, SyntaxError) and err.filename is not None:
        return f"{err.filename}:{err.lineno or 1}"
    root = str(folder)
    frames = [f for f in traceback.extract_tb(err.__traceback__) if f.filename.startswith(root)]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else str(source)


def _one_line(err: BaseException) -> str:
    text = err.msg if isinstance(err, SyntaxError) else str(err)
    return " ".join(text.split())[:300]
