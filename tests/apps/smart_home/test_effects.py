from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from json import dumps, loads
from typing import Any, ClassVar

import pytest

from agentkit.assemble import Assembly
from agentkit.config import App
from agentkit.devices.adapter import Change, Device, Home
from agentkit.types import Outcome, Utterance
from tests.apps.smart_home.conftest import Run


def light(state: str = "on", endpoint: str | None = None, **attributes: object) -> Device:
    return Device("light.x", "Strip", "light", state=state, attributes=attributes, endpoint=endpoint)


@pytest.mark.parametrize(
    ("said", "listed", "taken"),
    [
        ("colorloop", ["Color Loop", "Disco"], "Color Loop"),
        ("disco", ["colorloop", "DISCO"], "DISCO"),
        ("party", ["Party Mode", "Fire"], "Party Mode"),
    ],
)
def test_an_effect_is_taken_as_the_light_spells_it(change: Run, said: str, listed: list[str], taken: str) -> None:
    assert change("set_effect", light("off", effect_list=listed), effect=said) == Change("on", {"effect": taken})


def test_an_effect_that_a_light_lacks_is_refused_with_those_it_has(refusal: Run) -> None:
    reason, values = refusal("set_effect", light(effect_list=["colorloop", "fire"]), effect="disco")
    assert (reason, values["modes"]) == ("unknown_effect", ("colorloop", "fire"))


def test_one_of_two_effects_that_hold_the_word_is_not_guessed(refusal: Run) -> None:
    listed = ["Party Slow", "Party Fast"]
    assert refusal("set_effect", light(effect_list=listed), effect="party")[0] == "unknown_effect"


def test_a_light_without_effects_says_so(refusal: Run) -> None:
    reason, values = refusal("set_effect", light(), effect="disco")
    assert (reason, values["what"]) == ("unsupported", "effect")


@pytest.mark.parametrize(("listed", "stopped"), [(["None", "disco"], "None"), (["off", "a"], "off"), (["disco"], None)])
def test_no_effect_is_what_the_light_calls_it(change: Run, listed: list[str], stopped: str | None) -> None:
    device = light(effect_list=listed, effect="disco")
    assert change("set_effect", device, effect="none") == Change(None, {"effect": stopped})


def test_a_light_flashes_if_it_says_that_it_can(change: Run, refusal: Run) -> None:
    assert change("flash_light", light(supported_features=["flash", "effect"])) == Change()
    assert change("flash_light", light(endpoint="http://10.0.0.5/x")) == Change()
    assert refusal("flash_light", light())[1]["what"] == "flash"
    assert (
        refusal("flash_light", light(supported_features=["effect"], endpoint="http://10.0.0.5/x"))[0] == "unsupported"
    )


class Lamp(BaseHTTPRequestHandler):
    """A light on the network that runs every effect but the disco."""

    attributes: ClassVar[dict[str, Any]]
    commands: ClassVar[list[dict[str, Any]]]

    def do_GET(self) -> None:
        self._answer({"state": "on", "attributes": self.attributes})

    def do_POST(self) -> None:
        command = loads(self.rfile.read(int(self.headers["content-length"])))
        self.commands.append(command)
        if command["change"]["attributes"].get("effect") != "disco":
            self.attributes.update(command["change"]["attributes"])
        self._answer({})

    def log_message(self, *_: Any) -> None:
        """Stay quiet."""

    def _answer(self, body: dict[str, Any]) -> None:
        text = dumps(body).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


@pytest.fixture
def lamp() -> Iterator[tuple[str, type[Lamp]]]:
    kind = type(
        "OneLamp", (Lamp,), {"attributes": {"effect_list": ["disco", "rainbow"], "effect": "none"}, "commands": []}
    )
    server = HTTPServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/lamp", kind
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("said", "outcome", "tool"),
    [
        ("start the rainbow effect on the strip", Outcome.DONE, "set_effect"),
        ("set the strip to disco", Outcome.FAILED, "set_effect"),
        ("flash the strip", Outcome.DONE, "flash_light"),
    ],
)
def test_what_a_light_on_the_network_was_told_counts_by_what_it_reads_back(
    app: App, lamp: tuple[str, type[Lamp]], said: str, outcome: Outcome, tool: str
) -> None:
    endpoint, kind = lamp
    device = light(endpoint=endpoint, effect_list=["disco", "rainbow"])
    reply = Assembly(app).open(Home("one", devices=(device,))).agent.handle(Utterance(said, session="s"))
    assert (reply.outcome, [c["tool"] for c in kind.commands]) == (outcome, [tool])
