"""Turns that wait for the model let others go on, and look at the home again before they act."""

from __future__ import annotations

import threading

from agentkit.decoder.caller import current_caller
from agentkit.types import Outcome, Reply, Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised
from tests.agent.test_agent import House, Script


class Slow(Script):
    """Waits for what begins with "slow" as tiers wait for the decoder."""

    def __init__(self, script: Script):
        super().__init__({**script.sentences, **{f"slow {text}": said for text, said in script.sentences.items()}})
        self.asked, self.answer = threading.Semaphore(0), threading.Event()

    def understand(self, text: Normalised, view: HomeView) -> Understanding:
        if text.text.startswith("slow"):
            with current_caller().while_waiting():
                self.asked.release()
                assert self.answer.wait(10)
        return super().understand(text, view)


class SlowHouse(House):
    """The test house with a model that answers when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.slow = Slow(self.script)
        self.agent._listener.understander = self.slow
        self.replies: dict[str, Reply] = {}

    def begin(self, text: str, session: str) -> threading.Thread:
        """Say something in a thread of its own and return once it waits for the model."""
        thread = threading.Thread(target=lambda: self.replies.update({session: self.say(text, session=session)}))
        thread.start()
        assert self.slow.asked.acquire(timeout=10)
        return thread

    def finish(self, *threads: threading.Thread) -> None:
        self.slow.answer.set()
        for thread in threads:
            thread.join(10)
            assert not thread.is_alive()


def test_two_sessions_wait_for_the_model_at_once_and_a_template_for_neither() -> None:
    house = SlowHouse()
    threads = [house.begin("slow lamp 1 on", "a"), house.begin("slow lamp 11 on", "b")]
    assert house.say("ceiling on", session="c", area="bedroom").outcome is Outcome.DONE
    assert house.replies == {}
    house.finish(*threads)
    assert [house.replies[name].outcome for name in "ab"] == [Outcome.DONE] * 2
    assert (house.state("light.lamp_1"), house.state("light.lamp_11")) == ("on", "on")


def test_what_changed_while_the_model_thought_is_what_the_turn_acts_on() -> None:
    house = SlowHouse()
    thread = house.begin("slow unicorn on", "a")
    thread_two = house.begin("slow lamp 1 on", "b")
    house.registry.remove("light.lamp_1")
    house.finish(thread, thread_two)
    assert house.replies["b"].outcome is Outcome.REFUSED
    assert house.adapter.sent == []


def test_a_second_turn_of_the_same_session_waits_for_the_first() -> None:
    house = SlowHouse()
    first = house.begin("slow unlock", "a")
    second = threading.Thread(target=lambda: house.replies.update(second=house.say("yes", session="a")))
    second.start()
    assert "second" not in house.replies
    house.finish(first, second)
    assert house.replies["a"].outcome is Outcome.ASK
    assert house.replies["second"].outcome is Outcome.DONE  # the yes came after the question, never before
    assert house.state("lock.front") == "unlocked"


def test_a_model_that_fails_gives_the_lock_back() -> None:
    house = SlowHouse()

    def fail(text: Normalised, view: HomeView) -> Understanding:
        with current_caller().while_waiting():
            raise RuntimeError("the model broke")

    house.slow.understand = fail  # type: ignore[method-assign]
    try:
        house.say("slow lamp 1 on")
    except RuntimeError:
        house.slow.understand = Script.understand.__get__(house.slow)  # type: ignore[method-assign]
    assert house.say("lamp 1 on").outcome is Outcome.DONE
