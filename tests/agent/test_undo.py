from __future__ import annotations

from agentkit.agent.execute import Moved
from agentkit.agent.undo import MAX_CHARS, RESTORE, plan_undo
from agentkit.devices.adapter import Change, Device
from agentkit.understanding.tools import Tool
from tests.agent.house import TOOLS, house_view


def decide(tool: Tool, device: Device) -> object:
    return tool.function(device)


def moved(device_id: str, tool: str, change: Change, **before: object) -> Moved:
    device = house_view().device(device_id)
    assert device is not None
    fields = {"state": device.state, "attributes": device.attributes, **before}
    return Moved(tool, Device(device.id, device.name, device.type, **fields), change)  # type: ignore[arg-type]


def test_a_tool_of_the_app_is_preferred() -> None:
    plan = plan_undo([moved("lock.front", "lock", Change("locked"), state="unlocked")], house_view(), TOOLS, decide)
    assert [(i.tool, i.selector.device_ids) for i in plan.intents] == [("unlock", ("lock.front",))]


def test_values_come_back_with_restore() -> None:
    change = Change("off", {"brightness": 100})
    plan = plan_undo(
        [moved("light.kitchen_ceiling", "set_brightness", change, attributes={"brightness": 20})],
        house_view(),
        TOOLS,
        decide,
    )
    assert [i.tool for i in plan.intents] == [RESTORE]
    assert plan.intents[0].args["attributes"] == '{"brightness": 20}'


def test_the_first_state_of_a_turn_counts_and_the_last_device_comes_first() -> None:
    steps = [
        moved("light.lamp_1", "turn_on", Change("on"), state="on"),
        moved("light.lamp_11", "turn_on", Change("on"), state="on"),
        moved("light.lamp_1", "turn_off", Change("off"), state="off"),
    ]
    plan = plan_undo(steps, house_view(), TOOLS, decide)
    assert [(i.tool, i.selector.device_ids[0]) for i in plan.intents] == [
        ("turn_on", "light.lamp_11"),
        ("turn_on", "light.lamp_1"),
    ]


def test_what_is_as_before_is_left_alone() -> None:
    plan = plan_undo([moved("lock.front", "lock", Change("locked"))], house_view(), TOOLS, decide)
    assert (plan.intents, plan.stuck_ids) == ((), ())


def test_what_names_nothing_or_too_much_cannot_be_put_back() -> None:
    long = {"items": ["x" * MAX_CHARS]}
    steps = [
        moved("vacuum.robo", "vacuum_start", Change(None)),
        moved("light.lamp_1", "turn_on", Change(None, {"items": []}), attributes=long),
    ]
    plan = plan_undo(steps, house_view(), TOOLS, decide)
    assert plan.intents == ()
    assert set(plan.stuck_ids) == {"vacuum.robo", "light.lamp_1"}
