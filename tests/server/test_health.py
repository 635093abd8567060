from __future__ import annotations

import re
from collections.abc import Callable

from tests.server.conftest import Live
from tests.server.test_command import error_of


def test_process_is_alive_but_not_ready_while_it_starts(start: Callable[..., Live]) -> None:
    live = start(is_started=False)

    with live.client as client:
        assert client.get("/livez").status_code == 200
        ready, health, plan = client.get("/readyz"), client.get("/healthz"), client.get("/v1/plan")

    assert ready.status_code == 503
    assert "retry-after" in ready.headers
    assert health.status_code == 503
    assert health.json()["status"] == "starting"
    assert plan.status_code == 503


def test_ready_server_shows_plan_and_health(live: Live) -> None:
    with live.client as client:
        assert client.get("/readyz").status_code == 200
        health = client.get("/healthz").json()
        plan = client.get("/v1/plan").json()

    assert health["status"] == "ready"
    assert health["n_devices"] == 1
    assert health["rss_mb"] > 1
    assert plan["plan"] == {"choices": []}


def test_metrics_count_turns_in_prometheus_text(live: Live) -> None:
    live.say("hello")
    live.say("")

    with live.client as client:
        response = client.get("/metrics")

    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = response.text.splitlines()
    assert 'agentkit_turns_total{outcome="done",path="template"} 1' in lines
    assert 'agentkit_http_responses_total{status="422"} 1' in lines
    assert 'agentkit_turn_milliseconds_bucket{le="5"} 1' in lines
    assert "agentkit_ready 1" in lines
    assert all(re.fullmatch(r'# TYPE \w+ \w+|\w+({\w+="[^"]*"(,\w+="[^"]*")*})? [-+0-9.e]+', line) for line in lines)


def test_unknown_route_is_404_with_the_next_step(live: Live) -> None:
    with live.client as client:
        response = client.get("/v1/nothing")

    assert response.status_code == 404
    assert "/docs" in error_of(response)


def test_wrong_method_is_405_with_the_right_one(live: Live) -> None:
    with live.client as client:
        response = client.get("/v1/command")

    assert response.status_code == 405
    assert "POST" in error_of(response)


def test_pages_load_nothing_from_elsewhere(live: Live) -> None:
    with live.client as client:
        for path in ("/", "/docs"):
            page = client.get(path)

            assert page.status_code == 200
            assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", page.text)
            assert "default-src 'none'" in page.headers["content-security-policy"]


def test_openapi_lists_every_route(live: Live) -> None:
    with live.client as client:
        paths = client.get("/openapi.json").json()["paths"]

    routes = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert routes == {
        "POST /v1/command",
        "GET /v1/devices",
        "POST /v1/devices",
        "GET /v1/devices/{device_id}",
        "PUT /v1/devices/{device_id}",
        "PATCH /v1/devices/{device_id}",
        "DELETE /v1/devices/{device_id}",
        "POST /v1/devices/{device_id}/actions",
        "GET /v1/schedules",
        "DELETE /v1/schedules/{entry_id}",
        "GET /v1/timers",
        "DELETE /v1/timers/{entry_id}",
        "GET /v1/history",
        "GET /livez",
        "GET /readyz",
        "GET /healthz",
        "GET /metrics",
        "GET /v1/home",
        "GET /v1/plan",
    }
