"""Split a clause at "and", and give every part what it shares with its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from agentkit.understanding.entries import PLACES, TARGETS, VALUES, VERBS, Item, Role

_PLACES = frozenset({Role.AREA, Role.FLOOR})
_THINGS = TARGETS - _PLACES
_ORIGIN = VALUES | {Role.UNIT, Role.FILLER}

GUARDS = frozenset({"lock"})
"""Types that guard the home: of several, none is chosen by the room that another command spoke of."""


@dataclass(frozen=True)
class Group:
    """The pieces between two "and"s."""

    items: tuple[Item, ...] = ()

    def of(self, *roles: Role) -> tuple[str, ...]:
        """Distinct values of these roles, in the order spoken."""
        return tuple(dict.fromkeys(i.value for i in self.items if i.role in roles))

    def has(self, *roles: Role) -> bool:
        """Whether any piece has one of these roles."""
        return not self._roles.isdisjoint(roles)

    @cached_property
    def _roles(self) -> frozenset[Role]:
        return frozenset(i.role for i in self.items)

    @property
    def values(self) -> tuple[Item, ...]:
        """The wanted values."""
        return tuple(i for i in self.items if i.role in VALUES)

    @property
    def is_all(self) -> bool:
        """Whether all of a kind are meant, wherever they are, as "the doors" are all that can be locked."""
        return self.has(Role.ALL, Role.HOME) or any(i.is_plural and i.value in GUARDS for i in self.items)

    def __add__(self, other: Group) -> Group:
        return Group(self.items + other.items)


def make_groups(items: Sequence[Item]) -> list[Group]:
    """The parts of a clause; rooms and values that stand alone join the part they belong to."""
    parts: list[Group] = [Group()]
    for item in items:
        if item.role is Role.ALSO:
            parts.append(Group())
        elif item.role not in VERBS:
            parts[-1] += Group((item,))
    parts = [p for p in parts if p.items] or [Group()]
    joined: list[Group] = []
    for part in parts:
        if not joined or (part.has(*_THINGS) and joined[-1].has(*_THINGS)):
            joined.append(part)
        elif joined[-1].has(Role.NAME) and part.has(*_PLACES) and not part.has(*_THINGS):
            joined.append(_things_of(joined[-1]) + part)  # "the lamp in the hall and the kitchen"
        elif not part.has(*TARGETS) or not joined[-1].has(*TARGETS) or _is_room_list(joined[-1], part):
            joined[-1] += part
        else:
            joined.append(part)
    return _share_values(joined)


def share_place(groups: Sequence[Group]) -> list[Group]:
    """Parts without a place get that of the last part."""
    place = Group(tuple(i for i in groups[-1].items if i.role in _PLACES))
    return [g if g.has(*_PLACES) else g + place for g in groups]


def borrowed_places(clauses: Sequence[Sequence[Item]], n: int) -> tuple[tuple[Item, ...], ...]:
    """Places that a clause may take from its neighbours, the likeliest first; the last is none.

    From what was said before; else from a place at the end of the sentence, which holds for all of it.
    """
    if any(i.role in PLACES or i.role is Role.IT for i in clauses[n]):
        return ((),)
    earlier = next((p for c in clauses[:n][::-1] if (p := _place_of(c))), ())
    targets = [i for i in clauses[-1] if i.role in TARGETS]
    is_last = len(targets) > 1 and targets[-1].role in _PLACES
    later = _place_of(clauses[-1]) if is_last and n < len(clauses) - 1 else ()
    choices = [*(p for p in (earlier, later) if p), ()]
    is_about_before = n > 0 and not any(i.role in _THINGS for i in clauses[n])  # "… and make it brighter"
    return tuple(dict.fromkeys(choices[::-1] if is_about_before else choices))


def _place_of(clause: Sequence[Item]) -> tuple[Item, ...]:
    return tuple(i for i in clause if i.role in _PLACES)


def without_origin(cut: Sequence[Item]) -> Sequence[Item]:
    """The pieces without the value that something is to leave: "from red to green".

    Without a value a word such as 从 stays: there it tells a place or a time.
    """
    for n, item in enumerate(cut):
        if item.role is Role.FROM:
            ends = [m for m in range(n + 1, len(cut)) if cut[m].role in (Role.TO, Role.ACT)]
            inner = cut[n + 1 : ends[0]] if ends else ()
            if any(i.role in VALUES for i in inner) and all(i.role in _ORIGIN for i in inner):
                return [*cut[:n], *cut[ends[0] :]]
            return [*cut[:n], *cut[n + 1 :]] if item.text.isascii() else cut
    return cut


def _things_of(group: Group) -> Group:
    return Group(tuple(i for i in group.items if i.role in _THINGS))


def _is_room_list(left: Group, right: Group) -> bool:
    """ "kitchen and bedroom lights", "lights in the kitchen and bedroom"."""
    rooms_left, rooms_right = not left.has(*_THINGS), not right.has(*_THINGS)
    return (rooms_left or (rooms_right and left.has(*_PLACES))) and not right.has(Role.NAME)


def _share_values(groups: Sequence[Group]) -> list[Group]:
    """ "the lamp and the fan to 50 %", "red on the lamp and the strip": a part without value takes its neighbour's."""
    shared: list[Group] = []
    for n, group in enumerate(groups):
        donor = next((g for g in groups[n + 1 :] if g.values), None) or next(
            (g for g in shared[::-1] if g.values), None
        )
        if donor is not None and not group.values:
            group = group + Group(tuple(i for i in donor.items if i.role not in TARGETS))
        shared.append(group)
    return shared
