"""The real server as a process of its own, driven over HTTP; its state lives in a folder of the test."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parents[2]
APP = "apps/smart_home"
URL = re.compile(r"http://127\.0\.0\.1:\d+")
STOP_WITHIN_S = 3.0


@dataclass
class Server:
    """A running `agentkit run` and what it printed."""

    process: subprocess.Popen[str]
    state: str = ""
    """Folder of its device states."""
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def output(self) -> str:
        return "\n".join(self.lines)

    @property
    def url(self) -> str:
        """The printed address, as soon as it is printed."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if found := URL.search(self.output):
                return found[0]
            assert self.process.poll() is None, self.output
            time.sleep(0.01)
        raise AssertionError(f"no address in 30 s: {self.output}")

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=30, trust_env=False, **options)

    def wait_ready(self, timeout_s: float = 120) -> None:
        deadline = time.monotonic() + timeout_s
        with self.client() as client:
            while client.get("/readyz").status_code != 200:
                assert self.process.poll() is None, self.output
                assert time.monotonic() < deadline, self.output
                time.sleep(0.02)

    def say(self, text: str, **fields: Any) -> dict[str, Any]:
        """One command; the body of its answer."""
        with self.client() as client:
            response = client.post("/v1/command", json={"text": text, **fields})
        assert response.status_code == 200, response.text
        body: dict[str, Any] = response.json()
        return body

    def device(self, device_id: str) -> dict[str, Any]:
        with self.client() as client:
            body: dict[str, Any] = client.get(f"/v1/devices/{device_id}").json()
        return body

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, float]:
        """Send a signal; exit code and seconds until the process was gone."""
        started_at = time.monotonic()
        self.process.send_signal(number)
        code = self.process.wait(20)
        took_s = time.monotonic() - started_at
        self._reader.join(5)
        return code, took_s

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._reader.join(5)
        assert self.process.stdout
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))


def start(state: Path, *options: str, app: str = APP) -> Server:
    """Start an app on a free port."""
    command = [sys.executable, "-m", "agentkit.cli.main", "run", app, "--port", "0", "--state", str(state), *options]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", env=os.environ
    )
    return Server(process, str(state))
