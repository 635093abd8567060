from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from concurrent import futures
from typing import Any

import httpx
import pytest

from tests.server.conftest import Live
from tests.server.test_command import error_of

LAMP = {"id": "light.desk", "name": "Desk lamp", "type": "light", "area": "hall", "aliases": ["台灯"], "state": "off"}


def test_device_registers_itself_and_is_listed(live: Live) -> None:
    with live.client as client:
        created = client.post("/v1/devices", json=LAMP)
        listed = {device["id"]: device for device in client.get("/v1/devices").json()}

    assert created.status_code == 201
    assert created.headers["location"] == "/v1/devices/light.desk"
    assert listed["light.desk"]["name"] == "Desk lamp"
    assert listed["light.desk"]["available"] is True
    assert "light.sink" in listed


def test_device_can_register_while_the_model_warms_up(start: Callable[..., Live]) -> None:
    live = start(is_started=False)

    with live.client as client:
        assert client.post("/v1/devices", json=LAMP).status_code == 201


def test_registering_again_keeps_what_is_not_said_again(live: Live) -> None:
    with live.client as client:
        client.post("/v1/devices", json={**LAMP, "attributes": {"brightness": 80}})
        again = client.post("/v1/devices", json={"id": "light.desk", "name": "Desk lamp", "type": "light"})

    assert again.status_code == 200
    assert again.json()["area"] == "hall"
    assert again.json()["state"] == "off"
    assert again.json()["attributes"] == {"brightness": 80}


@pytest.mark.parametrize("aliases", [{}, {"aliases": []}, {"aliases": ["台灯"]}])
def test_names_of_a_registered_device_can_be_compared_and_hashed(live: Live, aliases: dict[str, Any]) -> None:
    registry = live.service.host.registry
    with live.client as client:
        client.post("/v1/devices", json={"id": "light.new", "name": "New", "type": "light", **aliases})
        client.patch("/v1/devices/light.new", json={"name": "Newer", **aliases})
        hash(registry.get("light.new").names)
        client.patch("/v1/devices/light.new", json={"aliases": None})

    assert registry.get("light.new").aliases == ()


def test_put_replaces_everything(live: Live) -> None:
    with live.client as client:
        client.post("/v1/devices", json={**LAMP, "attributes": {"brightness": 80}})
        replaced = client.put("/v1/devices/light.desk", json={"id": "light.desk", "name": "Lamp", "type": "light"})

    assert replaced.status_code == 200
    assert replaced.json()["area"] is None
    assert replaced.json()["attributes"] == {"former_names": ["Desk lamp", "台灯"]}


def test_put_needs_no_id_in_the_body(live: Live) -> None:
    with live.client as client:
        created = client.put("/v1/devices/kettle.1", json={"name": "Kettle", "type": "tea_maker"})

    assert created.status_code == 201
    assert (created.json()["id"], created.json()["type"]) == ("kettle.1", "tea_maker")


@pytest.mark.parametrize("kind", ["", "Light", "tea maker", "灯", "x" * 41])
def test_type_that_is_no_word_is_refused(live: Live, kind: str) -> None:
    with live.client as client:
        response = client.put("/v1/devices/kettle.1", json={"name": "Kettle", "type": kind})

    assert response.status_code == 422
    assert "type" in error_of(response)


def test_put_under_another_id_is_refused(live: Live) -> None:
    with live.client as client:
        response = client.put("/v1/devices/light.other", json=LAMP)

    assert response.status_code == 422
    assert "light.desk" in error_of(response)


def test_state_report_changes_only_what_it_says(live: Live) -> None:
    with live.client as client:
        client.post("/v1/devices", json={**LAMP, "attributes": {"brightness": 80, "color": "red"}})
        reported = client.patch("/v1/devices/light.desk", json={"state": "on", "attributes": {"color": None}})
        offline = client.patch("/v1/devices/light.desk", json={"available": False})

    assert reported.json()["state"] == "on"
    assert reported.json()["attributes"] == {"brightness": 80}
    assert offline.json()["available"] is False
    assert offline.json()["state"] == "on"


def test_patch_renames_and_moves(live: Live) -> None:
    with live.client as client:
        client.post("/v1/devices", json=LAMP)
        moved = client.patch("/v1/devices/light.desk", json={"name": "Reading lamp", "area": "kitchen"})

    assert moved.json()["name"] == "Reading lamp"
    assert moved.json()["area"] == "kitchen"
    assert moved.json()["aliases"] == ["台灯"]


def test_removed_device_is_gone(live: Live) -> None:
    with live.client as client:
        assert client.delete("/v1/devices/light.sink").status_code == 204
        assert client.get("/v1/devices/light.sink").status_code == 404
        assert client.delete("/v1/devices/light.sink").status_code == 404


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"area": "cellar"}, ["cellar", "kitchen"]),
        ({"name": ""}, ["name"]),
        ({"name": "two\nlines"}, ["name"]),
        ({"type": "../x"}, ["type"]),
        ({"id": "a/b"}, ["id"]),
        ({"endpoint": "ftp://10.0.0.1/x"}, ["endpoint", "http"]),
        ({"endpoint": "http://169.254.169.254/latest"}, ["endpoint"]),
        ({"endpoint": "http://user:pw@10.0.0.1/x"}, ["endpoint"]),
        ({"attributes": []}, ["attributes"]),
        ({"availible": True}, ["availible", "available"]),
        ({"aliases": "lamp"}, ["aliases"]),
        ({"state": 1}, ["state"]),
    ],
)
def test_device_that_is_not_acceptable_is_422_and_not_kept(
    live: Live, change: dict[str, Any], words: list[str]
) -> None:
    with live.client as client:
        response = client.post("/v1/devices", json={**LAMP, **change})
        ids = [device["id"] for device in client.get("/v1/devices").json()]

    assert response.status_code == 422
    message = error_of(response)
    assert all(word in message for word in words), message
    assert ids == ["light.sink"]


def test_number_that_json_does_not_know_is_422(live: Live) -> None:
    with live.client as client:
        response = client.patch(
            "/v1/devices/light.sink",
            content=b'{"attributes": {"power": NaN}}',
            headers={"content-type": "application/json"},
        )

    assert response.status_code == 422
    assert "attributes" in error_of(response)


def send_raw(live: Live, method: str, path: str, body: str) -> httpx.Response:
    """Send JSON that the client would not write."""
    with live.client as client:
        return client.request(method, path, content=body, headers={"content-type": "application/json"})


@pytest.mark.parametrize(
    "attributes",
    ['{"x": "\\ud800"}', '{"\\ud800": 1}', '{"x": "\\u001b[2J"}', '{"x": NaN}', '{"x": 1e999}', "[]",
     f'{{"x": {"9" * 4_000}}}', f'{{"x": {"[" * 25}1{"]" * 25}}}', f'{{"x": {"[" * 300}1{"]" * 300}}}',
     f'{{"x": {"[" * 900}1{"]" * 900}}}', f'{{"x": {chr(123)}"y": {"[" * 5_000}1{"]" * 5_000}}}}}',
     f'{{"x": [{"1," * 6_000}1]}}', f'{{"x": {"9" * 6_000}}}'],
    ids=["half a character", "in a key", "control", "nan", "infinite", "a list", "long number", "deep", "deeper",
         "very deep", "deepest", "many values", "longest number"],
)  # fmt: skip
@pytest.mark.parametrize(
    ("method", "path", "frame"),
    [
        ("PATCH", "/v1/devices/light.sink", '{"attributes": %s}'),
        ("PUT", "/v1/devices/light.sink", '{"name": "A", "type": "light", "attributes": %s}'),
        ("POST", "/v1/devices", '{"id": "a", "name": "A", "type": "light", "attributes": %s}'),
        ("POST", "/v1/devices/light.sink/actions", '{"tool": "turn_on", "args": %s}'),
    ],
)
def test_data_that_could_not_be_saved_or_sent_is_one_clear_line(
    live: Live, method: str, path: str, frame: str, attributes: str
) -> None:
    response = send_raw(live, method, path, frame % attributes)
    with live.client as client:
        listed = client.get("/v1/devices")

    assert response.status_code in (400, 422)
    assert len(error_of(response)) < 200
    assert [device["name"] for device in listed.json()] == ["Sink light"]


def test_data_of_the_allowed_depth_can_be_listed(live: Live) -> None:
    nested = f'{{"x": {"[" * 18}1{"]" * 18}}}'
    response = send_raw(live, "PATCH", "/v1/devices/light.sink", f'{{"attributes": {nested}}}')
    with live.client as client:
        listed = client.get("/v1/devices").json()

    assert response.status_code == 200
    assert listed[0]["attributes"] == json.loads(nested)


@pytest.mark.parametrize("device_id", ["灯", "a\nb", "é", "a/b", "", " a", "x" * 101, "a\u0000", "💡", "..%2f"])
def test_an_id_that_is_not_acceptable_is_422_and_named(live: Live, device_id: str) -> None:
    with live.client as client:
        response = client.post("/v1/devices", json={**LAMP, "id": device_id})

    assert response.status_code == 422
    assert "id" in error_of(response)


@pytest.mark.parametrize("device_id", ["灯", "%ED%A0%80", "%ff", "a%0d%0aX:%20y", "%00", "é", "x" * 3_000])
@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "POST"])
def test_an_odd_id_in_the_path_is_one_clear_line(live: Live, method: str, device_id: str) -> None:
    path = f"/v1/devices/{device_id}" + ("/actions" if method == "POST" else "")
    bodies = {"PUT": '{"name": "A", "type": "light"}', "PATCH": '{"state": "on"}', "POST": '{"tool": "turn_on"}'}
    response = send_raw(live, method, path, bodies.get(method, ""))

    assert response.status_code in (404, 422)
    assert len(error_of(response)) < 300


def test_location_of_an_id_with_a_space_can_be_followed(live: Live) -> None:
    with live.client as client:
        created = client.post("/v1/devices", json={**LAMP, "id": "desk lamp"})
        followed = client.get(created.headers["location"])

    assert created.headers["location"] == "/v1/devices/desk%20lamp"
    assert followed.json()["id"] == "desk lamp"


def test_a_report_that_comes_while_a_registration_waits_is_kept(live: Live) -> None:
    go_on, writer = threading.Event(), live.service.writer
    with live.client as client, futures.ThreadPoolExecutor(3) as pool:
        client.post("/v1/devices", json=LAMP)
        pool.submit(lambda: asyncio.run(writer.run(lambda: go_on.wait(5))))
        wait_for(lambda: writer.n_running == 1)
        again = {"id": "light.desk", "name": "Again", "type": "light"}
        waiting = [
            pool.submit(client.post, "/v1/devices", json=again),
            pool.submit(client.patch, "/v1/devices/light.desk", json={"area": "kitchen"}),
        ]
        wait_for(lambda: writer.n_waiting == 2)
        client.patch("/v1/devices/light.desk", json={"state": "on", "attributes": {"power": 4}})
        go_on.set()
        statuses = [response.result().status_code for response in waiting]
        lamp = client.get("/v1/devices/light.desk").json()

    assert statuses == [200, 200]
    kept = {"power": 4, "former_names": ["Desk lamp"]}
    assert (lamp["name"], lamp["area"], lamp["state"], lamp["attributes"]) == ("Again", "kitchen", "on", kept)


def wait_for(is_so: Callable[[], bool]) -> None:
    """Wait until something is so, or fail."""
    end = time.monotonic() + 5
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_one_patch_renames_and_reports(live: Live) -> None:
    with live.client as client:
        client.post("/v1/devices", json={**LAMP, "attributes": {"a": 1}})
        both = client.patch(
            "/v1/devices/light.desk", json={"name": "New", "state": "on", "available": False, "attributes": {"a": None}}
        ).json()

    named = {"former_names": ["Desk lamp"]}
    assert (both["name"], both["state"], both["available"], both["attributes"]) == ("New", "on", False, named)


def test_patch_of_a_name_of_an_unknown_device_is_404(live: Live) -> None:
    with live.client as client:
        assert client.patch("/v1/devices/light.none", json={"name": "New"}).status_code == 404


def test_direct_action_answers_with_the_record_of_one_action(live: Live) -> None:
    with live.client as client:
        response = client.post("/v1/devices/light.sink/actions", json={"tool": "turn_on", "args": {}})

    assert response.status_code == 200
    assert response.json()["status"] == "done"
    assert response.json()["device_id"] == "light.sink"


def test_direct_action_on_an_unknown_device_is_404(live: Live) -> None:
    with live.client as client:
        response = client.post("/v1/devices/light.none/actions", json={"tool": "turn_on"})

    assert response.status_code == 404
    assert "light.none" in error_of(response)


def test_direct_action_before_ready_is_503(start: Callable[..., Live]) -> None:
    live = start(is_started=False)

    with live.client as client:
        response = client.post("/v1/devices/light.sink/actions", json={"tool": "turn_on"})

    assert response.status_code == 503


def test_a_device_keeps_its_class_and_type_whatever_it_says_later(live: Live) -> None:
    door = {"id": "cover.d", "name": "D", "type": "cover", "state": "closed", "attributes": {"device_class": "Garage"}}
    curtain = {"device_class": "curtain", "reported_class": []}
    with live.client as client:
        client.post("/v1/devices", json=door)
        client.patch("/v1/devices/cover.d", json={"attributes": curtain})
        client.put("/v1/devices/cover.d", json={**door, "attributes": curtain})
        seen = client.post("/v1/devices", json={**door, "attributes": {}}).json()
        refused = client.put("/v1/devices/cover.d", json={**door, "type": "light"})

    assert seen["attributes"] == {"device_class": "Garage", "reported_class": ["curtain"]}
    assert refused.status_code == 422
    assert "known as a cover" in refused.json()["error"]["message"]
