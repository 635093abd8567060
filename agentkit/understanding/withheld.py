"""What a sentence says that its reading has passed over: forbidding words that were cut off, and commands in quotes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from agentkit.types import Understanding
from agentkit.understanding.entries import PLACES, TARGETS, Item, Role
from agentkit.understanding.evidence import read_sentence
from agentkit.understanding.guard import GuardHit, guard, is_mixed
from agentkit.understanding.hanzi import simplify
from agentkit.understanding.lexicon import Lexicon
from agentkit.understanding.normalise import Normalised, fold, less_led, normalise, spell
from agentkit.understanding.words import Words

_VALUELESS = frozenset({"on", "off", "open", "close", "start", "stop", "play"})
_QUOTED = re.compile(r'"([^"]+)"|(?<!\w)\'([^\']+)\'(?!\w)')


def cut_guard(text: Normalised, words: Mapping[str, Words]) -> GuardHit | None:
    """Find what forbids acting in the part before a correction ("do not, I mean, turn it on")."""
    cuts = [text.taken_back]
    if is_mixed(text.original):
        cuts += [normalise(text.original, k, w).taken_back for k, w in words.items() if k != text.language]
    hits = (guard(cut, own) for cut in cuts if cut for own in words.values())
    return next((hit for hit in hits if hit is not None), None)


def told(text: Normalised, words: Words) -> GuardHit | None:
    """Find a clause that tells what somebody did, which would be done once more, or one that contradicts itself."""
    said = tuple(less_led(simplify(spell(text.original)), words))
    for kind, patterns in (("report", words.told), ("contrary", words.contrary)):
        found = next((hit for s in said for pattern in patterns if (hit := pattern.search(s))), None)
        if found is not None:
            return GuardHit(kind, found[0].strip(" ,.!;"))
    return None


def past(text: Normalised, words: Words) -> GuardHit | None:
    """Find a question about how things were, which the state of now would answer falsely."""
    said = simplify(spell(text.original))
    found = next((hit for pattern in words.past if (hit := pattern.search(said))), None)
    return None if found is None else GuardHit("question", found[0].strip(" ,.!;"))


def is_noun_phrase(text: Normalised, lexicon: Lexicon, words: Words) -> bool:
    """Whether the only verb of a text tells which thing is meant: 打扫干净的房间 is a room, and no wish to clean."""
    folded = fold(text.text, words)
    for particle in words.modifiers if not text.is_question else ():
        head, _, tail = folded.rpartition(particle)
        before = [m for m in lexicon.mentions(head) if m.role is not Role.FILLER] if head and tail else []
        last = [m for m in before if m.end == len(head)]
        verbs = [m for m in before if m.role is Role.ACT]
        places = {m.start for m in before if m.role in PLACES}
        if not last or not verbs or any(m.start not in places for m in before if m.end <= verbs[0].start):
            continue
        is_topic = any(m.role is Role.TOPIC and m.start == verbs[-1].end for m in last)
        if (is_topic or any(m in verbs for m in last)) and _is_thing(lexicon.mentions(tail), tail):
            return True
    return False


def _is_thing(mentions: Sequence[Item], text: str) -> bool:
    """Whether a text is nothing but a word for a thing or place."""
    whole = [m for m in mentions if m.start == 0 and m.end == len(text)]
    return any(m.role in TARGETS for m in whole) and not any(m.role is Role.ACT for m in whole)


def needs_no_value(text: Normalised, lexicon: Lexicon, words: Words) -> bool:
    """Whether a verb of a sentence needs no value, and nothing else speaks of one: small numbers in it are hours."""
    acts = set[str]().union(*read_sentence(text.text, lexicon, words).verbs)
    return bool(acts & _VALUELESS) and names_no_value(text, lexicon, words)


def names_no_value(text: Normalised, lexicon: Lexicon, words: Words) -> bool:
    """Whether no word of a sentence says what a number in it is of, such as a unit or "volume"."""
    sentence = read_sentence(text.text, lexicon, words)
    mentions = lexicon.mentions(fold(text.text, words))
    things = {m.text for m in mentions if m.role in TARGETS}
    named = {m.value for m in mentions if m.role is Role.TOPIC and m.text in things}  # "fan" is a thing and a topic
    return not set(sentence.of(Role.TOPIC, Role.UNIT)) - named


def quoted_command(text: Normalised, found: Understanding, lexicon: Lexicon, words: Words) -> GuardHit | None:
    """Find a verb inside quotes with words outside them, unless the quoted words are what is added, played or said."""
    spelled = spell(text.original)
    for quote in _QUOTED.finditer(spelled):
        said = fold(quote[1] or quote[2], words)
        outside = fold(spelled[: quote.start()] + " " + spelled[quote.end() :], words)
        is_free_text = any(said in fold(v, words) for i in found.intents for v in i.args.values() if isinstance(v, str))
        if outside and not is_free_text and any(m.role is Role.ACT for m in lexicon.mentions(said)):
            return GuardHit("report", quote[0])
    return None


def keeps_no(folded: str, mended: str, words: Words) -> bool:
    """Whether a sentence that was mended by its sound still holds every "no" of the one that was heard."""
    return all(mended.count(no) >= folded.count(no) for no in words.no)
