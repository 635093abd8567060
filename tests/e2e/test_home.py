"""What a client sees of the real server, in both languages, without the model."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.e2e.little_device import LAG_S, LittleDevice
from tests.e2e.process import Server


@pytest.mark.parametrize(
    ("text", "device_id", "state"),
    [
        ("turn on the kitchen light", "light.kitchen", "on"),
        ("switch off the kitchen light", "light.kitchen", "off"),
        ("打开书桌灯", "light.desk", "on"),
        ("关掉书桌灯", "light.desk", "off"),
    ],
)
def test_command_moves_the_device_and_says_so(home: Server, text: str, device_id: str, state: str) -> None:
    reply = home.say(text)

    assert reply["outcome"] == "done"
    assert [(a["device_id"], a["status"], a["state"]) for a in reply["actions"]] == [(device_id, "done", state)]
    assert home.device(device_id)["state"] == state
    assert reply["say"]


def test_answer_is_in_the_language_of_the_question(home: Server) -> None:
    english, chinese = home.say("turn on the kitchen light")["say"], home.say("打开书桌灯")["say"]

    assert english.isascii()
    assert any("一" <= char <= "鿿" for char in chinese)


def test_reported_state_is_what_a_question_is_answered_from(home: Server) -> None:
    with home.client() as client:
        client.patch("/v1/devices/sensor.bedroom_temperature", json={"state": "17.5"})
        reply = home.say("what is the temperature in the bedroom?")
        client.patch("/v1/devices/sensor.bedroom_temperature", json={"state": "23"})
        later = home.say("what is the temperature in the bedroom?")

    assert reply["outcome"] == "answer"
    assert "17.5" in reply["say"]
    assert "23" in later["say"]


def test_unlocking_is_asked_about_and_done_after_yes(home: Server) -> None:
    asked = home.say("unlock the front door")
    before = home.device("lock.front_door")["state"]
    done = home.say("yes", session=asked["session"])

    assert asked["outcome"] == "ask"
    assert asked["expects_reply"] is True
    assert before == "locked"
    assert done["outcome"] == "done"
    assert home.device("lock.front_door")["state"] == "unlocked"


def test_yes_of_somebody_else_confirms_nothing(home: Server) -> None:
    home.say("unlock the back door")
    other = home.say("yes")

    assert other["ok"] is False
    assert home.device("lock.back_door")["state"] == "locked"


def test_dry_run_moves_nothing(home: Server) -> None:
    home.say("turn off the kitchen light")
    reply = home.say("turn on the kitchen light", dry_run=True)

    assert reply["calls"] == [{"tool": "turn_on", "args": {}, "targets": ["light.kitchen"]}]
    assert home.device("light.kitchen")["state"] == "off"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("is the kitchen light on?", "I would look that up."),
        ("厨房灯开着吗", "我会去查一下。"),
        ("mute the living room tv", "I would mute the living room TV."),
        ("把客厅电视静音", "我会把电视静音。"),
        ("turn on the desk lamp", "I would turn on the desk lamp."),
    ],
)
def test_dry_run_says_what_would_be_done(home: Server, text: str, said: str) -> None:
    assert home.say(text, dry_run=True)["say"] == said


def test_what_is_not_understood_does_nothing_and_says_so(home: Server) -> None:
    reply = home.say("flurb the gronk with seventeen zibbles")

    assert reply["ok"] is False
    assert reply["actions"] == []
    assert reply["say"]


@pytest.mark.parametrize("text", ["-", "…", "?!", "。", "° - °", "😀", "\u200b", "a" * 499, "灯" * 499, "\t\n x"])
def test_odd_text_is_answered_and_moves_nothing(home: Server, text: str) -> None:
    reply = home.say(text)

    assert reply["ok"] is False
    assert reply["actions"] == []


def test_direct_action_obeys_the_same_policy(home: Server) -> None:
    with home.client() as client:
        lit = client.post("/v1/devices/light.desk/actions", json={"tool": "turn_on"}).json()
        unlock = client.post("/v1/devices/lock.back_door/actions", json={"tool": "unlock"}).json()

    assert (lit["status"], lit["state"]) == ("done", "on")
    assert unlock["status"] == "skipped"
    assert home.device("lock.back_door")["state"] == "locked"


def test_device_that_registered_itself_takes_commands(home: Server, lamp: Callable[..., LittleDevice]) -> None:
    device = lamp()
    with home.client() as client:
        registered = client.post("/v1/devices", json=device.registration("light.reef", "Reef lamp", aliases=["珊瑚灯"]))
    english = home.say("turn on the reef lamp")
    chinese = home.say("关闭珊瑚灯")

    assert registered.status_code == 201
    assert english["outcome"] == "done"
    assert chinese["outcome"] == "done"
    assert [command["tool"] for command in device.commands] == ["turn_on", "turn_off"]
    assert device.state == "off"


def test_device_that_ignores_a_command_is_no_success(home: Server, lamp: Callable[..., LittleDevice]) -> None:
    device = lamp("ignores")
    with home.client() as client:
        client.post("/v1/devices", json=device.registration("light.mule", "Mule lamp"))
    reply = home.say("turn on the mule lamp")

    assert len(device.commands) == 1
    assert reply["outcome"] == "failed"
    assert reply["ok"] is False
    assert (reply["actions"][0]["status"], reply["actions"][0]["reason"]) == ("failed", "ignored")
    assert home.device("light.mule")["state"] == "off"


def test_device_that_needs_a_while_is_done_and_holds_up_nobody(home: Server, lamp: Callable[..., LittleDevice]) -> None:
    device = lamp("lags")
    with home.client() as client:
        client.post("/v1/devices", json=device.registration("light.snail", "Snail lamp"))
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(home.say, "turn on the snail lamp")
        assert device.got_command.wait(5)
        start = time.monotonic()
        assert home.say("turn on the kitchen light")["ok"] is True
        quick_s = time.monotonic() - start
        assert not slow.done()
        reply = slow.result()

    assert quick_s < LAG_S
    assert (reply["outcome"], reply["say"]) == ("done", "Turned on the Snail lamp.")


def test_device_that_does_not_answer_a_command_is_unknown_not_offline(
    home: Server, lamp: Callable[..., LittleDevice]
) -> None:
    device = lamp("hangs")
    with home.client() as client:
        client.post("/v1/devices", json=device.registration("light.mute", "Silent lamp"))

    reply = home.say("turn on the silent lamp")

    action = reply["actions"][0]
    assert (reply["ok"], action["status"], action["reason"]) == (False, "unknown", "timeout")
    assert "may have carried out" in action["detail"]
    assert reply["say"] == "The Silent lamp did not answer in time, so I do not know whether that worked."


def test_device_that_went_away_is_no_success_and_the_next_command_works(
    home: Server, lamp: Callable[..., LittleDevice]
) -> None:
    device = lamp()
    with home.client() as client:
        client.post("/v1/devices", json=device.registration("light.ghost", "Ghost lamp"))
    device.close()
    gone = home.say("turn on the ghost lamp")

    assert gone["ok"] is False
    assert gone["actions"][0]["status"] in ("failed", "unknown")
    assert home.say("turn on the kitchen light")["ok"] is True


def test_twenty_clients_at_once_are_all_answered(home: Server) -> None:
    texts = [("turn on the kitchen light", "light.kitchen"), ("打开书桌灯", "light.desk")] * 10
    with ThreadPoolExecutor(20) as pool:
        replies = list(pool.map(lambda item: home.say(item[0]), texts))

    assert [reply["outcome"] for reply in replies] == ["done"] * 20
    assert [reply["actions"][0]["device_id"] for reply in replies] == [device_id for _, device_id in texts]


def test_wrong_input_is_one_line_and_the_next_command_works(home: Server) -> None:
    bodies = {
        b"{": (400, 422),
        b'{"text": ""}': (422,),
        b'{"text": "\\u0007 on"}': (422,),
        b'{"text": "hi", "area": "attic"}': (422,),
        '{"text": "开灯"}'.encode("gb18030"): (400,),
        b'{"text": "' + b"x" * 50_000 + b'"}': (413,),
        b'{"text": "' + b"x" * 90_000 + b'"}': (413,),
    }
    with home.client(headers={"content-type": "application/json"}) as client:
        for body, statuses in bodies.items():
            response = client.post("/v1/command", content=body)
            assert response.status_code in statuses, (body[:40], response.text)
            assert set(response.json()["error"]) == {"type", "message"}
        assert client.get("/v1/no/such/route").status_code == 404

    assert home.say("turn on the kitchen light")["ok"] is True
