"""Where an app keeps what must survive a restart, and who may write there."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from agentkit.errors import AgentKitError, StateInUse

log = logging.getLogger(__name__)

SERVER = "server.json"
"""File beside the lock in which a server says where it listens."""


@dataclass(frozen=True)
class Announced:
    """The server that owns a state folder."""

    url: str
    pid: int
    app: Path
    """Folder of the app that it serves."""


def state_dir(app_name: str, given: Path | None = None, env: Mapping[str, str] = os.environ) -> Path:
    """Return the app's folder: the given one, else below $AGENTKIT_STATE or the user's state folder."""
    if given is not None:
        return given
    name = re.sub(r"[^\w.-]+", "_", app_name).strip("._") or "app"
    if named := env.get("AGENTKIT_STATE"):
        return Path(named).expanduser() / name
    base = env.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser() / "agentkit" / name


@contextmanager
def own(folder: Path) -> Iterator[Path]:
    """Hold the right to write into the folder; the kernel frees it if the process dies.

    Raises StateInUse if another process has it, AgentKitError if the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as err:
        raise AgentKitError(
            f"{folder}: cannot be written ({err.strerror}); choose another folder with --state DIR"
        ) from err
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        raise StateInUse(
            f"{folder}: another agentkit uses it; stop that one, or keep the state elsewhere with --state DIR"
        ) from None
    try:
        _forget(folder / SERVER)  # left by an owner that was killed
        yield folder
    finally:
        os.close(file)


@contextmanager
def announced(folder: Path, *, url: str, app: Path) -> Iterator[None]:
    """Tell beside the lock where the owner of the folder serves, so that other commands can ask it."""
    file = folder / SERVER
    row = {"url": url, "pid": os.getpid(), "app": str(app)}
    replacement = folder / f"{SERVER}.new"
    try:
        replacement.write_text(json.dumps(row) + "\n", "utf-8")
        replacement.replace(file)  # in one step: a reader sees all of it or nothing
    except OSError as err:  # a full disk: the home is served all the same
        log.warning("%s cannot be written (%s); agentkit ask and chat will not find this server", file, err.strerror)
    try:
        yield
    finally:
        _forget(file)


def _forget(file: Path) -> None:
    """Remove what a server announced; what cannot be removed is seen through by whoever asks that server."""
    with suppress(OSError):
        file.unlink(missing_ok=True)


def find_server(folder: Path) -> Announced | None:
    """Return what the owner of the folder announced; None if it serves nothing."""
    try:
        row = json.loads((folder / SERVER).read_text("utf-8"))
        return Announced(str(row["url"]), int(row["pid"]), Path(row["app"]))
    except (OSError, ValueError, ArithmeticError, LookupError, TypeError, RecursionError):
        return None  # half a file, or something else's
