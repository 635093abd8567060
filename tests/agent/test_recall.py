"""What is said about the conversation itself is answered from this conversation of this person only."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.assemble import Assembly, Live
from agentkit.config import load_app
from agentkit.types import Outcome, Reply, Utterance

APP = Path(__file__).parents[2] / "apps" / "smart_home"


@pytest.fixture
def live() -> Live:
    app = load_app(APP)
    return Assembly(app).open(app.home)


def say(live: Live, text: str, *, session: str = "a", user: str | None = None) -> Reply:
    return live.agent.handle(Utterance(text, session=session, user=user))


def test_what_was_done_is_told_in_the_language_that_is_spoken_now(live: Live) -> None:
    say(live, "switch the desk lamp on")
    assert "desk lamp" in say(live, "what did you just do?").say
    assert "台灯" in say(live, "你刚才做了什么").say


def test_what_another_conversation_or_person_did_is_not_told(live: Live) -> None:
    say(live, "switch the desk lamp on", user="ann")
    for reply in (say(live, "what did you do?", session="b", user="ann"), say(live, "what did you do?", user="bob")):
        assert reply.reasons == ("say.did_nothing",)


def test_what_was_only_asked_about_is_not_told_as_done(live: Live) -> None:
    assert say(live, "unlock the back door").outcome is Outcome.ASK
    assert say(live, "what did you just do?").reasons == ("say.did_nothing",)


def test_thanks_beside_a_command_is_not_all_that_is_heard(live: Live) -> None:
    assert say(live, "thanks, turn on the desk lamp").outcome is Outcome.DONE
