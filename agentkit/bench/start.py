"""Start-up as a person sees it: from the command line to the first answered command, in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx

from agentkit.config import load_app
from agentkit.errors import AgentKitError

MAX_START_S = 5.0
"""From the second start on; the first one of a model compiles it."""
TIMEOUT_S = 300.0
POLL_S = 0.05
_URL = re.compile(r"http://\S+")


def start_bench(
    app: Path,
    *,
    overrides: Sequence[str] = (),
    has_model: bool = True,
    n_starts: int = 2,
    on_start: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Start the server, give it a command, end it, again and again. Raises AgentKitError if it does not come up.

    States of devices are kept nowhere.
    """
    said = next(load_app(app, overrides).plain_commands(), "hello")
    options = [part for text in overrides for part in ("--config", text)] + ([] if has_model else ["--no-model"])
    starts = []
    for number in range(1, n_starts + 1):
        starts.append(_start(app, options, said))
        if on_start:
            on_start(number)
    return {"said": said, "starts": starts, "is_quick": starts[-1]["answered_s"] <= MAX_START_S}


def _start(app: Path, options: Sequence[str], said: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="agentkit-") as state:
        command = [
            sys.executable,
            "-m",
            "agentkit.cli.main",
            "run",
            str(app),
            "--port",
            "0",
            "--state",
            state,
            *options,
        ]
        started_at = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            lines = _Lines(process)
            outcome = _first_answer(process, lines, said)
            answered_at = time.perf_counter()
            process.terminate()
            process.wait(TIMEOUT_S)
        finally:
            process.kill()
            process.wait()
        ended_s = time.perf_counter() - answered_at
    return {"answered_s": answered_at - started_at, "ended_s": ended_s, "outcome": outcome}


def _first_answer(process: subprocess.Popen[str], lines: _Lines, said: str) -> str:
    """Ask until the server is ready and return the outcome of the command."""
    deadline = time.monotonic() + TIMEOUT_S
    with httpx.Client(trust_env=False, timeout=TIMEOUT_S) as client:
        while time.monotonic() < deadline:
            if process.poll() is not None:
                lines.join()
                raise AgentKitError(f"the server ended: {lines.last}")
            if lines.url and (answer := _ask(client, lines.url, said)) is not None:
                return answer
            time.sleep(POLL_S)
    raise AgentKitError(f"no answer within {TIMEOUT_S:g} s; the server said: {lines.last}")


def _ask(client: httpx.Client, url: str, said: str) -> str | None:
    try:
        if client.get(f"{url}/readyz").status_code != httpx.codes.OK:
            return None
        return str(client.post(f"{url}/v1/command", json={"text": said}).json()["outcome"])
    except httpx.TransportError:  # it ends; the caller sees why
        return None


class _Lines:
    """Reads what the server prints, so that its pipe never fills."""

    def __init__(self, process: subprocess.Popen[str]):
        assert process.stdout is not None
        self.last, self.url = "nothing", ""
        self._stream = process.stdout
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait for the last line of a process that has ended."""
        self._thread.join()

    def _read(self) -> None:
        with self._stream:
            for line in self._stream:
                self.last = line.strip()
                if not self.url and (found := _URL.search(line)):
                    self.url = found[0]
