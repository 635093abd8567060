"""`agentkit run`: serve an app over HTTP until Ctrl-C or SIGTERM."""

from __future__ import annotations

import json
import logging
import shlex
import time
from typing import TYPE_CHECKING, Annotated

import typer

from agentkit.cli.common import AppArgument, ConfigOption, DebugOption, NoModelOption, StateOption, tell

if TYPE_CHECKING:
    from agentkit.config import App


def run_command(
    app: AppArgument,
    host: Annotated[str, typer.Option("--host", help="Loopback address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes a free one.")] = 8765,
    config: ConfigOption = [],  # noqa: B006 - typer reads the default and never changes it
    no_model: NoModelOption = False,
    state: StateOption = None,
    debug: DebugOption = False,
) -> None:
    """Load the app, choose a target, warm up and serve. Ctrl-C and SIGTERM end it within 3 seconds."""
    from agentkit.server.app import Service
    from agentkit.server.serve import bind, leave, serve, url_of
    from agentkit.startup import Options, load, open_host
    from agentkit.state import announced, own

    logging.basicConfig(level=logging.DEBUG if debug else logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    options = Options(app, tuple(config), has_model=not no_model, state=state)
    started_at = time.perf_counter()
    with bind(host, port) as listener:
        loaded = load(options)
        url = url_of(listener)
        with own(loaded.state_dir), announced(loaded.state_dir, url=url, app=loaded.app.path):
            running = open_host(loaded, say)
            say(f"{running.name} · {len(running.registry.devices())} devices · {url} (starting)")

            def on_ready() -> None:
                say(f"ready    after {time.perf_counter() - started_at:.1f} s · {url} · Ctrl-C ends it")
                say(f"try      {example(url, loaded.app)}")

            code = serve(Service(running, max_text_chars=loaded.app.limits.max_text_chars), listener, on_ready=on_ready)
    say("stopped, state saved" if code == 0 else "stopped; the last states are not saved")
    leave(code)


def say(line: str) -> None:
    """Print one line at once, also into a pipe."""
    tell(line)


def example(url: str, app: App) -> str:
    """A command that can be pasted into a shell: the first plain tool that fits the first device."""
    said = next(app.plain_commands(), "hello")
    body = json.dumps({"text": said}, ensure_ascii=False)
    return f"curl -s {url}/v1/command -H 'content-type: application/json' -d {shlex.quote(body)}"
