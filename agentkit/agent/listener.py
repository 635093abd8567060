"""What a turn is about: an answer to the open question, a follow-up to the last turn, or a sentence of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from agentkit.agent.acting import Acting
from agentkit.agent.after_yes import read_after_yes
from agentkit.agent.all_others import read_all_others
from agentkit.agent.answers import is_cancel, is_doubt, is_free_text, is_half_yes, read_yes_or_no
from agentkit.agent.arguments import missing_argument
from agentkit.agent.binding import bind
from agentkit.agent.dialogue import Answered, Pending, Wanted
from agentkit.agent.followup import FollowUps
from agentkit.agent.memory import Done
from agentkit.agent.pin import HIDDEN, read_code
from agentkit.agent.question import which
from agentkit.agent.rewriting import framed, put_name, says_it
from agentkit.agent.turn import End, Sentence, Turn, end_of
from agentkit.errors import DecoderError, PromptTooLong
from agentkit.types import Intent, Kind, Outcome, Selector, Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised, fold, fold_all, normalise
from agentkit.understanding.words import Words

UNCLEAR = frozenset({"", "not_understood", "not_home"})
"""Reply keys of a tier that made nothing of the sentence."""

NOT_HEARD = UNCLEAR | {"unknown_device"}
"""The same, and a name that this home does not know: the last turn may tell what is meant."""


class Understander(Protocol):
    """What the agent needs of the tiers that understand language."""

    def understand(self, text: Normalised, view: HomeView) -> Understanding:
        """Turn a sentence into intents, a question, a refusal or a sentence. Raises DecoderError."""
        ...

    def lexicon(self, view: HomeView, words: Words) -> Lexicon:
        """All phrases of a home."""
        ...


@dataclass
class Listener:
    """Owns nothing; knows whom to ask in which order."""

    acting: Acting
    follow_ups: FollowUps
    understander: Understander
    words: Mapping[str, Words]

    def hear(self, turn: Turn) -> Answered | End:
        """Find what is meant, or the end of a turn that calls nothing."""
        said = turn.utterance
        with turn.timed("dialogue"):
            pending = None if said.is_dry_run else self.acting.dialogue.take(said.session, said.user, said.source)
            found = None if pending is None else self._answer(turn, pending)
            found = found or (None if pending is None else self._held(turn, pending))
            found = found or self._after(turn, pending)
        if found is None:
            with turn.timed("understand"):
                return self._understand(turn, pending)
        turn.path = "dialogue"
        if isinstance(found, Answered):
            turn.why.append(found.why)
            if found.is_cancelled:
                return End(Outcome.ANSWER, (Sentence("say.cancelled"),))
        return found

    def _after(self, turn: Turn, pending: Pending | None) -> Answered | End | None:
        """What a text means after the last turn that is no answer to its question."""
        n_reasons = len(turn.why)
        found = self.follow_ups.read(turn, pending)
        if pending is None:
            return found
        words, meant = self.words[turn.language], self.follow_ups.referent(turn, pending)
        if found is None:
            found = read_after_yes(turn, pending, self.acting, words, self.understander.understand, meant)
            if found is not None:
                return found
        turn.why.insert(n_reasons, "not an answer to the open question, which is dropped")
        return found

    def _held(self, turn: Turn, pending: Pending) -> Answered | End | None:
        """The open question once more, if the text only asks for patience or doubts; with a no behind it, a no."""
        bare = turn.text.text.strip(" .,!?")
        words = [self.words[x] for x in dict.fromkeys((turn.language, pending.language))]
        behind = [(bare[m.end() :], w) for w in words for p in w.talk.holds if (m := p.match(bare))]
        if any(rest and is_cancel(replace(turn.text, text=rest, original=rest), w) for rest, w in behind):
            return Answered(is_cancelled=True, why="the question was waved away")
        is_kept = any(not rest for rest, _ in behind) or any(is_doubt(turn.text, w) for w in words)
        is_kept = is_kept or (pending.wanted is Wanted.YES_OR_NO and any(is_half_yes(turn.text, w) for w in words))
        if pending.sentence is None or not is_kept:
            return None
        turn.why.append("neither an answer nor anything else: the open question stays")
        turn.language = turn.language if turn.utterance.language else pending.language
        return self.acting.ask_again(turn, pending)

    def _answer(self, turn: Turn, pending: Pending) -> Answered | End | None:
        """What the open question makes of the text, or None if the text stands for itself."""
        for language in dict.fromkeys((turn.language, pending.language)):
            if answered := self._answer_in(language, turn, pending):
                turn.language = turn.language if turn.utterance.language else pending.language
                if isinstance(answered, End):
                    return answered
                answered = replace(answered, when=pending.when, text=pending.text, asked=pending.asked)
                return replace(answered, n_back=pending.n_back)
        return None

    def _answer_in(self, language: str, turn: Turn, pending: Pending) -> Answered | End | None:
        words = self.words[language]
        if pending.wanted is Wanted.PIN:
            return self._code(turn, pending, words)
        if answered := pending.read(turn.text, words, turn.view):
            return answered
        if pending.wanted is Wanted.TARGET:
            return self.follow_ups.retarget(turn, pending) or self._named(turn, pending, words)
        return pending.filled_with(turn.text.text) if pending.wants_text and self._is_free(turn) else None

    def _named(self, turn: Turn, pending: Pending, words: Words) -> Answered | End | None:
        """The pending sentence with the answer for its pronoun; asked again if the answer is but a place."""
        said = normalise(pending.text or "", words.language, words)
        if self.follow_ups.says_thing(turn):
            spoken = put_name(said.text, turn.text.text, words.talk)
            found = self.understander.understand(replace(said, text=spoken, original=spoken), turn.view)
            is_new = spoken != said.text
            return Answered(found.intents, why="the device was named") if is_new and self._is_whole(found) else None
        if self.follow_ups.says_place(turn):
            return self.acting.ask_target(turn, pending.intents, pending.when, text=pending.text)
        return None

    def _code(self, turn: Turn, pending: Pending, words: Words) -> Answered | End | None:
        code = read_code(turn.text, words)
        if code is None:
            if is_cancel(turn.text, words):
                return Answered(is_cancelled=True, why="the question was waved away")
            is_yes = pending.sentence is not None and read_yes_or_no(turn.text, words)
            return self.acting.ask_again(turn, pending) if is_yes else None  # a yes is no code, but no refusal either
        turn.utterance = replace(turn.utterance, text=HIDDEN)
        turn.text = replace(turn.text, text=HIDDEN, original=HIDDEN)
        if self.acting.pin.try_code(code):
            return Answered(pending.intents, has_pin=True, why="the code is right")
        turn.why.append("the code is wrong")
        return self.acting.ask_pin(turn, pending, Sentence("ask.pin_again"))

    def _is_free(self, turn: Turn) -> bool:
        """Whether a text is no sentence of its own, so that it can be the words that were asked for."""
        if turn.text.is_question or self.follow_ups.is_command(turn):
            return False
        try:
            found = self.understander.understand(turn.text, turn.view)
        except DecoderError:
            return False
        return found.kind in (Kind.NONE, Kind.REFUSE) and found.reply_key in UNCLEAR

    def _understand(self, turn: Turn, dropped: Pending | None) -> Answered | End:
        """Ask the tiers; an end if they call nothing."""
        try:
            turn.view = replace(turn.view, spoken_of=self.follow_ups.referent(turn, dropped))
            found = self._find(turn)
            if isinstance(found, End):
                return found
        except PromptTooLong:
            raise
        except DecoderError as err:
            turn.why.append(str(err))
            return End(Outcome.FAILED, (Sentence("failed.error"),))
        if found.intents and (found.needs_confirmation or found.path == "model") and self._calls_off(turn):
            turn.why.append(f"calls something off, so it is never a command: {found.why}")
            return End(Outcome.REFUSED, (Sentence("planned.none_such"),))
        intents = self._with_gaps(turn, self.follow_ups.narrowed(turn, found.intents))
        turn.understanding, turn.path = replace(found, intents=intents), found.path
        turn.timings_ms.update(found.timings_ms)
        turn.why += [found.why] if found.why else []
        cannot = (Sentence(f"refused.{found.reply_key}", found.reply_values),) if found.reply_key else ()
        then = tuple(Answered(part.intents, when=part.when) for part in found.then)
        meant = Answered(intents, is_unsure=found.needs_confirmation, when=found.when, then=then)
        if found.kind is Kind.CALLS and intents:
            return replace(meant, notes=cannot)
        bound = bind(intents, turn.view, self.acting.tools)
        if found.kind is Kind.ASK and bound.question is not None:
            return meant  # the home knows what is unclear better than the tier, and can take the answer
        turn.calls = bound.calls(is_running=False)
        end = end_of(found)
        self._keep_named(turn, found)
        return self.acting.ask_openly(turn, end.sentences[0]) if end.outcome is Outcome.ASK else end

    def _keep_named(self, turn: Turn, found: Understanding) -> None:
        """Let "it" mean the device that was named without a verb."""
        ids = found.reply_values["ids"] if _names_alone(found) else ()
        if len(ids) == 1 and not turn.utterance.is_dry_run:
            said = turn.utterance
            self.acting.memory.keep(said.session, said.user, (Done(Intent(""), tuple(ids)),), None)

    def _calls_off(self, turn: Turn) -> bool:
        """Whether the text has the form of calling something off, in an app that can say that nothing was planned."""
        has_reply = self.acting.replies.has(turn.language, "planned.none_such")
        return has_reply and any(framed(turn.text, self.words[turn.language].talk.cancels))

    def _find(self, turn: Turn) -> Understanding | End:
        """Understand the text, else what it becomes after the last turn; ask whom a pronoun means."""
        text = turn.text = self.follow_ups.in_there(turn)
        if others := read_all_others(turn, self.acting, self.words[turn.language], self.understander.understand):
            return others
        for shorter in self.follow_ups.rewritten(turn):
            text = shorter
            if self._is_whole(found := self.understander.understand(text, turn.view)):
                return found
        found = self.understander.understand(turn.text, turn.view)
        is_bare = _names_alone(found)  # "is it on" names a device too: what came before may tell what is asked of it
        if not is_bare and (found.kind not in (Kind.NONE, Kind.REFUSE) or found.reply_key not in NOT_HEARD):
            return found
        for longer in self.follow_ups.spelled_out(turn, text):
            if self._is_whole(again := self.understander.understand(longer, turn.view)):
                return again
            if again.kind is Kind.REFUSE and again.reply_key not in NOT_HEARD:
                found = again  # a reason, such as a time, says more than "not understood"
        unbound = None if is_bare else self._unbound(turn, text)
        if unbound is None:
            return found
        intents, when = unbound.intents, unbound.when
        devices = self.follow_ups.candidates(turn, intents)
        if not devices:
            return self.acting.ask_target(turn, intents, when)
        if len(devices) > 1:
            return self.acting.ask_which(turn, intents, which(devices, turn.view), when)
        one = Selector(device_ids=(devices[0].id,), types=(devices[0].type,))
        bound = tuple(replace(i, selector=one) for i in intents)
        return Understanding(Kind.CALLS, bound, path="template", why="it", when=when)

    def _is_whole(self, found: Understanding) -> bool:
        """Whether a text that nobody said is understood without a doubt or a gap."""
        tools = self.acting.tools
        pairs = [(tools[i.tool], i) for i in found.intents if i.tool in tools]
        is_full = all(missing_argument(tool, intent.args) is None for tool, intent in pairs)
        return found.kind is Kind.CALLS and is_full and not found.needs_confirmation

    def _unbound(self, turn: Turn, text: Normalised) -> Understanding | None:
        """What a sentence would mean if one knew what "it" is."""
        if turn.view.spoken_of is not None or not says_it(text.text, self.words[turn.language].talk):
            return None
        devices = turn.view.devices
        anything = Selector(
            device_ids=tuple(d.id for d in devices), types=tuple(dict.fromkeys(d.type for d in devices))
        )
        found = self.understander.understand(text, replace(turn.view, spoken_of=anything))
        return found if self._is_whole(found) else None

    def _with_gaps(self, turn: Turn, intents: Sequence[Intent]) -> tuple[Intent, ...]:
        """Leave out texts that say nothing ("add something to the list"), so that they are asked for."""
        words = self.words[turn.language]
        something = fold_all(words.talk.something, words)

        def kept(intent: Intent) -> Iterator[str]:
            tool = self.acting.tools.get(intent.tool)
            free = {p.name for p in tool.params if p.is_required and is_free_text(p)} if tool else set()
            yield from (k for k, v in intent.args.items() if k not in free or fold(str(v), words) not in something)

        return tuple(replace(i, args={k: i.args[k] for k in kept(i)}) for i in intents)


def is_unclear(found: Understanding) -> bool:
    """Whether the tiers made nothing of a sentence, which is more than refusing it for a reason."""
    return found.kind in (Kind.NONE, Kind.REFUSE) and found.reply_key in UNCLEAR


def _names_alone(found: Understanding) -> bool:
    """Whether it asks what to do with devices that were named without a verb."""
    return found.kind is Kind.ASK and "ids" in found.reply_values
