"""A real server on a real socket around a scripted agent: what is tested here is the edge, not the agent."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import uvicorn

from agentkit.devices.adapter import Area, Device, Home
from agentkit.devices.registry import Registry
from agentkit.host import Host, Opened
from agentkit.server.app import Service, make_app
from agentkit.server.connection import Connection
from agentkit.server.gate import Limits
from agentkit.server.serve import bind, url_of
from agentkit.server.worker import Worker
from agentkit.types import Action, ActionResult, Call, Outcome, Reply, Status, Utterance

HOME = Home(
    "test",
    areas=(Area("kitchen", "Kitchen"), Area("hall", "Hall")),
    devices=(Device("light.sink", "Sink light", "light", "kitchen", state="off"),),
)


@dataclass
class ScriptedAgent:
    """Answers as told and remembers what it was asked."""

    heard: list[Utterance] = field(default_factory=list)
    release: threading.Event = field(default_factory=threading.Event)
    """A turn with the text "wait" goes on when this is set."""

    def handle(self, utterance: Utterance, *, is_wanted: Callable[[], bool] = lambda: True) -> Reply:
        self.heard.append(utterance)
        if utterance.text == "wait":
            assert self.release.wait(20)
        if utterance.text == "break":
            raise RuntimeError("a bug")
        result = self.act("light.sink", "turn_on", {})
        return Reply(
            Outcome.DONE,
            "Done. 好的。",
            utterance.session,
            "en",
            "template",
            "scripted",
            calls=(Call("turn_on", {}, ("light.sink",)),),
            actions=(result,),
            timings_ms={"total": 1.25},
        )

    def act(
        self, device_id: str, tool: str, args: Mapping[str, Any], *, is_wanted: Callable[[], bool] = lambda: True
    ) -> ActionResult:
        return ActionResult(Action(tool, args, device_id), Status.DONE, state="on")


@dataclass
class Live:
    """A running server and its parts."""

    url: str
    service: Service
    agent: ScriptedAgent
    server: uvicorn.Server

    @property
    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=10)

    def say(self, text: str, **fields: Any) -> httpx.Response:
        with self.client as client:
            return client.post("/v1/command", json={"text": text, **fields})


@pytest.fixture
def start() -> Iterator[Callable[..., Live]]:
    """Start servers; they end with the test."""
    stops: list[Callable[[], None]] = []

    def run(
        *, is_started: bool = True, limits: Limits | None = None, http: type[Connection] = Connection, **queue: Any
    ) -> Live:
        agent = ScriptedAgent()
        host = Host("test home", Registry(HOME), lambda _report: Opened(agent, {"choices": []}))
        service = Service(host, Worker(**queue), limits=limits or Limits())
        listener = bind("127.0.0.1", 0)
        config = uvicorn.Config(
            make_app(service), http=http, loop="asyncio", ws="none", lifespan="off", log_config=None
        )
        config.timeout_graceful_shutdown = 1
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.005)
        if is_started:
            host.start()

        def stop() -> None:
            agent.release.set()
            server.should_exit = True
            thread.join(5)

        stops.append(stop)
        return Live(url_of(listener), service, agent, server)

    yield run
    for stop in stops:
        stop()


@pytest.fixture
def live(start: Callable[..., Live]) -> Live:
    """A server that is ready."""
    return start()
