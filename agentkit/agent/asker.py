"""Questions back: each is kept with what its answer completes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agentkit.agent.dialogue import Dialogue, Pending, Wanted
from agentkit.agent.pin import PinLock
from agentkit.agent.question import Question
from agentkit.agent.turn import End, Sentence, Turn
from agentkit.types import Intent, Outcome
from agentkit.when import When


@dataclass(frozen=True)
class Asker:
    """Asks in one conversation at a time."""

    dialogue: Dialogue
    pin: PinLock

    def ask_pin(self, turn: Turn, pending: Pending, sentence: Sentence, notes: tuple[Sentence, ...] = ()) -> End:
        """Ask for the code, or refuse while it is locked."""
        if self.pin.is_locked:
            return End(Outcome.REFUSED, (*notes, Sentence("refused.pin_locked")))
        return self.wait(turn, pending, sentence, notes)

    def ask_target(
        self, turn: Turn, intents: tuple[Intent, ...], when: When | None = None, *, text: str | None = None
    ) -> End:
        """Ask which device a pronoun means; `text` is the sentence that held it, if it was an earlier one."""
        said = turn.utterance
        pending = Pending(Wanted.TARGET, intents, turn.language, said.user, when=when, text=text or said.text)
        return self.wait(turn, pending, Sentence("ask.referent"))

    def ask_which(self, turn: Turn, intents: tuple[Intent, ...], question: Question, when: When | None = None) -> End:
        """Ask which of the last turn's devices a pronoun means; only the first intent can be bound by the answer."""
        said = turn.utterance
        pending = Pending(Wanted.CHOICE, intents[:1], turn.language, said.user, 0, question, when=when, text=said.text)
        return self.wait(turn, pending, Sentence(question.reply_key, question.values))

    def ask_again(self, turn: Turn, pending: Pending) -> End:
        """Repeat an open question to which nothing was said that decides anything."""
        assert pending.sentence is not None, pending
        return self.wait(turn, pending, pending.sentence)

    def ask_openly(self, turn: Turn, sentence: Sentence) -> End:
        """Ask something that any sentence may answer."""
        return self.wait(turn, Pending(Wanted.OPEN, (), turn.language, turn.utterance.user), sentence)

    def wait(self, turn: Turn, pending: Pending, sentence: Sentence, notes: tuple[Sentence, ...] = ()) -> End:
        """Say a sentence and keep what its answer completes, unless the turn is a dry run."""
        if not turn.utterance.is_dry_run:
            kept = replace(pending, source=turn.utterance.source, sentence=sentence)
            self.dialogue.ask(turn.utterance.session, kept)
        return End(Outcome.ASK, (*notes, sentence), expects_reply=not turn.utterance.is_dry_run)
