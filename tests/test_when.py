"""When something is due, for every way of saying a time."""

from __future__ import annotations

from datetime import datetime

import pytest

from agentkit.when import When, WhenKind, end_of, read_spec, when_from_dict

THURSDAY_NOON = datetime(2026, 1, 15, 12, 0)


def due(when: When, now: datetime = THURSDAY_NOON) -> str | None:
    found = when.due(now)
    return None if found is None else found.isoformat(sep=" ", timespec="minutes")


def test_a_delay_counts_from_now() -> None:
    assert due(When(WhenKind.DELAY, 90 * 60)) == "2026-01-15 13:30"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("9:00", "2026-01-15 21:00"),  # neither half of the day was said: the next nine o'clock
        ("09:00", "2026-01-16 09:00"),
        ("12:00", "2026-01-16 00:00"),
        ("23:30", "2026-01-15 23:30"),
        ("7:00 +1", "2026-01-16 07:00"),
        ("24:00", "2026-01-16 00:00"),
        ("25:00", "2026-01-16 01:00"),
        ("08:00 on 5", "2026-01-16 08:00"),
        ("08:00 on 4", "2026-01-22 08:00"),
        ("13:00 on 4", "2026-01-15 13:00"),
        ("08:00 on 5+", "2026-01-23 08:00"),
        ("08:00 on 1+", "2026-01-19 08:00"),
        ("08:00 on 03-01", "2026-03-01 08:00"),
        ("07:00 every 1,2,3,4,5", "2026-01-16 07:00"),
        ("07:00 every 6,7", "2026-01-17 07:00"),
        ("07:00 +0", None),
    ],
)
def test_the_first_fitting_moment_after_now(spec: str, expected: str | None) -> None:
    when = read_spec(spec)
    assert when is not None
    assert due(when) == expected


@pytest.mark.parametrize("spec", ["9:00", "09:00", "7:05 +1", "08:00 on 5", "08:00 on 03-01", "07:00 every 1,2,3"])
def test_a_spec_says_what_it_read(spec: str) -> None:
    when = read_spec(spec)
    assert when is not None
    assert when.spec() == spec


@pytest.mark.parametrize("text", ["", "nine", "9", "99:00", "07:61", "07:00 every 9", "07:00 tomorrow"])
def test_what_is_no_spec_is_none(text: str) -> None:
    assert read_spec(text) is None


def test_a_settled_time_keeps_its_half_of_the_day() -> None:
    settled = When(WhenKind.AT, hour=9, is_half_open=True).settled(THURSDAY_NOON)
    assert (settled.hour, settled.is_half_open) == (21, False)


def test_plain_data_and_back_is_the_same() -> None:
    for spec in ("9:00", "08:00 on 5+", "08:00 on 03-01", "07:00 every 1,2"):
        when = read_spec(spec)
        assert when is not None
        assert when_from_dict(when.as_dict()) == when


@pytest.mark.parametrize(
    ("start", "until", "ends"),
    [
        (None, When(WhenKind.DELAY, 600), "2026-01-15 12:10"),
        (None, When(WhenKind.AT, hour=9, is_half_open=True), "2026-01-15 21:00"),
        (When(WhenKind.DELAY, 3600), When(WhenKind.DELAY, 600), "2026-01-15 13:10"),
        (When(WhenKind.AT, hour=20), When(WhenKind.AT, hour=10, is_half_open=True), "2026-01-15 22:00"),
        (When(WhenKind.AT, hour=22), When(WhenKind.AT, hour=6), "2026-01-16 06:00"),
        (When(WhenKind.AT, hour=8, day_offset=1), When(WhenKind.AT, hour=10), "2026-01-16 10:00"),
        (When(WhenKind.AT, hour=8, day_offset=1), When(WhenKind.AT, hour=20, day_offset=0), None),
        (None, When(WhenKind.AT, hour=9, day_offset=0), None),
    ],
)
def test_an_end_comes_after_its_beginning(start: When | None, until: When, ends: str | None) -> None:
    found = end_of(start, until, THURSDAY_NOON)
    assert (found and found[1].isoformat(sep=" ", timespec="minutes")) == ends


def test_what_repeats_ends_after_each_beginning() -> None:
    mondays = When(WhenKind.RECURRING, hour=23, minute=50, weekdays=(1, 7))
    found = end_of(mondays, When(WhenKind.DELAY, 1200), THURSDAY_NOON)
    assert found is not None
    assert (found[0].spec(), found[1].day) == ("00:10 every 1,2", 19)
    assert end_of(mondays, When(WhenKind.DELAY, 90), THURSDAY_NOON) is None
    assert end_of(When(WhenKind.RECURRING, 3600), When(WhenKind.DELAY, 60), THURSDAY_NOON) is None


def test_the_end_is_no_part_of_what_is_kept() -> None:
    when = When(WhenKind.AT, hour=20, until=When(WhenKind.DELAY, 60))
    assert when_from_dict(when.as_dict()) == when.start
    assert When(WhenKind.NOW, until=when).start is None
