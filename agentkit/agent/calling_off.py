"""Call off or put off what was planned, by what was just planned or told: "cancel it", "the first one", "five more".

"Cancel it" means what the last turn planned, else what it told of (it is asked which), else it undoes what it did. A
plain "never mind" takes back only what was just planned: what is done already, or planned earlier, stays, and the reply
says so. What was begun for a while ends with it. "Cancel the garden lights" means the entries that speak of them, and
never a command to those lights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from agentkit.agent.acting import Acting
from agentkit.agent.answers import is_cancel, is_everything, ordinal, without
from agentkit.agent.dialogue import Answered
from agentkit.agent.hold_off import hold_called_off
from agentkit.agent.kept_tools import CANCEL_ENTRIES, KEPT_TOOLS, OFF, SHIFT_ENTRIES
from agentkit.agent.question import Option, Question, among
from agentkit.agent.retiming import is_guarded_end, retimed, shifted
from agentkit.agent.rewriting import framed, with_pronoun
from agentkit.agent.turn import End, Sentence, Turn
from agentkit.planned import Entry, EntryKind
from agentkit.types import Intent, Outcome
from agentkit.understanding.durations import find_durations
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import Normalised, fold, fold_all
from agentkit.understanding.numbers import plain
from agentkit.understanding.timer_pieces import Reading, plain_text, take_acts
from agentkit.understanding.words import Words

_NOTHING_OPEN = Sentence("say.nevermind")


def read_called_off(
    turn: Turn, acting: Acting, words: Words, undo: Callable[[Turn], Answered | End]
) -> Answered | End | None:
    """What a text calls off or puts off, with no question open. None if it is about something else."""
    if not acting.replies.has(turn.language, OFF):
        return None
    if _is_stop(turn, words) and not _spoken_of(turn, acting, is_new=True):
        return None  # there may be something that moves
    new = _spoken_of(turn, acting, is_new=True)
    if len(new) == 1 and new[0].is_end and _is_whole(turn, words.talk.stays, words):
        return _cancelling(new)
    if len(new) == 1 and (corrected := retimed(turn, acting, new[0], words)):
        return corrected
    spoken = _spoken_of(turn, acting)
    if found := _put_off(turn, acting, words, spoken):
        return found
    rests = list(dict.fromkeys(framed(turn.text, words.talk.cancels)))
    is_pointed = any(_is_it(rest, words) for rest in rests)
    if is_pointed or fold(turn.text.text, words) in fold_all(words.cancel, words):
        return _the_last(turn, acting, words, spoken, undo, is_explicit=is_pointed or _is_bare(turn, words))
    if is_cancel(turn.text, words) and new:
        return _off(turn, acting, new, undo)
    for rest in rests:
        if found := _named(turn, acting, words, spoken, rest, undo):
            return found
    return None


def planned_now(turn: Turn, acting: Acting) -> Answered | None:
    """What the last turn planned, called off; None if it planned nothing."""
    new = _spoken_of(turn, acting, is_new=True) if acting.replies.has(turn.language, OFF) else []
    return _cancelling(new) if new else None


def just_planned(turn: Turn, acting: Acting) -> Entry | None:
    """The one command that the last turn planned."""
    new = _spoken_of(turn, acting, is_new=True)
    return new[0] if len(new) == 1 and new[0].kind is EntryKind.COMMAND else None


def _spoken_of(turn: Turn, acting: Acting, *, is_new: bool = False) -> list[Entry]:
    """What the last turn planned or told of, as it is kept now and in the order it was told."""
    ids = acting.memory.entries(turn.utterance.session, turn.utterance.user, is_new=is_new)
    return [entry for i in ids if (entry := acting.schedule.get(i))]


def _the_last(
    turn: Turn,
    acting: Acting,
    words: Words,
    spoken: Sequence[Entry],
    undo: Callable[[Turn], Answered | End],
    *,
    is_explicit: bool,
) -> Answered | End:
    said = turn.utterance
    if new := _spoken_of(turn, acting, is_new=True):
        return _off(turn, acting, new, undo)
    if spoken and is_explicit:
        return _one_of(turn, acting, spoken)
    did_it = acting.memory.done(said.session, said.user) and acting.memory.moved(said.session, said.user)
    if did_it and is_explicit:
        return undo(turn)
    return End(Outcome.ANSWER, (_NOTHING_OPEN,))


def _off(
    turn: Turn, acting: Acting, entries: Sequence[Entry], undo: Callable[[Turn], Answered | End]
) -> Answered | End:
    """Entries called off, and with an end what it was to end; it is asked which, if there are several such."""
    new = {e.id for e in _spoken_of(turn, acting, is_new=True)}
    if len(entries) == 1 and entries[0].is_end and (now := acting.schedule.get(entries[0].id)):
        is_new = new == {now.id}
        return hold_called_off(turn, acting, now, undo, is_new=is_new) or _cancelling(entries)
    return _cancelling(entries)


def _named(
    turn: Turn,
    acting: Acting,
    words: Words,
    spoken: Sequence[Entry],
    rest: str,
    undo: Callable[[Turn], Answered | End],
) -> Answered | End | None:
    """The entry that is counted off among those just told of, or whose name, words or devices are said."""
    text = Normalised(rest, turn.language, rest)
    if spoken and is_everything(text, words):
        return _cancelling(spoken)
    options = tuple(_option(e, turn.view) for e in spoken)
    if chosen := ordinal(text, options, words):
        return _cancelling([e for e in spoken if e.id in chosen[0].device_ids])
    own = words.timers
    folded = fold(rest, words)
    has_noun = without(folded, (*own.timer, *own.alarm, *own.reminder), words) != folded
    if has_noun or _is_verb(turn.text.text, words):
        return None  # the tiers read "the pizza timer" themselves
    wanted = _bare_name(rest, words)
    if wanted != fold(rest, words) and is_everything(replace(text, text=wanted, original=wanted), words):
        return None  # the tiers read "all plans" themselves
    if is_everything(text, words):
        every = [e for e in acting.schedule.entries() if not e.is_missed]
        nothing = End(Outcome.REFUSED, (Sentence("planned.none_such"),))
        return _one_of(turn, acting, every) if every else nothing
    found = [e for e in acting.schedule.entries() if wanted and not e.is_missed and _speaks_of(e, wanted, turn, words)]
    if len(found) == 1:
        return _off(turn, acting, found, undo)
    return _one_of(turn, acting, found) if found else None


def _cancelling(entries: Sequence[Entry]) -> Answered:
    ids = ",".join(e.id for e in entries)
    return Answered((Intent(CANCEL_ENTRIES, {"ids": ids}),), why=f"calls off {ids}")


def _one_of(turn: Turn, acting: Acting, entries: Sequence[Entry]) -> Answered | End:
    if len(entries) == 1:
        return _cancelling(entries)
    return acting.ask_which(turn, (Intent(CANCEL_ENTRIES),), _which(entries, turn.view, CANCEL_ENTRIES))


def _which(entries: Sequence[Entry], view: HomeView, tool: str) -> Question:
    param = KEPT_TOOLS[tool].params[0]
    return among(Question("ask.which", param=param), tuple(_option(e, view) for e in entries))


def _option(entry: Entry, view: HomeView) -> Option:
    """An entry as an answer: its id stands where a device's would."""
    time = "" if entry.due is None else entry.due.strftime("%H:%M")
    name = entry.text if entry.kind is EntryKind.COMMAND else entry.name or ""
    label = name if time and time in name else " ".join(filter(None, (time, name)))
    return Option(label or entry.id, (entry.id,), (label, name, time, *_device_names(entry, view)))


def _put_off(turn: Turn, acting: Acting, words: Words, spoken: Sequence[Entry]) -> Answered | End | None:
    """ "Five more minutes", said of what was just planned or told: nothing but the act, one length and small words."""
    if not spoken:
        return None
    reading = Reading(plain_text(turn.text.text))
    take_acts(reading, words.timers)
    acts = reading.first & {"add", "subtract"}
    text = " ".join(reading.text.replace("\x00", " ").split())
    lengths = find_durations(text, words.time)
    if len(lengths) != 1:
        return None
    rest = fold(with_pronoun(text[: lengths[0].start] + " " + text[lengths[0].end :], words.talk), words)
    small = {*words.timers.fillers, words.talk.it, *words.fillers}
    if len(acts) != 1 or without(rest, small, words):
        return None
    seconds = plain(lengths[0].seconds if "add" in acts else -lengths[0].seconds)
    intent = Intent(SHIFT_ENTRIES, {"seconds": seconds})
    if len(spoken) == 1:
        return shifted(turn, acting, spoken[0], float(seconds), "puts off what was planned")
    free = [e for e in spoken if seconds < 0 or not is_guarded_end(e)]
    return acting.ask_which(turn, (intent,), _which(free, turn.view, SHIFT_ENTRIES)) if free else None


def _is_it(rest: str, words: Words) -> bool:
    """Whether what is called off is only pointed at: "it", "that one", "the last one"."""
    spelled = fold(with_pronoun(rest, words.talk), words)
    return spelled == fold(words.talk.it, words) or spelled in fold_all(words.talk.just_now, words)


def _is_stop(turn: Turn, words: Words) -> bool:
    """Whether a word that stops what moves stands alone ("stop"), with which nothing is called off but a new plan."""
    said = fold(turn.text.original, words)
    return any(said in fold_all(listed, words) for listed in words.stops.values())


def _is_bare(turn: Turn, words: Words) -> bool:
    """Whether a verb of calling off stands alone ("cancel"), which is plainer than "never mind"."""
    return _is_whole(turn, words.talk.cancel_alone, words)


def _is_whole(turn: Turn, listed: tuple[str, ...], words: Words) -> bool:
    """Whether a text is one of these and nothing else."""
    return fold(turn.text.text, words) in fold_all(listed, words)


def _is_verb(text: str, words: Words) -> bool:
    """Whether a verb of the home holds the word of calling off ("cancel mute"), so that a device may be meant."""
    folded = fold(text, words)
    return any(verb in folded for verb in words.made("verbs of calling off", _framed_verbs))


def _framed_verbs(words: Words) -> tuple[str, ...]:
    """Verbs of the home that have the form of calling something off themselves."""
    phrases = (p for listed in words.verbs.values() for p in listed if "…" not in p)
    return tuple(f for p in phrases if (f := fold(p, words)) and _is_frame(f, words))


def _is_frame(phrase: str, words: Words) -> bool:
    """Whether a phrase itself has the form of calling something off."""
    return any(pattern.match(phrase) for pattern in words.talk.cancels)


def _bare_name(rest: str, words: Words) -> str:
    """What is called off, without small words and the words for a plan."""
    own = words.timers
    return without(fold(rest, words), {*own.fillers, *own.plan}, words)


def _speaks_of(entry: Entry, wanted: str, turn: Turn, words: Words) -> bool:
    """Whether an entry has these words, or is about a device whose name they are or hold."""
    if entry.kind is not EntryKind.COMMAND:
        return _squeezed(wanted) == _squeezed(fold(entry.name or "", words))
    text = fold(entry.text, words)
    if len(wanted) > 2 - (not wanted.isascii()) and without(text, [wanted], words) != text:
        return True
    acts = {p for listed in words.verbs.values() for phrase in listed for p in phrase.split("…")}
    beside = {*acts, *words.timers.fillers, *words.fillers, *_place_names(entry, turn.view)}
    rests = (without(wanted, [name], words) for name in _device_names(entry, turn.view))
    return any(rest != wanted and not without(rest, beside, words) for rest in rests)


def _place_names(entry: Entry, view: HomeView) -> Iterator[str]:
    devices = filter(None, (view.device(i) for intent in entry.intents for i in intent.selector.device_ids))
    for area in filter(None, (view.area(d.area) for d in devices)):
        yield from area.names


def _device_names(entry: Entry, view: HomeView) -> Iterator[str]:
    for device in filter(None, (view.device(i) for intent in entry.intents for i in intent.selector.device_ids)):
        yield from device.names


def _squeezed(text: str) -> str:
    return "".join(text.split())
