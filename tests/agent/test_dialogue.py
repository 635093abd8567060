from __future__ import annotations

from agentkit.agent.dialogue import Dialogue, Pending, Wanted
from agentkit.agent.question import Option, Question
from agentkit.types import Intent, Selector
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised
from agentkit.understanding.words import Words

ASKED = Pending(Wanted.YES_OR_NO, (Intent("unlock"),), "en", user="ann")


def test_a_question_is_taken_once_by_its_user_and_in_time():
    now = 0.0
    dialogue = Dialogue(lambda: now, ttl_s=10)
    dialogue.ask("hall", ASKED)
    assert dialogue.take("garden", "ann") is None
    assert dialogue.take("hall", "bob") is None
    assert dialogue.take("hall", "ann") is ASKED
    assert dialogue.take("hall", "ann") is None
    dialogue.ask("hall", ASKED)
    now = 10.0
    assert dialogue.take("hall", "ann") is None
    assert len(dialogue) == 0


def test_the_oldest_question_makes_room():
    dialogue = Dialogue(lambda: 0.0, max_sessions=2)
    for session in ("a", "b", "a", "c"):
        dialogue.ask(session, ASKED)
    assert dialogue.take("b", "ann") is None
    assert dialogue.take("a", "ann") is ASKED
    assert dialogue.take("c", "ann") is ASKED


def test_a_choice_binds_its_intent_and_keeps_the_rest_of_the_sentence():
    kitchen, bedroom = Option("kitchen", ("light.k",), ("Kitchen",)), Option("bedroom", ("light.b",), ("Bedroom",))
    question = Question("ask.which_area", (kitchen, bedroom), settled_ids=("light.x",), open_names=("Spot",))
    unclear, other = Intent("turn_on", {}, Selector(names=("X", "Ceiling", "Spot"))), Intent("lock")
    pending = Pending(Wanted.CHOICE, (other, unclear, other), "en", index=1, question=question)
    answered = pending.read(Normalised("bedroom", "en", "bedroom"), Words("en"), HomeView())
    assert answered is not None
    assert answered.intents == (
        other,
        Intent("turn_on", {}, Selector(device_ids=("light.x", "light.b"))),
        Intent("turn_on", {}, Selector(names=("Spot",))),
        other,
    )
