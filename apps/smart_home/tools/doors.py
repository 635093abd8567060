"""Doors: what a lock, a contact and a garage door can tell of whether a door is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentkit.devices.adapter import Device
from agentkit.devices.view import View

CONTACTS = ("door", "garage_door", "gate", "opening")
DOOR_COVERS = ("garage", "gate", "door")
_OPENNESS = ("open", "opened", "closed", "shut", "ajar")


def is_door(device: Device) -> bool:
    """Whether people would count it among the doors."""
    classes = {"cover": DOOR_COVERS, "binary_sensor": CONTACTS}
    return device.type == "lock" or device.device_class in classes.get(device.type, ())


def tells_only_lock(device: Device, state: str) -> bool:
    """Whether it is asked of a lock if the door is open, which being locked or not does not tell."""
    return device.type == "lock" and state in _OPENNESS


def with_contacts(devices: Sequence[Device], state: str, home: View | None) -> tuple[Device, ...]:
    """The devices with every lock as the contact of its door, if it has one: that decides whether the door is open."""
    known = {d.id: d for d in (*(home.devices if home else ()), *devices)}
    contacts = [d for d in known.values() if d.type == "binary_sensor" and d.device_class in CONTACTS]
    locks = [d for d in devices if tells_only_lock(d, state)]
    own = {lock.id: contact for lock in locks if (contact := _contact_of(lock, contacts)) is not None}
    if not own:
        return tuple(devices)
    deciding = {c.id for c in own.values() if c.is_available and c.state in ("on", "off")}
    found: dict[str, Device] = {}
    for device in devices:
        contact = own.get(device.id)
        if contact is not None and contact.id in deciding:
            found[device.id] = replace(contact, id=device.id, name=device.name, aliases=device.aliases)
        elif device.id not in deciding:
            found[device.id] = device
            found |= {contact.id: contact} if contact is not None else {}
    return tuple(found.values())


def open_behind(locks: Sequence[Device], home: View | None) -> dict[str, Device]:
    """Lock → the contact of its door, by the lock's name, where that is open: a bolt beside its frame locks nothing."""
    contacts = [d for d in (home.devices if home else ()) if d.type == "binary_sensor" and d.device_class in CONTACTS]
    own = ((lock, _contact_of(lock, contacts)) for lock in locks if lock.type == "lock")
    return {
        lock.id: replace(contact, id=lock.id, name=lock.name, aliases=lock.aliases)
        for lock, contact in own
        if contact is not None and contact.is_available and contact.state == "on"
    }


def _contact_of(lock: Device, contacts: Sequence[Device]) -> Device | None:
    """The contact that is called like a lock, but for a last word that tells what it is ("… lock", "… sensor")."""
    near = (c for c in contacts if c.area == lock.area or None in (c.area, lock.area))
    return next((c for c in near if any(_is_alike(a, b) for a in lock.names for b in c.names)), None)


def _is_alike(lock: str, contact: str) -> bool:
    ours, theirs = _pieces(lock), _pieces(contact)
    heads = [ours, ours[:-1]] if len(ours) > 2 else [ours]
    return any(theirs[: len(head)] == head for head in heads)


def _pieces(name: str) -> list[str]:
    """Words of a name; of a Chinese one its characters."""
    folded = name.casefold()
    return folded.split() if folded.isascii() else list(folded.replace(" ", ""))
