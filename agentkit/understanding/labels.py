"""What the model may point at: one unambiguous label per device, and one per kind in a room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agentkit.devices.adapter import Device
from agentkit.types import Selector
from agentkit.understanding.home_view import HomeView


@dataclass(frozen=True)
class Label:
    """A name that the grammar offers, and what it stands for."""

    text: str
    device_type: str
    selector: Selector


def make_labels(devices: Sequence[Device], view: HomeView) -> tuple[Label, ...]:
    """Labels for devices, then for every kind that a room holds twice or more.

    A name that two devices share gets its room, and its id if the room is shared too.
    """
    plain = Counter(d.name for d in devices)
    roomy = Counter(_with_room(d, view) for d in devices)
    labels = [Label(_label(d, plain, roomy, view), d.type, Selector(device_ids=(d.id,))) for d in devices]
    taken = {x.text for x in labels}
    groups = Counter((d.area, d.type) for d in devices if d.area)
    for (area_id, device_type), n_devices in groups.items():
        area = view.area(area_id)
        text = f"all {device_type} {area.name}" if area else ""
        if area is not None and n_devices > 1 and text not in taken:
            labels.append(Label(text, device_type, Selector(areas=(area.id,), types=(device_type,))))
    return tuple(labels)


def labels_of_types(labels: Iterable[Label], types: Sequence[str]) -> tuple[Label, ...]:
    """The labels that a tool for these types can act on; no types = all of them."""
    return tuple(x for x in labels if not types or x.device_type in types)


def _with_room(device: Device, view: HomeView) -> str:
    area = view.area(device.area)
    return f"{device.name} ({area.name})" if area else device.name


def _label(device: Device, plain: Counter[str], roomy: Counter[str], view: HomeView) -> str:
    if plain[device.name] == 1:
        return device.name
    text = _with_room(device, view)
    return text if roomy[text] == 1 and text != device.name else f"{device.name} [{device.id}]"
