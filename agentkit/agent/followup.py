"""Read what only makes sense after the last turn: undo, correction, "again", "the bedroom too", "it".

Each becomes ordinary intents for `Acting`, so resolving, policy and verification are the same as for any sentence.

Correction ("no, the bedroom"): if the last turn moved something, one turn puts that back and does the corrected thing.
Nothing is put back when the corrected thing cannot be done; what the policy would not put back without a question (a
door that was just locked) stays as it is, and the reply says so. A corrected value ("no, blue") needs no putting back:
the new value replaces the old one. A "no, …" that answers "unlock the front door?" corrects what was asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from agentkit.agent.acting import Acting
from agentkit.agent.binding import bind
from agentkit.agent.calling_off import just_planned, read_called_off
from agentkit.agent.dialogue import Answered, Pending, Wanted
from agentkit.agent.ending import also_then, undone, with_end
from agentkit.agent.later import asks_what_was_missed, told_missed
from agentkit.agent.left_out import read_left_out
from agentkit.agent.memory import Done, pinned, spoken_of
from agentkit.agent.one_more import read_one_more
from agentkit.agent.other_one import read_other_one
from agentkit.agent.place_alone import with_kind, with_one_more
from agentkit.agent.resolve import Resolved
from agentkit.agent.retiming import retargeted
from agentkit.agent.rewriting import framed, is_in, put_name, put_room, says_it, with_pronoun, without_asides
from agentkit.agent.turn import End, Sentence, Turn
from agentkit.agent.undo import plan_undo
from agentkit.devices.adapter import Device
from agentkit.policy_rules import Verdict
from agentkit.types import Intent, Outcome, Selector
from agentkit.understanding.entries import PLACES, TARGETS, Role
from agentkit.understanding.heads import verb_table
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.mention import alike, find_targets
from agentkit.understanding.nicknames import plainly
from agentkit.understanding.normalise import Normalised, fold, fold_all
from agentkit.understanding.tools import Tool
from agentkit.understanding.words import Words

_ASKED = (Wanted.YES_OR_NO, Wanted.PIN)
_STEP = "step"
"""Argument of the tools that change a value relative to the present one."""


@dataclass
class FollowUps:
    """Knows the conversation's last turn; owns nothing."""

    acting: Acting
    words: Mapping[str, Words]
    lexicon: Callable[[HomeView, Words], Lexicon]
    """The home's words, as the tiers know them: building them takes longer than a turn may."""

    def read(self, turn: Turn, dropped: Pending | None) -> Answered | End | None:
        """What the text means after the last turn. None if it stands for itself.

        `dropped` is the open question to which the text was no answer.
        """
        words = self.words[turn.language]
        talk, said = words.talk, {fold(turn.text.text, words), fold(turn.text.original, words)}
        if said & fold_all(talk.undo, words):
            called_off = Answered(is_cancelled=True, why="the question was waved away")
            if dropped is not None:
                return called_off
            return undone(turn, self.acting, self._undo)
        if asks_what_was_missed(turn, self.acting, talk):
            return told_missed(turn, self.acting)
        if dropped is None and (ended := read_called_off(turn, self.acting, words, self._undo)):
            return ended
        done = self._done(turn)
        entry = just_planned(turn, self.acting) if dropped is None else None
        if other := read_other_one(turn, self.acting, words, done, dropped, self._replacing, self._targets):
            return with_end(other, entry, self.acting, is_instead=True)
        if left := read_left_out(turn, self.acting, words, done, dropped, self._targets):
            return left
        planned = None if entry is None else retargeted(turn, self.acting, entry, words, self._like)
        if found := planned or self._corrected(turn, done, dropped):
            return with_end(found, entry, self.acting, is_instead=True)
        if dropped is None and said & fold_all(talk.again, words):
            once_more = tuple(pinned(d) for d in done if d.intent.tool)
            nothing = End(Outcome.REFUSED, (Sentence("refused.nothing_to_repeat"),))
            return Answered(once_more, why="the last turn once more") if once_more else nothing
        if not done:
            return also_then(turn, self.acting, entry, self._also)
        if said & fold_all(talk.more, words):
            more = tuple(pinned(d) for d in done if _STEP in d.intent.args)
            return Answered(more, why="more of the last change") if more else None
        if also := self._also(turn, done):
            return with_end(also, entry, self.acting, is_instead=False)
        return read_one_more(turn, self.acting, words, done, partial(self.lexicon, turn.view, words))

    def retarget(self, turn: Turn, pending: Pending) -> Answered | None:
        """Read a device or place as what the pronoun of the pending sentence meant.

        A place alone says no kind of device, so it does not tell whether a number is a temperature or a brightness.
        """
        if any(_is_bare_number(i) for i in pending.intents) and not self.says_thing(turn):
            return None
        intents = tuple(
            replace(intent, selector=found[0])
            for intent in pending.intents
            if (found := self._targets(turn, turn.text.text, self._types(intent.tool)))
        )
        is_whole = len(intents) == len(pending.intents)
        return Answered(intents, why="the device was named") if is_whole and intents else None

    def in_there(self, turn: Turn) -> Normalised:
        """The text with the room of the last turn for "in there", if it was one, and its kind for "one more"."""
        devices = [d for done in self._done(turn) for i in done.device_ids if (d := turn.view.device(i))]
        rooms, words = {d.area for d in devices}, self.words[turn.language]
        area = turn.view.area(rooms.pop()) if len(rooms) == 1 else None
        name = next((n for n in area.names if is_in(n, turn.language)), area.name) if area is not None else ""
        text = put_room(turn.text, name, words.talk) if name else turn.text
        return with_one_more(text, devices, words)

    def rewritten(self, turn: Turn) -> Iterator[Normalised]:
        """The text without words that only join it to the last turn, and with the app's own pronoun."""
        talk = self.words[turn.language].talk
        text = without_asides(turn.text.text, talk)
        if (other := with_pronoun(text, talk)) != text and not self._names_something(turn):
            text = other
        if text != turn.text.text:
            yield replace(turn.text, text=text)

    def spelled_out(self, turn: Turn, text: Normalised) -> Iterator[Normalised]:
        """The text with the device's name for the pronoun, and a value alone as a command."""
        talk, spoken = self.words[turn.language].talk, turn.view.spoken_of
        types = {d.type for done in self._done(turn) for i in done.device_ids if (d := turn.view.device(i))}
        lexicon = self.lexicon(turn.view, self.words[turn.language])
        yield from with_kind(text, types, self.words[turn.language], lexicon)
        rests = [text.text, *framed(turn.text, talk.corrections)]
        if spoken is not None and len(spoken.device_ids) == 1 and says_it(text.text, talk):
            device = turn.view.device(spoken.device_ids[0])
            names = device.names[:3] if device is not None else ()
            yield from (replace(text, text=put_name(text.text, n, talk)) for n in names if is_in(n, turn.language))
        for rest in rests:
            if rest != text.text:
                yield replace(text, text=rest, is_question=False)
            if spoken is not None:
                yield from (replace(text, text=frame.format(rest=rest), is_question=False) for frame in talk.frames)

    def referent(self, turn: Turn, dropped: Pending | None) -> Selector | None:
        """The devices that a pronoun of this text means: those just asked about, else those of the last turn."""
        if dropped is not None and dropped.wanted in _ASKED:
            asked = (Done(i, i.selector.device_ids) for i in dropped.intents)
            return spoken_of(asked, turn.view, is_many=False)
        is_many = any(p.search(turn.text.text) for p in self.words[turn.language].talk.many)
        before = self.acting.memory.joined(turn.utterance.session, turn.utterance.user) if is_many else ()
        return spoken_of((*before, *self._done(turn)), turn.view, is_many=is_many)

    def candidates(self, turn: Turn, intents: Sequence[Intent]) -> tuple[Device, ...]:
        """The devices of the last turn that can do what is asked of "it"."""
        ids = dict.fromkeys(i for done in self._done(turn) for i in done.device_ids)
        types = [set(self._types(intent.tool)) for intent in intents]
        return tuple(d for i in ids if (d := turn.view.device(i)) and all(d.type in able for able in types))

    def narrowed(self, turn: Turn, intents: Sequence[Intent]) -> tuple[Intent, ...]:
        """Intents without any word for a device ("brighter"), bound to what was just spoken of, if that can do it."""
        spoken = turn.view.spoken_of
        if spoken is None or self._names_something(turn):
            return tuple(intents)
        return tuple(self._narrow(turn, intent, spoken) for intent in intents)

    def _narrow(self, turn: Turn, intent: Intent, spoken: Selector) -> Intent:
        tool = self.acting.tools.get(intent.tool)
        bare = replace(intent.selector, types=())
        if tool is None or bare != Selector() or tool.is_query or tool.scope == "home":
            return intent
        devices = [d for i in spoken.device_ids if (d := turn.view.device(i)) and d.type in tool.types]
        ids = tuple(d.id for d in devices)
        if ids:
            return replace(intent, selector=Selector(device_ids=ids, types=spoken.types))
        areas = tuple(dict.fromkeys(d.area for i in spoken.device_ids if (d := turn.view.device(i))))
        is_there = any(d.area in areas and d.type in tool.types for d in turn.view.devices)
        is_asked = all(_is_query(self.acting.tools.get(done.intent.tool)) for done in self._done(turn))
        if len(areas) != 1 or areas[0] is None or not (is_there and is_asked):
            return intent
        return replace(intent, selector=replace(intent.selector, areas=(areas[0],)))  # whose temperature was asked for

    def is_command(self, turn: Turn) -> bool:
        """Whether the text names a thing or place of this home and a verb for it, understood or not."""
        words = self.words[turn.language]
        mentions = self.lexicon(turn.view, words).mentions(fold(turn.text.text, words))
        return any(m.role is Role.ACT for m in mentions) and self._names_something(turn)

    def says_place(self, turn: Turn) -> bool:
        """Whether a text names a room or floor and no thing."""
        words = self.words[turn.language]
        mentions = self.lexicon(turn.view, words).mentions(fold(turn.text.text, words))
        roles = {m.role for m in mentions}
        return bool(roles & {Role.AREA, Role.FLOOR}) and not roles & (TARGETS - PLACES | {Role.ACT})

    def says_thing(self, turn: Turn) -> bool:
        """Whether a text names a device or kind and does not command anything."""
        words = self.words[turn.language]
        mentions = self.lexicon(turn.view, words).mentions(fold(turn.text.text, words))
        roles = {m.role for m in mentions}
        return bool(roles & (TARGETS - PLACES - {Role.IT})) and Role.ACT not in roles

    def _names_something(self, turn: Turn) -> bool:
        words = self.words[turn.language]
        mentions = self.lexicon(turn.view, words).mentions(fold(turn.text.text, words))
        return any(m.role in TARGETS - {Role.IT} for m in mentions)

    def _done(self, turn: Turn) -> tuple[Done, ...]:
        return self.acting.memory.done(turn.utterance.session, turn.utterance.user)

    def _types(self, name: str) -> tuple[str, ...]:
        tool = self.acting.tools.get(name)
        return tool.types if tool is not None else ()

    def _undo(self, turn: Turn) -> Answered | End:
        acting = self.acting
        moved = acting.memory.moved(turn.utterance.session, turn.utterance.user)
        plan = plan_undo(moved, turn.view, acting.tools, acting.executor.decide)
        stuck = (Sentence("refused.cannot_undo", {"devices": plan.stuck_ids}),) if plan.stuck_ids else ()
        if not plan.intents:
            return End(Outcome.REFUSED, stuck or (Sentence("refused.nothing_to_undo"),))
        return Answered(plan.intents, notes=stuck, why="undo of the last turn that moved something")

    def _corrected(self, turn: Turn, done: Sequence[Done], dropped: Pending | None) -> Answered | None:
        asked = dropped.intents if dropped is not None and dropped.wanted in _ASKED else ()
        bases = [Done(i, i.selector.device_ids) for i in asked] or list(done)
        if len(bases) != 1:
            return None
        whole = (turn.text.text,) if asked and not self.is_command(turn) else ()
        verbs = self.words[turn.language].made("verbs of targets", verb_table)
        for rest in (*framed(turn.text, self.words[turn.language].talk.corrections), *whole):
            is_verb = (fold(rest, self.words[turn.language]),) in verbs  # "lock" is no thing to be unlocked
            like = () if is_verb else self._like(turn, rest, bases[0])
            if like:
                if dropped is None or not asked:
                    return self._replacing(turn, like)
                return Answered(like, when=dropped.when, text=dropped.text, why="corrected what was asked")
        return None

    def _replacing(self, turn: Turn, wanted: tuple[Intent, ...]) -> Answered:
        """The corrected intents, after those that put back what they replace."""
        acting, said = self.acting, turn.utterance
        bound = bind(wanted, turn.view, acting.known)
        is_question = all(_is_query(acting.tools.get(i.tool)) for i in wanted)
        if bound.refusals or is_question:
            return Answered(wanted, why="corrected the last turn")
        kept = {i for found in bound.found if isinstance(found, Resolved) for i in found.device_ids}
        plan = plan_undo(acting.memory.moved(said.session, said.user), turn.view, acting.tools, acting.executor.decide)
        back = [i for i in plan.intents if not set(i.selector.device_ids) & kept]
        free: list[Intent] = []
        left = [i for i in plan.stuck_ids if i not in kept]
        for intent in back:
            steps = bind((intent,), turn.view, acting.known).steps
            is_free = acting.judge(said.user, said.source).of(steps, turn.view).verdict is Verdict.ALLOW
            free += [intent] if is_free else []
            left += [] if is_free else intent.selector.device_ids
        notes = (Sentence("refused.left", {"devices": tuple(left)}),) if left else ()
        return Answered((*free, *wanted), n_back=len(free), notes=notes, why="corrected the last turn")

    def _also(self, turn: Turn, done: Sequence[Done]) -> Answered | None:
        if len(done) != 1:
            return None
        for rest in framed(turn.text, self.words[turn.language].talk.also):
            if like := self._like(turn, rest, done[0]):
                return Answered(like, is_further=True, why="the last turn for more devices")
        return None

    def _like(self, turn: Turn, rest: str, base: Done) -> tuple[Intent, ...]:
        """The last intent for other devices; empty if the rest names none, or names more than devices."""
        intent = base.intent
        devices = [d for i in base.device_ids if (d := turn.view.device(i))]
        usual = tuple(dict.fromkeys(d.type for d in devices)) or intent.selector.types
        tool = self.acting.tools.get(intent.tool)
        if tool is None or tool.scope == "home":
            return ()
        for types in (usual, tool.types):
            if found := self._targets(turn, rest, types):
                return tuple(replace(intent, selector=alike(s, intent.selector, turn.view)) for s in found)
        return ()

    def _targets(self, turn: Turn, text: str, types: tuple[str, ...]) -> tuple[Selector, ...]:
        words = self.words[turn.language]
        return find_targets(plainly(text, turn.view, words), types, turn.view, words, self.lexicon(turn.view, words))


def _is_bare_number(intent: Intent) -> bool:
    """Whether a call sets a value that was said as a number."""
    is_change = _STEP in intent.args or "unit" in intent.args
    return not is_change and any(isinstance(v, (int, float)) for v in intent.args.values())


def _is_query(tool: Tool | None) -> bool:
    return tool is not None and tool.is_query
