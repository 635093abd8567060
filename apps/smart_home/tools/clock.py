"""Time and date; the clock comes in with the view of the home."""

from __future__ import annotations

from agentkit.devices.view import View
from agentkit.understanding.tools import Answer, tool


@tool(is_query=True)
def get_time(home: View) -> Answer:
    """Tell the time."""
    return Answer("time.now", {"hour": home.now.hour, "minute": home.now.minute, "time": home.now.strftime("%H:%M")})


@tool(is_query=True)
def get_date(home: View) -> Answer:
    """Tell the date and the day of the week."""
    day = home.now.date()
    return Answer(
        "date.today",
        {"year": day.year, "month": day.month, "day": day.day, "weekday": day.isoweekday(), "date": day.isoformat()},
    )
