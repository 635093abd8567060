from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

from tests.server.conftest import Live


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_page_loads_nothing_from_elsewhere_and_runs_only_its_own_script(live: Live, path: str) -> None:
    with live.client as client:
        page = client.get(path)

    assert page.status_code == 200
    assert not re.search(r"""(?:src|href|action)\s*=\s*["'](?:https?:)?//|url\(|@import""", page.text)
    script = re.search(r"<script>(.*?)</script>", page.text, re.S)
    assert script
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page.headers["content-security-policy"]
    assert not re.search(r"\son\w+=|\sstyle=", page.text)  # the policy would not let it work


def test_page_asks_only_routes_that_exist(live: Live) -> None:
    with live.client as client:
        text = client.get("/").text
        known = client.get("/openapi.json").json()["paths"]

    asked = set(re.findall(r'"(/(?:v1/\w+|\w+z))"', text))
    assert asked
    assert asked <= known.keys()


def test_every_route_is_in_the_guide(live: Live) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "http.md").read_text("utf-8")
    with live.client as client:
        paths = client.get("/openapi.json").json()["paths"]

    told = re.sub(r"\{\w+\}", "{}", guide)
    assert [path for path in paths if re.sub(r"\{\w+\}", "{}", path) not in told] == []
