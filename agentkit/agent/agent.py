"""The loop: utterance in, verified reply out.

normalise → dialogue → understand → resolve → policy → execute → reply. Templates, model and answers to questions all
come out as intents; everything behind them is the same for all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from agentkit.agent.acting import Acting
from agentkit.agent.apart import perform_apart
from agentkit.agent.dialogue import Answered, Dialogue
from agentkit.agent.execute import Executor, Limits
from agentkit.agent.followup import FollowUps
from agentkit.agent.later import ask_about_missed, carried_out, note_missed, past_of
from agentkit.agent.lines import Lines
from agentkit.agent.listener import Listener, Understander
from agentkit.agent.memory import Memory
from agentkit.agent.pin import PinLock
from agentkit.agent.pin_memory import PinMemory
from agentkit.agent.recall import recall
from agentkit.agent.reply import Replies
from agentkit.agent.schedule import Schedule
from agentkit.agent.speaker import Speaker
from agentkit.agent.trace import Trace, TurnRecord
from agentkit.agent.turn import End, Sentence, Turn, choose_language
from agentkit.decoder.caller import calling, current_caller
from agentkit.devices.adapter import Adapter
from agentkit.devices.registry import Registry
from agentkit.errors import Abandoned, PromptTooLong
from agentkit.planned import Entry
from agentkit.policy_rules import PolicyRule
from agentkit.types import ActionResult, Outcome, Reply, Utterance
from agentkit.understanding.home_view import HomeView, LiveHome, name_key
from agentkit.understanding.normalise import Normalised, normalise, spell
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

MAX_LABEL = 200
"""Longest session, user or area name, in characters."""


@dataclass(frozen=True)
class AgentLimits:
    """Bounds of a turn and of what is remembered."""

    max_text_chars: int = 500
    max_actions: int = 200
    """Most devices that one utterance may move."""
    question_timeout_s: float = 60
    memory_s: float = 120
    """How long a conversation may refer to what it did last."""
    max_sessions: int = 256
    """Most questions that are open at once."""
    n_traced: int = 50
    """Turns kept to explain."""
    execution: Limits = field(default_factory=Limits)


class Agent:
    """Owns the conversations; may be called from any thread.

    Turns are understood and judged one at a time, but wait for the model and for their devices side by side; those of
    one session never overlap.
    """

    def __init__(
        self,
        *,
        tools: Mapping[str, Tool],
        registry: Registry,
        adapter: Adapter,
        understander: Understander,
        replies: Replies,
        words: Mapping[str, Words],
        policy_rules: Sequence[PolicyRule] = (),
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = datetime.now,
        limits: AgentLimits = AgentLimits(),
        schedule: Schedule | None = None,
        pin: str | None = None,
        pin_memory: PinMemory = PinMemory(),  # noqa: B008 - frozen
    ):
        self._registry, self._replies = registry, replies
        self.home = LiveHome(registry)
        """The views that turns take of the home."""
        self._words, self._now, self._limits = words, now, limits
        self._dialogue = Dialogue(clock, ttl_s=limits.question_timeout_s, max_sessions=limits.max_sessions)
        self.schedule = schedule if schedule is not None else Schedule(now=now, clock=clock)
        note_missed(self.schedule, replies)
        executor = Executor(adapter, limits=limits.execution, schedule=self.schedule, is_slow=registry.is_remote)
        self._memory = Memory(clock, ttl_s=limits.memory_s, max_sessions=limits.max_sessions)
        self._acting = Acting(
            self._dialogue,
            PinLock(pin, clock, pin_memory),
            tools,
            tuple(policy_rules),
            executor,
            self._memory,
            replies,
            now,
            limits.max_actions,
            self.schedule,
            self._unlocked,
        )
        self._listener = Listener(
            self._acting, FollowUps(self._acting, words, understander.lexicon), understander, words
        )
        self._lock = threading.Lock()
        self._sessions = Lines()
        self.trace = Trace(limits.n_traced)

    def handle(self, utterance: Utterance, *, is_wanted: Callable[[], bool] = lambda: True) -> Reply:
        """Run one turn; `is_wanted` is asked when it was waited for something, before anything is sent.

        Raises PromptTooLong for a text or a name that is too long, Abandoned if the turn is no longer wanted when it
        begins; nothing has run then.
        """
        self._check_sizes(utterance)
        with self._sessions.hold(utterance.session), self._lock:
            if not is_wanted():
                raise Abandoned("nobody waits for this turn any more, so it was not begun")
            start = time.perf_counter()
            turn = self._open(utterance, is_wanted)
            end = self._run(turn)
            if not (end.results or end.expects_reply or utterance.is_dry_run or is_aside(end)):
                self._memory.forget(utterance.session)
            end = ask_about_missed(turn, end, self._acting)
            reply = self._close(turn, end, start)
        masked = self._acting.pin.masked
        said = replace(turn.utterance, text=masked(turn.utterance.text))
        kept = replace(reply, say=masked(reply.say), why=masked(reply.why))
        self.trace.add(TurnRecord(self._now(), said, turn.understanding, kept))
        return reply

    def act(
        self,
        device_id: str,
        tool: str,
        args: Mapping[str, Any],
        *,
        user: str | None = None,
        source: str = "http",
        is_confirmed: bool = False,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> ActionResult:
        """Run one action without language, under the same policy; `is_wanted` is asked until something is sent.

        What the policy forbids or wants a yes for is skipped, with reason "denied" or "needs_confirmation".
        """
        with self._lock:
            speaker = Speaker(user, source, next(iter(self._words)), is_confirmed)
            return self._acting.perform_direct(device_id, tool, args, self._view(None), speaker, is_wanted)

    def carry_out(self, entry: Entry) -> Reply:
        """Do what is due: run a planned command and verify it, or note that a timer or alarm has ended."""
        said = Utterance(entry.text, entry.language, entry.area, entry.session, entry.user, "schedule")
        with self._lock:
            start = time.perf_counter()
            view = self._view(entry.area)
            turn = Turn(said, view, Normalised(entry.text, entry.language, entry.text), entry.language, path="schedule")
            turn.why.append(f"{entry.id} was due at {entry.due}")
            with turn.timed("execute"):
                end = carried_out(entry, view, self._acting)
            reply = self._close(turn, end, start)
        self.trace.add(TurnRecord(self._now(), said, None, reply))
        self.schedule.record(past_of(entry, reply, self._now()))
        return reply

    def _check_sizes(self, utterance: Utterance) -> None:
        names = ("text", "session", "user", "area", "language", "source")
        for name in names:
            value, limit = getattr(utterance, name) or "", self._limits.max_text_chars if name == "text" else MAX_LABEL
            if len(value) > limit:
                raise PromptTooLong(n_tokens=len(value), max_tokens=limit, what=name, unit="characters")

    @contextmanager
    def _unlocked(self) -> Iterator[None]:
        """Let other turns go on while this one waits for the model or for its devices."""
        self._lock.release()
        try:
            yield
        finally:
            self._lock.acquire()

    def _open(self, utterance: Utterance, is_wanted: Callable[[], bool]) -> Turn:
        start = time.perf_counter()
        language = choose_language(utterance, self._words)
        text = normalise(utterance.text, language, self._words[language])
        turn = Turn(utterance, self._view(utterance.area), text, language, is_wanted=is_wanted)
        turn.timings_ms["normalise"] = (time.perf_counter() - start) * 1000
        return turn

    def _view(self, area: str | None) -> HomeView:
        """Snapshot of the home; the speaker's room may be given by id or by name."""
        registry = self._registry
        known = next((a.id for a in registry.areas if area and name_key(area) in map(name_key, (a.id, *a.names))), area)
        return self.home.view(known or registry.home.speaker_area)

    def _run(self, turn: Turn) -> End:
        if not spell(turn.utterance.text):
            return End(Outcome.NONE, (Sentence("say.empty"),))
        area = turn.view.speaker_area
        if area is not None and turn.view.area(area) is None:
            return End(Outcome.REFUSED, (Sentence("refused.unknown_area", {"name": area}),))
        talk = self._words[turn.language].talk
        if (recalled := recall(turn, talk, self.trace, self._replies)) is not None:
            return recalled
        meant = self._hear(turn)
        if isinstance(meant, End):
            return meant
        return perform_apart(self._acting, turn, meant) if meant.then else self._acting.perform(turn, meant)

    def _hear(self, turn: Turn) -> Answered | End:
        """Find what is meant; others go on while the model is asked, and then the home is looked at again."""
        n_waits = 0

        @contextmanager
        def waiting() -> Iterator[None]:
            nonlocal n_waits
            n_waits += 1
            with self._unlocked():
                yield

        with calling(replace(current_caller(), while_waiting=waiting)):
            meant = self._listener.hear(turn)
        if n_waits:
            turn.view = replace(self._view(turn.utterance.area), spoken_of=turn.view.spoken_of)
        return meant

    def _close(self, turn: Turn, end: End, start: float) -> Reply:
        """Say what happened: first what the results say, then what else there is to say."""
        with turn.timed("reply"):
            language, view = turn.language, turn.view
            parts = [self._replies.compose(language, end.results, view)] if end.results else []
            parts += [self._replies.render(language, s.key, s.values, view) for s in end.sentences]
            say = join(list(dict.fromkeys(parts)))
        turn.timings_ms["total"] = (time.perf_counter() - start) * 1000
        return Reply(
            end.outcome,
            say,
            turn.utterance.session,
            language,
            turn.path,
            "; ".join(turn.why),
            turn.calls,
            (*end.results, *end.failures),
            end.expects_reply,
            turn.timings_ms,
            tuple(s.key for s in end.sentences),
        )


def is_aside(end: End) -> bool:
    """Whether a turn was about something else than the home, so that "it" still means what it meant before."""
    return end.outcome in (Outcome.ANSWER, Outcome.SCHEDULED) or any(s.key == "refused.not_home" for s in end.sentences)


def join(sentences: Sequence[str]) -> str:
    """Put sentences after each other, with a space where the script has spaces."""
    return "".join(s if not s[-1:].isascii() else f"{s} " for s in sentences).rstrip()
