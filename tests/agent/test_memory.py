from __future__ import annotations

from dataclasses import replace

from agentkit.agent.execute import Moved
from agentkit.agent.memory import Done, Memory, spoken_of
from agentkit.devices.adapter import Change, Device
from agentkit.types import Intent, Selector
from tests.agent.house import house_view

LAMP = Done(Intent("turn_on"), ("light.lamp_1",))
ROBO = Done(Intent("vacuum_start"), ("vacuum.robo",))
MOVED = Moved("turn_on", Device("light.lamp_1", "Lamp 1", "light", state="off"), Change("on"))


def test_a_question_leaves_what_undo_would_put_back() -> None:
    memory = Memory(lambda: 0.0)
    memory.keep("s", None, [LAMP], [MOVED])
    memory.keep("s", None, [ROBO], None)
    assert memory.done("s", None) == (ROBO,)
    assert memory.moved("s", None) == (MOVED,)


def test_a_turn_that_moved_nothing_cannot_be_undone_and_hides_the_one_before() -> None:
    memory = Memory(lambda: 0.0)
    memory.keep("s", None, [LAMP], [MOVED])
    memory.keep("s", None, [LAMP], [])
    assert memory.moved("s", None) == ()


def test_what_came_to_nothing_ends_it_but_not_undo() -> None:
    memory = Memory(lambda: 0.0)
    memory.keep("s", None, [LAMP], [MOVED])
    memory.forget("s")
    memory.forget("unknown")
    assert memory.done("s", None) == ()
    assert memory.moved("s", None) == (MOVED,)


def test_the_oldest_session_makes_room() -> None:
    memory = Memory(lambda: 0.0, max_sessions=2)
    for session in ("a", "b", "a", "c"):
        memory.keep(session, None, [LAMP], [])
    assert [bool(memory.done(s, None)) for s in ("a", "b", "c")] == [True, False, True]


def test_it_means_one_thing_and_them_means_several() -> None:
    view = house_view()
    alone = spoken_of([LAMP], view, is_many=False)
    assert alone is not None
    assert alone.device_ids == ("light.lamp_1",)
    assert spoken_of([LAMP, ROBO], view, is_many=False) is None
    both = spoken_of([LAMP, ROBO], view, is_many=True)
    assert both is not None
    assert both.types == ("light", "vacuum")


def test_a_device_that_is_gone_is_not_meant() -> None:
    assert spoken_of([Done(Intent("turn_on"), ("light.gone",))], house_view(), is_many=False) is None


def test_a_sensor_that_was_asked_means_what_changes_its_value_in_its_room_one_of_several() -> None:
    sensor = Device(
        "sensor.warmth", "Warmth", "sensor", area="attic", state="20", attributes={"device_class": "temperature"}
    )
    stove = Device("climate.stove", "Stove", "climate", area="attic", attributes={"current_temperature": 20})
    far = replace(stove, id="climate.far", area="cellar")
    asked = [Done(Intent("get_state"), (sensor.id,))]
    assert spoken_of(asked, house_view(sensor, far), is_many=False) == Selector(
        device_ids=(sensor.id,), types=("sensor",)
    )
    meant = spoken_of(asked, house_view(sensor, stove, far), is_many=False)
    assert meant == Selector(device_ids=(stove.id,), types=("climate",))
    two = spoken_of(asked, house_view(sensor, stove, replace(stove, id="climate.second")), is_many=False)
    assert two is not None
    assert two.is_one
