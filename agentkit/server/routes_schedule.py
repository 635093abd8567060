"""What is planned and which timers run: read it, call it off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter

from agentkit.agent.schedule import Schedule
from agentkit.errors import NotReady, ScheduleUnknown
from agentkit.planned import EntryKind
from agentkit.server.wire_schedule import PastOut, ScheduleOut, TimerOut, TurnOut

if TYPE_CHECKING:
    from agentkit.server.app import Service

_TIMERS = (EntryKind.TIMER, EntryKind.ALARM, EntryKind.REMINDER)


def router(service: Service) -> APIRouter:
    """Build the routes."""
    routes = APIRouter(prefix="/v1", tags=["schedule"])

    def schedule() -> Schedule:
        found = service.host.opened().schedule
        if found is None:
            raise NotReady("this app keeps no schedule")
        return found

    async def remove(entry_id: str, *kinds: EntryKind) -> None:
        kept = schedule()
        entry = kept.get(entry_id)
        if entry is None or entry.kind not in kinds:
            raise ScheduleUnknown(f"{entry_id[:100]}: nothing of that id is planned")
        await service.writer.run(lambda: kept.remove(entry_id))

    @routes.get("/schedules")
    async def list_schedules() -> list[ScheduleOut]:
        """Every planned command, the next one first."""
        return [ScheduleOut.from_entry(e) for e in schedule().entries(EntryKind.COMMAND)]

    @routes.delete("/schedules/{entry_id}", status_code=204)
    async def cancel_schedule(entry_id: str) -> None:
        """Call off a planned command."""
        await remove(entry_id, EntryKind.COMMAND)

    @routes.get("/timers")
    async def list_timers() -> list[TimerOut]:
        """Every timer, alarm and reminder, the next one first, paused ones last."""
        now = schedule().now()
        return [TimerOut.from_entry(e, now) for e in schedule().entries(*_TIMERS)]

    @routes.delete("/timers/{entry_id}", status_code=204)
    async def cancel_timer(entry_id: str) -> None:
        """Cancel a timer, alarm or reminder."""
        await remove(entry_id, *_TIMERS)

    @routes.get("/history")
    async def history() -> dict[str, list[TurnOut] | list[PastOut]]:
        """The last turns, and what came due or was missed; oldest first."""
        turns = service.host.opened().history()
        return {
            "turns": [TurnOut.from_record(t) for t in turns],
            "due": [PastOut.from_past(p) for p in schedule().history()],
        }

    return routes
