"""Shopping and to-do lists."""

from __future__ import annotations

from agentkit.devices.adapter import Device
from agentkit.understanding.tools import Answer, Decision, tool

from .common import as_number, refuse, to

LIST = ("todo",)
MAX_ITEM = 200
MAX_ITEMS = 500


@tool(types=LIST)
def add_to_list(device: Device, item: str) -> Decision:
    """Put an item on a list."""
    text = " ".join(item.split())
    if not text or len(text) > MAX_ITEM:
        return refuse("bad_item", device, max_length=MAX_ITEM)
    items = open_items(device)
    if text.casefold() in (x.casefold() for x in items):
        return to(device, None, {"items": items}, item=text)
    if len(items) >= MAX_ITEMS:
        return refuse("list_full", device, count=len(items))
    return _write(device, [*items, text], _count(device) + 1, item=text)


@tool(types=LIST)
def remove_list_item(device: Device, item: str) -> Decision:
    """Take an item off a list."""
    items = open_items(device)
    found = _find(items, item)
    if found is None:
        return refuse("no_such_item", device, item=item)
    return _write(device, [x for x in items if x != found], _count(device) - 1, item=found)


@tool(types=LIST)
def complete_list_item(device: Device, item: str) -> Decision:
    """Tick an item off a list as done."""
    items = open_items(device)
    found = _find(items, item)
    if found is None:
        return refuse("no_such_item", device, item=item)
    return _write(device, [x for x in items if x != found], _count(device) - 1, item=found)


@tool(types=LIST, is_told=False)
def clear_list(device: Device) -> Decision:
    """Take everything off a list; the reply tells what was on it, and "undo" puts it back."""
    items = open_items(device)
    values = {"items": items} if items else {}
    return to(device, "0", {"items": []}, count=0, **values)


@tool(types=LIST, is_query=True)
def get_list(devices: tuple[Device, ...]) -> Answer:
    """Read out what is on a list."""
    rows = [{"name": d.name, "device_id": d.id, "items": open_items(d), "count": _count(d)} for d in devices]
    if not rows:
        return Answer("list.none")
    if len(rows) > 1:
        return Answer("list.many", {"lists": rows, "device_ids": [d.id for d in devices]})
    row = rows[0]
    if not row["items"] and row["count"]:
        return Answer("list.count", row)
    return Answer("list.items" if row["items"] else "list.empty", row)


def open_items(device: Device) -> list[str]:
    """Return the items that are still to be bought or done."""
    listed = device.attributes.get("items")
    return [str(x) for x in listed] if isinstance(listed, list | tuple) else []


def _count(device: Device) -> int:
    """Count the items; a list that keeps them to itself tells only how many there are."""
    if "items" in device.attributes:
        return len(open_items(device))
    return int(as_number(device.state) or 0)


def _find(items: list[str], wanted: str) -> str | None:
    """Find an item by its exact words, else the only one that contains or is contained in them."""
    text = " ".join(wanted.split()).casefold()
    exact = next((x for x in items if x.casefold() == text), None)
    if exact is not None or not text:
        return exact
    near = [x for x in items if text in x.casefold() or x.casefold() in text]
    return near[0] if len(near) == 1 else None


def _write(device: Device, items: list[str], count: int, *, item: str) -> Decision:
    return to(device, str(max(0, count)), {"items": items}, item=item, count=max(0, count))
