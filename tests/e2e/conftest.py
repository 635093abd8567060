from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.little_device import LittleDevice, Mood
from tests.e2e.process import APP, Server, start


@pytest.fixture
def servers() -> Iterator[Callable[..., Server]]:
    """Start servers that end with the test."""
    started: list[Server] = []

    def run(state: Path, *options: str, app: str = APP) -> Server:
        started.append(start(state, *options, app=app))
        return started[-1]

    yield run
    for server in started:
        server.close()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server without a model for the tests of a file."""
    server = start(tmp_path_factory.mktemp("state"), "--no-model")
    with contextlib.closing(server):
        server.wait_ready()
        yield server


@pytest.fixture
def lamp() -> Iterator[Callable[..., LittleDevice]]:
    """Make lamps on the network."""
    made: list[LittleDevice] = []

    def make(mood: Mood = "obeys") -> LittleDevice:
        made.append(LittleDevice(mood))
        return made[-1]

    yield make
    for device in made:
        device.close()
