from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentkit.devices.adapter import Device
from agentkit.devices.registry import Event, Registry
from agentkit.devices.validate import MAX_DEVICES
from agentkit.errors import DeviceError, DeviceUnknown
from tests.devices.home import LAMP, make_home

FAN = Device("fan.new", "Fan", "fan", "den", ("风扇",), "on", {"percentage": 40})


def test_report_merges_attributes_and_removes_those_that_are_none() -> None:
    registry = Registry(make_home())
    registry.report("light.lamp", state="on", attributes={"brightness": None, "rgb_color": [1, 2, 3]})
    assert registry.get("light.lamp").state == "on"
    assert registry.get("light.lamp").attributes == {"rgb_color": [1, 2, 3]}


def test_version_grows_with_names_and_devices_but_not_with_states() -> None:
    registry = Registry(make_home())
    before = registry.version
    registry.report("light.lamp", state="on", is_available=False)
    assert registry.version == before
    registry.upsert(replace(registry.get("light.lamp"), name="Big Lamp"))
    assert registry.version == before + 1
    registry.upsert(FAN)
    registry.remove(FAN.id)
    assert registry.version == before + 3


def test_devices_is_one_snapshot_that_later_reports_do_not_change() -> None:
    registry = Registry(make_home())
    snapshot = registry.devices()
    registry.report("light.lamp", state="on")
    assert next(d for d in snapshot if d.id == "light.lamp").state == "off"
    assert next(d for d in registry.devices() if d.id == "light.lamp").state == "on"


def test_an_unknown_device_is_named_in_the_error() -> None:
    registry = Registry(make_home())
    for call in (registry.get, registry.remove, registry.report):
        with pytest.raises(DeviceUnknown, match=r"light\.nope"):
            call("light.nope")


def test_two_devices_may_have_one_name() -> None:
    registry = Registry(make_home())
    registry.upsert(Device("light.other", "Lamp", "light", "hall"))
    assert [d.id for d in registry.devices() if d.name == "Lamp"] == ["light.lamp", "light.other"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": ""}, "device id"),
        ({"id": "a/../b"}, "device id"),
        ({"id": "x" * 101}, "device id"),
        ({"type": "Light!"}, "type is"),
        ({"name": " "}, "name"),
        ({"name": "a\x00b"}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"aliases": ("ok", "bad\nalias")}, "name"),
        ({"aliases": tuple(f"a{n}" for n in range(41))}, "aliases"),
        ({"area": "moon"}, "area 'moon' is unknown; known are den, hall"),
        ({"attributes": {"x": float("nan")}}, "plain JSON"),
        ({"attributes": {"x": object()}}, "plain JSON"),
        ({"attributes": {"x": "y" * 20_000}}, "at most 16384"),
        ({"state": "x" * 300}, "state: 300 characters, at most 255"),
        ({"endpoint": "file:///etc/passwd"}, "wanted http"),
        ({"endpoint": "http://8.8.8.8/x"}, "private address"),
    ],
)
def test_a_device_that_is_not_acceptable_is_refused_and_changes_nothing(
    change: dict[str, object], message: str
) -> None:
    registry = Registry(make_home())
    version = registry.version
    with pytest.raises(DeviceError, match=message):
        registry.upsert(replace(FAN, **change))  # type: ignore[arg-type]
    assert registry.version == version
    assert len(registry.devices()) == 2


def test_the_number_of_devices_is_bounded_but_known_ones_can_still_change() -> None:
    registry = Registry(make_home(*(Device(f"light.n{n}", "L", "light") for n in range(MAX_DEVICES))))
    with pytest.raises(DeviceError, match="2000 devices"):
        registry.upsert(FAN)
    assert registry.upsert(Device("light.n0", "New name", "light")).name == "New name"


def test_a_report_while_a_device_registers_again_is_kept(tmp_path: Path) -> None:
    registry = Registry(make_home(), store=tmp_path / "devices.json")
    is_first = True

    def build(known: Device | None) -> Device:
        nonlocal is_first
        assert known is not None
        if is_first:
            is_first = False
            registry.report("light.lamp", state="on", attributes={"power": 5})
        return replace(known, name="Renamed")

    registry.register("light.lamp", build)
    lamp = registry.get("light.lamp")
    assert (lamp.name, lamp.state, lamp.attributes["power"]) == ("Renamed", "on", 5)


def test_a_report_while_the_registration_is_written_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "devices.json"
    registry = Registry(make_home(), store=store)
    with monkeypatch.context() as slow:
        slow.setattr("agentkit.devices.store.os.fsync", lambda _: registry.report("light.lamp", state="on") and None)
        registry.register("light.lamp", lambda known: replace(known or LAMP, name="Renamed"))
    registry.close()
    again = Registry(make_home(), store=store).get("light.lamp")
    assert (again.name, again.state) == ("Renamed", "on")


def test_a_device_removed_while_it_registers_is_not_half_there() -> None:
    registry = Registry(make_home())
    with pytest.raises(DeviceUnknown):
        registry.register("light.none", lambda known: known or registry.get("light.none"))
    assert len(registry.devices()) == 2


def test_a_device_cannot_be_registered_under_another_id() -> None:
    registry = Registry(make_home())
    with pytest.raises(DeviceError, match="keep its id"):
        registry.register("light.lamp", lambda _: FAN)
    assert len(registry.devices()) == 2


def test_a_device_cannot_newly_be_called_by_a_small_word() -> None:
    registry = Registry(make_home(replace(LAMP, name="The")), is_small_word=lambda name: name.lower() in ("the", "all"))
    for build in (lambda _: replace(FAN, name="all"), lambda _: replace(FAN, aliases=("Fan", "THE"))):
        with pytest.raises(DeviceError, match="means something else in sentences; choose a name of its own"):
            registry.register(FAN.id, build)
    assert registry.warnings == (
        "device light.lamp: 'The' means something else in sentences; choose a name of its own",
    )
    registry.register("light.lamp", lambda known: replace(known or LAMP, state="on"))  # it has that name already


def test_listeners_hear_what_happened_in_order_until_they_leave() -> None:
    registry, heard = Registry(make_home()), list[Event]()
    leave = registry.subscribe(heard.append)
    registry.report("light.lamp", state="on")
    registry.report("light.lamp", state="on")  # says nothing new
    registry.upsert(FAN)
    registry.remove(FAN.id)
    leave()
    registry.report("light.lamp", state="off")
    assert [e.kind for e in heard] == ["changed", "registered", "removed"]
    assert [e.number for e in heard] == sorted(e.number for e in heard)
    assert heard[0].before is not None
    assert (heard[0].before.state, heard[0].device.state) == ("off", "on")


def test_a_failing_listener_does_not_undo_the_report(caplog: pytest.LogCaptureFixture) -> None:
    registry, heard = Registry(make_home()), list[Event]()

    def fail(event: Event) -> None:
        raise RuntimeError("broken listener")

    registry.subscribe(fail)
    registry.subscribe(heard.append)
    assert registry.report("light.lamp", state="on").state == "on"
    assert len(heard) == 1
    assert "listener failed" in caplog.text


def test_reports_from_many_threads_are_all_kept() -> None:
    registry = Registry(make_home())

    def work(n: int) -> None:
        for i in range(100):
            registry.report("light.lamp", attributes={f"t{n}": i})

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {registry.get("light.lamp").attributes[f"t{n}"] for n in range(8)} == {99}


def test_what_was_registered_renamed_removed_and_reported_survives_a_restart(tmp_path: Path) -> None:
    store = tmp_path / "state" / "devices.json"
    first = Registry(make_home(), store=store)
    first.upsert(FAN)
    first.upsert(replace(LAMP, name="Renamed"))
    first.remove("lock.door")
    first.report("light.lamp", state="on", attributes={"brightness": None, "hue": 3})
    first.report(FAN.id, is_available=False)
    first.close()
    again = Registry(make_home(), store=store)
    assert {d.id for d in again.devices()} == {"light.lamp", "fan.new"}
    lamp = again.get("light.lamp")
    assert (lamp.name, lamp.state, lamp.attributes) == ("Renamed", "on", {"hue": 3, "former_names": ["Lamp"]})
    assert again.get(FAN.id) == replace(FAN, is_available=False)


def test_a_new_attribute_in_the_home_file_shows_beside_the_saved_state(tmp_path: Path) -> None:
    store = tmp_path / "devices.json"
    first = Registry(make_home(), store=store)
    first.report("light.lamp", state="on", attributes={"brightness": 7})
    first.close()
    edited = replace(LAMP, name="Edited", attributes={"brightness": 100, "supported_color_modes": ["rgb"]})
    lamp = Registry(make_home(edited), store=store).get("light.lamp")
    assert (lamp.name, lamp.state) == ("Edited", "on")
    assert lamp.attributes == {"brightness": 7, "supported_color_modes": ["rgb"]}


def test_a_registration_is_on_disk_before_upsert_returns(tmp_path: Path) -> None:
    store = tmp_path / "devices.json"
    Registry(make_home(), store=store).upsert(FAN)
    assert "fan.new" in json.loads(store.read_text())["devices"]


def test_a_state_report_reaches_the_disk_without_being_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentkit.devices.store.SAVE_DELAY_S", 0.01)
    store, saved = tmp_path / "devices.json", threading.Event()
    registry = Registry(make_home(), store=store)
    flush = registry.flush
    monkeypatch.setattr(registry, "flush", lambda: (flush(), saved.set()))
    registry.report("light.lamp", state="on")
    assert saved.wait(5)
    assert json.loads(store.read_text())["states"]["light.lamp"]["state"] == "on"


@pytest.mark.parametrize(
    "content",
    [
        b"{broken",
        b"",
        b"\xff\xfe",
        b"[1]",
        b'{"format": 99}',
        b'{"format": 1, "states": 5}',
        b"[" * 100_000,
        b'{"format": ' + b"9" * 5_000 + b"}",
    ],
    ids=["half", "empty", "no UTF-8", "a list", "another format", "no tables", "deep", "a long number"],
)
def test_a_store_that_cannot_be_read_is_kept_aside_with_a_warning(tmp_path: Path, content: bytes) -> None:
    store = tmp_path / "devices.json"
    store.write_bytes(content)
    registry = Registry(make_home(), store=store)
    assert len(registry.devices()) == 2
    assert (tmp_path / "devices.json.corrupt-1").read_bytes() == content
    assert len(registry.warnings) == 1
    assert "devices.json.corrupt-1" in registry.warnings[0]
    registry.upsert(FAN)
    assert Registry(make_home(), store=store).get(FAN.id) == FAN


def test_one_bad_entry_in_the_store_does_not_cost_the_others(tmp_path: Path) -> None:
    store = tmp_path / "devices.json"
    first = Registry(make_home(), store=store)
    first.upsert(FAN)
    document = json.loads(store.read_text())
    document["devices"]["x"] = {"name": 3, "type": "light"}
    document["devices"]["y"] = "nonsense"
    document["devices"]["z"] = {"name": "Z", "type": "light", "area": "gone"}
    document["states"]["light.lamp"] = {"state": 5, "attributes": "?"}
    store.write_text(json.dumps(document))
    again = Registry(make_home(), store=store)
    assert {d.id for d in again.devices()} == {"light.lamp", "lock.door", "fan.new"}
    assert len(again.warnings) == 5
    assert "kept as devices.json.corrupt-1" in again.warnings[0]
    assert json.loads((tmp_path / "devices.json.corrupt-1").read_text()) == document


def save_raw(store: Path, states: str, devices: str = "{}") -> None:
    """Write a store by hand, with what `json` would not write."""
    store.write_text(f'{{"format": 1, "removed": [], "devices": {devices}, "states": {states}}}')


@pytest.mark.parametrize(
    "row",
    ['{"state": "\\ud800"}', '{"attributes": {"x": NaN}}', '{"attributes": {"\\u001b": 1}}', '{"state": [1]}', "5",
     f'{{"attributes": {{"x": {"[" * 300}1{"]" * 300}}}}}', f'{{"attributes": {{"x": {"9" * 4_000}}}}}'],
)  # fmt: skip
def test_a_saved_state_is_checked_like_a_live_one(tmp_path: Path, row: str) -> None:
    store = tmp_path / "devices.json"
    save_raw(store, f'{{"light.lamp": {row}, "lock.door": {{"state": "unlocked"}}}}')
    registry = Registry(make_home(), store=store)
    assert registry.get("light.lamp") == LAMP
    assert registry.get("lock.door").state == "unlocked"
    assert len(registry.warnings) == 2
    assert registry.close()


@pytest.mark.parametrize("key", ["\\ud800", "x\\u001b[2J", "灯", "a\\nb", "x" * 200])
def test_a_warning_about_a_saved_device_can_be_printed(tmp_path: Path, key: str) -> None:
    store = tmp_path / "devices.json"
    save_raw(store, "{}", f'{{"{key}": {{"name": "A", "type": "light"}}, "lamp": {{"id": "b", "name": 1}}}}')
    registry = Registry(make_home(), store=store)
    assert len(registry.devices()) == 2
    assert len(registry.warnings) == 3
    assert all(line.isprintable() and line.encode() for line in registry.warnings)


def test_many_bad_entries_in_the_store_are_few_lines(tmp_path: Path) -> None:
    store = tmp_path / "devices.json"
    save_raw(store, "{}", json.dumps({f"d{n}": {} for n in range(500)}))
    warnings = Registry(make_home(), store=store).warnings
    assert len(warnings) == 6
    assert "496 more" in warnings[-1]


def test_a_saved_device_keeps_the_id_that_it_was_saved_under(tmp_path: Path) -> None:
    store = tmp_path / "devices.json"
    save_raw(store, "{}", '{"a": {"id": "b", "name": "A", "type": "light"}}')
    assert Registry(make_home(), store=store).get("a").id == "a"


def test_a_store_that_cannot_even_be_renamed_does_not_keep_the_home_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "devices.json"
    store.write_text("{")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("agentkit.devices.store.os.replace", refuse)
    registry = Registry(make_home(), store=store)
    assert len(registry.devices()) == 2
    assert "cannot be renamed either (Permission denied)" in registry.warnings[0]


def fail_to_sync(descriptor: int) -> None:
    raise OSError(28, "No space left on device")


def test_a_registration_that_cannot_be_saved_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "devices.json"
    registry = Registry(make_home(), store=store)
    registry.upsert(FAN)
    before = store.read_bytes()
    monkeypatch.setattr("agentkit.devices.store.os.fsync", fail_to_sync)
    with pytest.raises(DeviceError, match="No space left on device"):
        registry.upsert(replace(FAN, name="Other"))
    with pytest.raises(DeviceError, match="nothing was changed"):
        registry.remove(FAN.id)
    assert registry.get(FAN.id) == FAN
    assert store.read_bytes() == before


def test_a_disk_that_is_full_at_the_end_is_one_line_and_leaves_the_file_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store = tmp_path / "devices.json"
    registry = Registry(make_home(), store=store)
    registry.upsert(FAN)
    before = store.read_bytes()
    registry.report("light.lamp", state="on")
    with monkeypatch.context() as full:
        full.setattr("agentkit.devices.store.os.fsync", fail_to_sync)
        assert not registry.close()
        assert not registry.close()
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "devices.json cannot be written (No space left on device)" in caplog.text
    assert [path.name for path in tmp_path.iterdir()] == ["devices.json"]
    assert store.read_bytes() == before
    assert registry.close()


def test_whatever_keeps_states_from_being_saved_ends_neither_the_home_nor_the_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def break_down(*_: object) -> None:
        raise RuntimeError("two\nlines")

    registry = Registry(make_home(), store=tmp_path / "devices.json")
    monkeypatch.setattr("agentkit.devices.store.write_atomically", break_down)
    with pytest.raises(DeviceError, match=r"RuntimeError: two lines.*nothing was changed"):
        registry.upsert(replace(FAN, attributes={}))
    assert len(registry.devices()) == 2
    assert not registry.close()
    assert "RuntimeError: two lines" in caplog.text


def test_states_that_cannot_be_saved_now_are_saved_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("agentkit.devices.store.SAVE_DELAY_S", 0.01)
    store, logged = tmp_path / "devices.json", threading.Event()
    monkeypatch.setattr("agentkit.devices.store.log.error", lambda *args: logged.set())
    registry = Registry(make_home(), store=store)
    with monkeypatch.context() as broken:
        broken.setattr("agentkit.devices.store.os.fsync", fail_to_sync)
        registry.report("light.lamp", state="on")
        assert logged.wait(5)
    registry.close()
    assert Registry(make_home(), store=store).get("light.lamp").state == "on"


@pytest.mark.parametrize("write", [Registry.flush, lambda registry: registry.upsert(FAN)], ids=["states", "a device"])
def test_devices_are_read_and_report_while_something_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Registry], object]
) -> None:
    store, is_writing, go_on = tmp_path / "devices.json", threading.Event(), threading.Event()
    registry = Registry(make_home(), store=store)
    registry.report("light.lamp", state="on")

    def sync_slowly(descriptor: int) -> None:
        is_writing.set()
        assert go_on.wait(5)

    with monkeypatch.context() as slow:
        slow.setattr("agentkit.devices.store.os.fsync", sync_slowly)
        writing = threading.Thread(target=write, args=(registry,))
        writing.start()
        assert is_writing.wait(5)
        reporting = threading.Thread(target=registry.report, args=("light.lamp",), kwargs={"state": "off"})
        reporting.start()
        reporting.join(2)
        was_heard = registry.get("light.lamp").state
        go_on.set()
        writing.join(5)
    assert (reporting.is_alive(), was_heard) == (False, "off")
    assert json.loads(store.read_text())["states"]["light.lamp"]["state"] == "on"
    registry.close()
    assert Registry(make_home(), store=store).get("light.lamp").state == "off"
