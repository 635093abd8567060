from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from agentkit.devices.adapter import Change, Command, Device
from agentkit.devices.registry import Registry
from agentkit.devices.rest import MAX_PER_HOST, RestAdapter
from agentkit.devices.route import RoutingAdapter
from agentkit.errors import DeviceError, DeviceFaulty, DeviceSilent, DeviceUnavailable
from tests.devices.home import LAMP, make_home

ON = Command("light.net", "turn_on", {}, Change("on", {"brightness": 128}))


@dataclass
class Lamp:
    """A lamp on the network, and what it was asked."""

    port: int = 0
    state: dict[str, Any] = field(default_factory=lambda: {"state": "off", "attributes": {}})
    heard: list[dict[str, Any]] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    answer: Callable[[BaseHTTPRequestHandler], None] | None = None
    """Answers in place of the lamp."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/lamp"


def send(handler: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    handler.send_response(status)
    for key, value in {"Content-Length": str(len(body)), **headers}.items():
        handler.send_header(key, value)
    handler.end_headers()
    handler.wfile.write(body)


@pytest.fixture
def lamp() -> Iterator[Lamp]:
    lamp = Lamp()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            lamp.hosts.append(self.headers["Host"])
            if lamp.answer is not None:
                return lamp.answer(self)
            return send(self, 200, json.dumps(lamp.state).encode())

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            lamp.heard.append(body)
            if lamp.answer is not None:
                return lamp.answer(self)
            lamp.state["state"] = body["change"]["state"] or lamp.state["state"]
            lamp.state["attributes"].update(body["change"]["attributes"])
            return send(self, 204, b"")

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    lamp.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield lamp
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def registry(lamp: Lamp) -> Registry:
    return Registry(make_home(LAMP, Device("light.net", "Net Lamp", "light", endpoint=lamp.url)))


@pytest.fixture
def adapter(registry: Registry) -> RestAdapter:
    return RestAdapter(registry, timeout_s=0.3)


def test_a_command_is_posted_and_the_state_read_back_is_the_devices_own(
    adapter: RestAdapter, registry: Registry, lamp: Lamp
) -> None:
    adapter.apply(ON)
    assert registry.get("light.net").state is None  # sent is not yet known to be done
    device = adapter.read("light.net")
    assert (device.state, device.attributes) == ("on", {"brightness": 128})
    assert lamp.heard == [{"tool": "turn_on", "args": {}, "change": {"state": "on", "attributes": {"brightness": 128}}}]
    assert registry.get("light.net") == device


def test_a_lamp_that_ignores_commands_is_read_back_as_it_is(adapter: RestAdapter, lamp: Lamp) -> None:
    adapter.apply(ON)
    lamp.state = {"state": "off", "available": False}
    device = adapter.read("light.net")
    assert (device.state, device.is_available) == ("off", False)


@pytest.mark.parametrize("status", [400, 404, 500, 302])
def test_a_refusal_names_the_device_the_status_and_its_words(adapter: RestAdapter, lamp: Lamp, status: int) -> None:
    lamp.answer = lambda handler: send(handler, status, b"bulb is\x07\nbroken", Location="http://127.0.0.1:1/")
    with pytest.raises(DeviceError, match=rf"light\.net: it answered {status} bulb is broken") as caught:
        adapter.apply(ON)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("status", [500, 503, 302])
def test_an_answer_that_is_neither_yes_nor_no_leaves_open_what_happened(
    adapter: RestAdapter, lamp: Lamp, status: int
) -> None:
    lamp.answer = lambda handler: send(handler, status, b"bulb is broken")
    with pytest.raises(DeviceFaulty, match=rf"answered {status} .*may have carried out"):
        adapter.apply(ON)


def test_a_refused_command_was_not_carried_out(adapter: RestAdapter, lamp: Lamp) -> None:
    lamp.answer = lambda handler: send(handler, 409, b"locked by hand")
    with pytest.raises(DeviceError) as caught:
        adapter.apply(ON)
    assert not isinstance(caught.value, DeviceSilent)


def test_redirects_are_not_followed(adapter: RestAdapter, lamp: Lamp) -> None:
    lamp.answer = lambda handler: send(handler, 307, b"", Location=lamp.url)
    with pytest.raises(DeviceError, match="307"):
        adapter.apply(ON)
    assert len(lamp.heard) == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"nonsense", "wanted JSON"),
        (b"", "wanted JSON"),
        (b"[1]", "wanted an object"),
        (b'{"state": {}}', "wanted text"),
        (b'{"state": "on", "attributes": [1]}', "no mapping"),
        (b"x" * 70_000, "longer than 65536 bytes"),
    ],
)
def test_nonsense_in_an_answer_changes_nothing(
    adapter: RestAdapter, registry: Registry, lamp: Lamp, body: bytes, message: str
) -> None:
    lamp.answer = lambda handler: send(handler, 200, body)
    before = registry.get("light.net")
    with pytest.raises(DeviceError, match=message):
        adapter.read("light.net")
    assert registry.get("light.net") == before


def test_numbers_as_state_become_text(adapter: RestAdapter, lamp: Lamp) -> None:
    lamp.state = {"state": 21.5}
    assert adapter.read("light.net").state == "21.5"


def test_a_slow_device_is_given_up_on_in_time(adapter: RestAdapter, lamp: Lamp) -> None:
    release = threading.Event()
    lamp.answer = lambda handler: (release.wait(5), None)[1]
    start = time.monotonic()
    with pytest.raises(DeviceSilent, match=r"no whole answer within 0\.3 s; it may have carried out the command"):
        adapter.apply(ON)
    with pytest.raises(DeviceUnavailable, match=r"no whole answer within 0\.3 s"):
        adapter.read("light.net")
    assert time.monotonic() - start < 2
    release.set()


def test_an_answer_that_drips_is_given_up_on_in_time(adapter: RestAdapter, lamp: Lamp) -> None:
    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        try:
            for _ in range(100):
                handler.wfile.write(b" ")
                handler.wfile.flush()
                time.sleep(0.05)
        except OSError:
            pass  # the client hung up, as it should

    lamp.answer = drip
    start = time.monotonic()
    with pytest.raises(DeviceUnavailable, match="no whole answer"):
        adapter.read("light.net")
    assert time.monotonic() - start < 2


@pytest.fixture
def raw() -> Iterator[tuple[Registry, list[Callable[[socket.socket], None]]]]:
    """A device that does with its connections what is put into the list."""
    does: list[Callable[[socket.socket], None]] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    made, _ = listener.accept()
                except OSError:
                    return
                with made, contextlib.suppress(OSError):
                    does[0](made)

        threading.Thread(target=serve, daemon=True).start()
        endpoint = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        yield Registry(make_home(Device("light.net", "Net Lamp", "light", endpoint=endpoint))), does
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nX-Long: ", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_a_device_that_drips_byte_by_byte_gets_one_time_limit_for_all_of_it(raw: Any, head: bytes) -> None:
    registry, does = raw

    def drip(connection: socket.socket) -> None:
        connection.sendall(head)
        for _ in range(60):
            connection.sendall(b" " if head.endswith(b"\n\r\n") else b"H")
            time.sleep(0.05)

    does.append(drip)
    start = time.monotonic()
    with pytest.raises(DeviceUnavailable, match=r"no whole answer within 0\.3 s"):
        RestAdapter(registry, timeout_s=0.3).read("light.net")
    assert time.monotonic() - start < 1


def test_endless_headers_are_given_up_on(raw: Any) -> None:
    registry, does = raw
    does.append(lambda connection: [connection.sendall(b"X-More: x\r\n" * 1000) for _ in range(200)] and None)
    with pytest.raises(DeviceUnavailable):
        RestAdapter(registry, timeout_s=2).read("light.net")


def test_one_host_gets_few_requests_at_the_same_time(registry: Registry, lamp: Lamp) -> None:
    lock, running, most = threading.Lock(), 0, 0

    def answer(handler: BaseHTTPRequestHandler) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.05)
        with lock:
            running -= 1
        send(handler, 200, b'{"state": "on"}')

    lamp.answer = answer
    adapter = RestAdapter(registry, timeout_s=5)
    with ThreadPoolExecutor(30) as pool:
        states = [device.state for device in pool.map(adapter.read, ["light.net"] * 30)]
    assert states == ["on"] * 30
    assert 1 < most <= MAX_PER_HOST


def test_a_host_that_is_busy_for_too_long_is_unavailable(registry: Registry, lamp: Lamp) -> None:
    release = threading.Event()
    lamp.answer = lambda handler: (release.wait(5), None)[1]
    patient, hurried = RestAdapter(registry, timeout_s=2), RestAdapter(registry, timeout_s=0.2)
    hurried._slots = patient._slots
    with ThreadPoolExecutor(MAX_PER_HOST) as pool:
        asked = [pool.submit(patient.read, "light.net") for _ in range(MAX_PER_HOST)]
        time.sleep(0.3)
        with pytest.raises(DeviceUnavailable, match="busy"):
            hurried.apply(ON)
        release.set()
        for one in asked:
            with pytest.raises(DeviceUnavailable):
                one.result()
    assert lamp.heard == []


def test_a_device_that_hangs_up_on_a_command_may_have_acted(adapter: RestAdapter, lamp: Lamp) -> None:
    lamp.answer = lambda handler: handler.connection.close()
    with pytest.raises(DeviceSilent, match="may have carried out"):
        adapter.apply(ON)


def test_a_device_that_is_not_there_is_unavailable(registry: Registry, adapter: RestAdapter) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    registry.upsert(Device("light.gone", "Gone", "light", endpoint=f"http://127.0.0.1:{port}/"))
    with pytest.raises(DeviceUnavailable, match="cannot be reached"):
        adapter.read("light.gone")
    with pytest.raises(DeviceUnavailable, match="cannot be reached"):
        adapter.apply(replace(ON, device_id="light.gone"))


def test_the_checked_address_is_the_one_that_is_called(registry: Registry, lamp: Lamp) -> None:
    answers = iter([["127.0.0.1"], ["127.0.0.1"], ["93.184.216.34"]])
    resolving = Registry(make_home(), resolve=lambda host, port: next(answers))
    resolving.upsert(Device("light.named", "Named", "light", endpoint=f"http://lamp.example:{lamp.port}/lamp"))
    adapter = RestAdapter(resolving, timeout_s=0.3, resolve=lambda host, port: next(answers))
    assert adapter.read("light.named").state == "off"
    assert lamp.hosts == [f"lamp.example:{lamp.port}"]
    with pytest.raises(DeviceError, match=r"93\.184\.216\.34"):
        adapter.read("light.named")


def test_commands_go_to_where_the_device_lives(registry: Registry, lamp: Lamp) -> None:
    adapter = RoutingAdapter(registry)
    adapter.apply(ON)
    adapter.apply(Command("light.lamp", "turn_on", {}, Change("on")))
    assert adapter.read("light.net").state == "on"
    assert adapter.read("light.lamp").state == "on"
    assert [body["tool"] for body in lamp.heard] == ["turn_on"]


@pytest.mark.parametrize("said", ["false", 0, [], {}])
def test_an_availability_that_is_neither_true_nor_false_is_refused(
    adapter: RestAdapter, lamp: Lamp, said: object
) -> None:
    lamp.state = {"state": "off", "available": said}
    with pytest.raises(DeviceError, match=r"answered available .*, wanted true or false"):
        adapter.read("light.net")
