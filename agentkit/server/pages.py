"""The two pages for people: / to talk to the home, /docs to read the routes. No outside asset is loaded."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

HERE = Path(__file__).parent


def router() -> APIRouter:
    """Build the routes; both pages are read once."""
    routes = APIRouter(include_in_schema=False)
    home, docs = _page("page.html"), _page("docs.html")

    @routes.get("/")
    async def talk() -> HTMLResponse:
        return home

    @routes.get("/docs")
    async def read_docs() -> HTMLResponse:
        return docs

    return routes


def _page(name: str) -> HTMLResponse:
    html = (HERE / name).read_text(encoding="utf-8")
    return HTMLResponse(html, headers={"Content-Security-Policy": _policy(html), "X-Frame-Options": "DENY"})


def _policy(html: str) -> str:
    """Allow exactly the script and the style that stand in the page, and requests to this server."""
    script, style = (" ".join(_hashes(html, tag)) for tag in ("script", "style"))
    return (
        f"default-src 'none'; connect-src 'self'; img-src data:; script-src {script}; style-src {style}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _hashes(html: str, tag: str) -> list[str]:
    blocks = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.S)
    return [f"'sha256-{base64.b64encode(hashlib.sha256(b.encode()).digest()).decode()}'" for b in blocks]
