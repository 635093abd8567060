"""Counters of the server as Prometheus text. Touched from the event loop only, so they need no lock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import psutil

from agentkit.types import Reply

BUCKETS_MS = (5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2500.0, 5000.0)


class Metrics:
    """What has been served since the start."""

    def __init__(self) -> None:
        self._turns: Counter[tuple[str, str]] = Counter()
        self._actions: Counter[str] = Counter()
        self._responses: Counter[int] = Counter()
        self._latencies: Counter[float] = Counter()
        self._n_turns = 0
        self._total_ms = 0.0

    def count_turn(self, reply: Reply) -> None:
        """Add one turn with its actions."""
        total_ms = float(reply.timings_ms.get("total", 0.0))
        self._turns[reply.outcome.value, reply.path] += 1
        self._actions.update(result.status.value for result in reply.actions)
        self._latencies.update(bound for bound in BUCKETS_MS if total_ms <= bound)
        self._n_turns += 1
        self._total_ms += total_ms

    def count_response(self, status: int) -> None:
        """Add one HTTP response."""
        self._responses[status] += 1

    def text(self, gauges: Mapping[str, float]) -> str:
        """Everything in Prometheus' text format; gauges are read by the caller at this moment."""
        return "\n".join([*self._counters(), *self._histogram(), *_gauges(gauges)]) + "\n"

    def _counters(self) -> Iterator[str]:
        yield "# TYPE agentkit_turns_total counter"
        for (outcome, path), n in sorted(self._turns.items()):
            yield f'agentkit_turns_total{{outcome="{_escaped(outcome)}",path="{_escaped(path)}"}} {n}'
        yield "# TYPE agentkit_actions_total counter"
        for status, n in sorted(self._actions.items()):
            yield f'agentkit_actions_total{{status="{status}"}} {n}'
        yield "# TYPE agentkit_http_responses_total counter"
        for code, n in sorted(self._responses.items()):
            yield f'agentkit_http_responses_total{{status="{code}"}} {n}'

    def _histogram(self) -> Iterator[str]:
        yield "# TYPE agentkit_turn_milliseconds histogram"
        for bound in BUCKETS_MS:
            yield f'agentkit_turn_milliseconds_bucket{{le="{bound:g}"}} {self._latencies[bound]}'
        yield f'agentkit_turn_milliseconds_bucket{{le="+Inf"}} {self._n_turns}'
        yield f"agentkit_turn_milliseconds_sum {self._total_ms:g}"
        yield f"agentkit_turn_milliseconds_count {self._n_turns}"


def _gauges(gauges: Mapping[str, float]) -> Iterator[str]:
    for name, value in {**gauges, "process_resident_bytes": rss_bytes()}.items():
        yield f"# TYPE agentkit_{name} gauge"
        yield f"agentkit_{name} {value:g}" if value < 1e6 else f"agentkit_{name} {int(value)}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def rss_bytes() -> int:
    """Memory of this process that is in RAM."""
    return int(psutil.Process().memory_info().rss)
