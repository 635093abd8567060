"""What stands in the file never stops the start, and no good plan is lost for a bad one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agentkit.agent.schedule import Schedule
from agentkit.agent.schedule_file import Saved, ScheduleFile
from agentkit.planned import Entry, EntryKind

NOON = datetime(2026, 1, 15, 12, 0)


def timer(entry_id: str = "") -> Entry:
    return Entry(EntryKind.TIMER, NOON + timedelta(hours=1), NOON, entry_id, duration_s=3600.0)


def opened(path: Path) -> Schedule:
    return Schedule(now=lambda: NOON, clock=lambda: 1000.0, path=path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "schedule.json"
    ScheduleFile(path).save(Saved((timer("timer-1"), timer("timer-2")), (), 3))
    return path


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000,
        b'{"format": 1, "entries": ' + b'{"a":' * 50_000,
        b"",
        b"\xff\xfe\x00",
        b'{"format": 1, "entries": [{"id": "time',
        b'{"format": 99}',
        b"null",
        b'{"format": 1, "next_id": ' + b"9" * 5_000 + b"}",
    ],
)
def test_file_that_cannot_be_read_is_kept_aside_and_the_home_starts(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "schedule.json"
    path.write_bytes(data)

    schedule = opened(path)

    assert schedule.entries() == ()
    assert len(schedule.warnings) == 1
    assert "\n" not in schedule.warnings[0]
    assert (tmp_path / "schedule.json.corrupt-1").read_bytes() == data
    schedule.add(timer())
    assert len(opened(path).entries()) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"due": "9999-12-31T23:59:59+00:00"},
        {"due": "0001-01-01T00:00:00+14:00"},
        {"due": None, "left_s": 1e300},
        {"left_s": float("nan")},
        {"duration_s": -5},
        {"duration_s": 10**400},
        {"kind": "rocket"},
        {"id": 7},
        {"intents": [{"tool": "turn_on", "selector": {"areas": "kitchen"}}]},
        {"intents": [{"tool": "turn_on", "selector": {"nope": []}}]},
        {"when": {"kind": "at", "month_day": [1]}},
        {"when": {"kind": "recurring", "hour": 7, "minute": 99}},
        {"when": {"kind": "recurring", "hour": 7, "weekdays": [9]}},
        {"id": "timer-2"},
    ],
)
def test_bad_entry_is_left_out_with_a_line_and_the_good_ones_stay(path: Path, change: dict[str, Any]) -> None:
    document = json.loads(path.read_text("utf-8"))
    document["entries"].append({**document["entries"][0], "id": "timer-3", **change})
    path.write_text(json.dumps(document), "utf-8")

    schedule = opened(path)

    assert [e.id for e in schedule.entries()] == ["timer-1", "timer-2"]
    assert len(schedule.warnings) == 2
    assert "left out" in schedule.warnings[0]


def test_entries_of_another_kind_than_a_list_are_told(path: Path) -> None:
    path.write_text('{"format": 1, "entries": {"a": 1}}', "utf-8")
    assert "entries is left out" in opened(path).warnings[0]


@pytest.mark.parametrize("next_id", [1, 0, -4, True, "x", None, 10**30])
def test_wrong_next_number_never_makes_a_new_plan_replace_an_old_one(path: Path, next_id: object) -> None:
    document = {**json.loads(path.read_text("utf-8")), "next_id": next_id}
    path.write_text(json.dumps(document), "utf-8")

    schedule = opened(path)

    assert schedule.add(timer()).id == "timer-3"
    assert len(schedule.entries()) == 3


def test_broken_file_that_cannot_be_set_aside_stays_and_the_home_starts(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_text("{")

    def refuse(*_: object) -> None:
        raise PermissionError(
            13, "Permission denied"
        )  # as a folder that cannot be written does; root may write anywhere

    monkeypatch.setattr("os.replace", refuse)
    monkeypatch.setattr(Path, "replace", refuse)
    monkeypatch.setattr(Path, "rename", refuse)

    assert "left where it is" in opened(path).warnings[0]
    assert path.read_text() == "{"


SAVING = """
import sys
from pathlib import Path
from tests.agent.test_schedule_file import Saved, ScheduleFile, timer
file, n = ScheduleFile(Path(sys.argv[1])), 2
print("go", flush=True)
while True:
    n = 2 + (n + 1) % 50
    file.save(Saved(tuple(timer(f"timer-{i}") for i in range(1, n + 1)), (), n + 1))
"""


def test_kill_while_saving_leaves_a_whole_file(path: Path) -> None:
    for attempt in range(4):
        process = subprocess.Popen([sys.executable, "-c", SAVING, str(path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"go\n"
        time.sleep(0.05 + 0.03 * attempt)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()

        schedule = opened(path)

        assert schedule.warnings == ()
        assert len(schedule.entries()) >= 2


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("text", "it is str, wanted a mapping"),
        ({"id": "timer-9", "left_s": 3, "kind": "timer"}, "created is missing"),
        ({"id": "timer-9", "left_s": 3, "kind": "timer", "created": "2026-01-01", "when": "x"}, "of another kind"),
        ({"id": "timer-9", "left_s": 3, "kind": "timer", "created": "2026-01-01", "intents": ["x"]}, "of another kind"),
    ],
)
def test_a_file_with_a_bad_row_is_kept_whole_and_the_reason_is_about_the_file(
    path: Path, row: object, reason: str
) -> None:
    document = json.loads(path.read_text())
    document["entries"].append(row)
    path.write_text(json.dumps(document))
    schedule = opened(path)
    assert [e.id for e in schedule.entries()] == ["timer-1", "timer-2"]
    bad, kept = schedule.warnings
    assert reason in bad
    assert "Error" not in bad
    assert "kept as schedule.json.corrupt-1" in kept
    schedule.remove("timer-1")
    assert json.loads(path.with_name("schedule.json.corrupt-1").read_text()) == document
