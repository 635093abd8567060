"""When something is due, for every way of saying a time."""

from __future__ import annotations

from datetime import datetime

import pytest

from agentkit.when import When, WhenKind, read_spec, when_from_dict

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
