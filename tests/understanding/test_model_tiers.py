from __future__ import annotations

from dataclasses import dataclass, field

from agentkit.types import Intent, Kind, Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.model_tiers import TierChain
from agentkit.understanding.normalise import Normalised

TEXT = Normalised("hello", "en", "hello")
CALL = Understanding(Kind.CALLS, (Intent("turn_on"),), why="sure", timings_ms={"model": 1.0})
REFUSAL = Understanding(Kind.REFUSE, (), "not_understood", why="no idea", timings_ms={"model": 2.0})


@dataclass
class Says:
    """A tier that always says the same."""

    answer: Understanding
    asked: list[str] = field(default_factory=list)

    def understand(self, text: Normalised, view: HomeView) -> Understanding:
        self.asked.append(text.text)
        return self.answer

    def warm_up(self, view: HomeView) -> None:
        self.asked.append("warm-up")


def test_larger_model_is_not_asked_what_the_first_one_understood() -> None:
    first, larger = Says(CALL), Says(REFUSAL)
    assert TierChain([first, larger]).understand(TEXT, HomeView()) is CALL
    assert larger.asked == []


def test_larger_model_is_asked_what_the_first_one_refused() -> None:
    found = TierChain([Says(REFUSAL), Says(CALL)]).understand(TEXT, HomeView())
    assert found.intents == CALL.intents
    assert found.why == "no idea; then sure"
    assert found.timings_ms == {"model": 2.0, "larger.model": 1.0}


def test_last_refusal_stands_with_what_all_said() -> None:
    found = TierChain([Says(REFUSAL), Says(REFUSAL)]).understand(TEXT, HomeView())
    assert (found.kind, found.why) == (Kind.REFUSE, "no idea; then no idea")


def test_all_models_are_warmed_up() -> None:
    tiers = [Says(CALL), Says(CALL)]
    TierChain(tiers).warm_up(HomeView())
    assert [t.asked for t in tiers] == [["warm-up"], ["warm-up"]]
