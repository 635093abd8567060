"""The real server as it ships: the home model comes with the repository, nothing is downloaded."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from tests.e2e.process import Server, start


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = start(tmp_path_factory.mktemp("state"))
    with contextlib.closing(server):
        server.wait_ready()
        yield server


def test_start_up_opens_the_home_model_on_the_cpu(home: Server) -> None:
    with home.client() as client:
        plan = client.get("/v1/plan").json()["plan"]
        decoder = client.get("/healthz").json()["decoder"]

    assert plan["model"]["name"] == "agentkit-home-6m"
    assert decoder["target"] == plan["choices"][0]["target"] != "reference"
    assert all(pool["is_sealed"] for pool in decoder["pools"].values())


@pytest.mark.parametrize(
    ("text", "device_id"),
    [
        ("granny wants the floor lamp on", "light.floor_lamp"),
        ("我老花眼,请你把书桌灯打开一下吧", "light.desk"),
    ],
)
def test_sentence_that_no_template_knows_is_understood_by_the_home_model(
    home: Server, text: str, device_id: str
) -> None:
    assert home.device(device_id)["state"] == "off"
    reply = home.say(text)
    assert reply["path"] == "model"
    if reply["outcome"] == "ask":
        reply = home.say("yes", session=reply["session"])
    assert reply["outcome"] == "done"
    assert home.device(device_id)["state"] == "on"


@pytest.mark.parametrize(
    "text", ["what is the capital of peru", "我的信用卡被锁了怎么办", "my lamp store closes at nine"]
)
def test_what_is_not_about_the_home_moves_nothing(home: Server, text: str) -> None:
    reply = home.say(text)
    assert reply["ok"] is False
    assert reply["actions"] == []
