from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.errors import AgentKitError, StateInUse
from agentkit.state import own, own_or_copy, state_dir


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


def test_copy_is_taken_while_somebody_owns_the_folder(tmp_path: Path) -> None:
    (tmp_path / "devices.json").write_text("here", "utf-8")
    with own(tmp_path), own_or_copy(tmp_path) as (folder, is_copy):
        assert is_copy
        assert (folder / "devices.json").read_text("utf-8") == "here"
        (folder / "devices.json").write_text("changed", "utf-8")
    with own_or_copy(tmp_path) as (mine, is_copy):
        assert (mine, is_copy) == (tmp_path, False)

    assert (tmp_path / "devices.json").read_text("utf-8") == "here"
    assert not folder.exists()


def test_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")

    with pytest.raises(AgentKitError, match="cannot be written"), own(tmp_path / "file" / "state"):
        pass
