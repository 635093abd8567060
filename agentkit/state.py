"""Where an app keeps what must survive a restart, and who may write there."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from agentkit.assemble import DEVICES
from agentkit.errors import AgentKitError, StateInUse


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
        yield folder
    finally:
        os.close(file)


@contextmanager
def own_or_copy(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Like `own`, but while another process has the folder give a copy that is thrown away; True = it is one."""
    with contextlib.ExitStack() as stack:
        try:
            mine = stack.enter_context(own(folder))
        except StateInUse:
            mine = None
        if mine is not None:
            yield mine, False
            return
        copy = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agentkit-")))
        if (folder / DEVICES).is_file():
            shutil.copyfile(folder / DEVICES, copy / DEVICES)
        yield copy, True
