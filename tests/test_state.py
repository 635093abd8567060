from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentkit.errors import AgentKitError, StateInUse
from agentkit.state import Announced, announced, find_server, own, state_dir


def test_given_folder_comes_before_environment_and_home() -> None:
    env = {"AGENTKIT_STATE": "/env", "XDG_STATE_HOME": "/xdg"}

    assert state_dir("app", Path("/given"), env) == Path("/given")
    assert state_dir("app", None, env) == Path("/env/app")
    assert state_dir("app", None, {"XDG_STATE_HOME": "/xdg"}) == Path("/xdg/agentkit/app")
    assert state_dir("app", None, {}) == Path("~/.local/state/agentkit/app").expanduser()


@pytest.mark.parametrize("name", ["../../etc", "a/b", "..", "", "my app"])
def test_name_of_an_app_never_leaves_the_folder(name: str) -> None:
    assert state_dir(name, None, {"AGENTKIT_STATE": "/state"}).parent == Path("/state")


def test_folder_has_one_owner(tmp_path: Path) -> None:
    with own(tmp_path / "state"), pytest.raises(StateInUse, match="--state DIR"), own(tmp_path / "state"):
        pass
    with own(tmp_path / "state"):
        pass


def test_server_is_announced_while_it_owns_the_folder(tmp_path: Path) -> None:
    assert find_server(tmp_path) is None
    with own(tmp_path), announced(tmp_path, url="http://127.0.0.1:1", app=Path("/apps/tiny")):
        assert find_server(tmp_path) == Announced("http://127.0.0.1:1", os.getpid(), Path("/apps/tiny"))

    assert find_server(tmp_path) is None


@pytest.mark.parametrize("left", ['{"url": "http://127.0.0.1:1", "pid": 1, "app": "/x"}', "{", "[]", '{"url": 1}'])
def test_what_a_killed_server_left_is_gone_with_the_next_owner(tmp_path: Path, left: str) -> None:
    (tmp_path / "server.json").write_text(left, "utf-8")

    with own(tmp_path):
        assert find_server(tmp_path) is None


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"url": 1}', '{"url": "x", "pid": "y", "app": "z"}', "", '{"url": "x", "pid": Infinity, "app": "z"}',
     "[" * 100_000],
)  # fmt: skip
def test_broken_announcement_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "server.json").write_text(text, "utf-8")

    assert find_server(tmp_path) is None


def test_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")

    with pytest.raises(AgentKitError, match="cannot be written"), own(tmp_path / "file" / "state"):
        pass


def test_something_else_in_the_place_of_the_announcement_does_not_keep_a_home_from_starting(tmp_path: Path) -> None:
    (tmp_path / "server.json").mkdir()

    with own(tmp_path), announced(tmp_path, url="http://127.0.0.1:1", app=Path("/apps/tiny")):
        assert find_server(tmp_path) is None
