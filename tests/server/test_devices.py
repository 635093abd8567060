from __future__ import annotations

from collections.abc import Callable
from typing import Any

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


def test_put_replaces_everything(live: Live) -> None:
    with live.client as client:
        client.post("/v1/devices", json={**LAMP, "attributes": {"brightness": 80}})
        replaced = client.put("/v1/devices/light.desk", json={"id": "light.desk", "name": "Lamp", "type": "light"})

    assert replaced.status_code == 200
    assert replaced.json()["area"] is None
    assert replaced.json()["attributes"] == {}


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
