"""Runs files of dialogues and their mutations, and tells what came of them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentkit.assemble import Assembly
from agentkit.config import App
from agentkit.dialogues.judge import difference, fate, told
from agentkit.dialogues.mutate import Mutator
from agentkit.dialogues.script import Dialogue, Step
from agentkit.dialogues.stage import Seen, Stage
from agentkit.errors import AgentKitError

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Failure:
    """Where a dialogue or a mutation went wrong: one line."""

    path: Path
    line: int
    turn: int
    """Counted from 1."""
    said: str
    wanted: str
    got: str
    mutation: str | None = None
    """Kind of the mutation; None = as written."""

    def __str__(self) -> str:
        """File and line, turn, sentence, what was wanted and what was got."""
        kind = f" ({self.mutation})" if self.mutation else ""
        return f"{self.path}:{self.line}: turn {self.turn}{kind} “{self.said}”: wanted {self.wanted}, got {self.got}"


@dataclass(frozen=True)
class FileReport:
    """What came of one file."""

    path: Path
    n_passed: int
    failures: tuple[Failure, ...] = ()
    gaps: tuple[Failure, ...] = ()
    """What was said beforehand to be not so yet."""
    fates: Mapping[str, Counter[str]] = field(default_factory=dict)
    """Kind of mutation → how many were the same, safe and wrong."""
    wrong: tuple[Failure, ...] = ()
    """Mutations that led to another action."""

    def total(self, fate_name: str) -> int:
        """How many mutations met a fate."""
        return sum(counts[fate_name] for counts in self.fates.values())

    def as_dict(self) -> dict[str, Any]:
        """Plain data for programs."""
        rows = [_failure_dict(f) for f in self.failures]
        kinds = {kind: {name: counts[name] for name in FATES} for kind, counts in self.fates.items()}
        return {
            "file": str(self.path),
            "passed": self.n_passed,
            "failed": rows,
            "gaps": [_failure_dict(f) for f in self.gaps],
            "mutations": kinds,
            "wrong": [_failure_dict(f) for f in self.wrong],
        }


FATES = ("same", "safe", "wrong")


class Rehearsal:
    """Owns what all dialogues of an app share: its words and sentences, never a state."""

    def __init__(self, app: App, assembly: Assembly, *, seed: int | None = None):
        """With a seed, every sentence of a dialogue that passed is also said in other ways."""
        self._app, self._assembly = app, assembly
        self._mutator = None if seed is None else Mutator(app.home, seed)

    def run(
        self, path: Path, dialogues: Sequence[Dialogue], after_each: Callable[[], None] = lambda: None
    ) -> FileReport:
        """Run the dialogues of one file."""
        failures: list[Failure] = []
        gaps: list[Failure] = []
        wrong: list[Failure] = []
        fates: dict[str, Counter[str]] = {}
        for dialogue in dialogues:
            seen, failure = self._perform(dialogue)
            if failure is not None:
                (failures if dialogue.gap is None else gaps).append(failure)
            elif self._mutator is not None and dialogue.is_mutated:
                for kind, name, bad in self._mutate(dialogue, seen, self._mutator):
                    fates.setdefault(kind, Counter())[name] += 1
                    wrong += [bad] if bad is not None else []
            after_each()
        n_passed = len(dialogues) - len(failures) - len(gaps)
        return FileReport(path, n_passed, tuple(failures), tuple(gaps), fates, tuple(wrong))

    def _perform(self, dialogue: Dialogue) -> tuple[list[Seen], Failure | None]:
        """Run a dialogue up to its first failure."""
        seen: list[Seen] = []
        with Stage(self._assembly, self._app, dialogue) as stage:
            for number, step in enumerate(dialogue.steps, 1):
                said = step.say or f"wait {step.wait_s:g} s"
                now = _played(stage, step)
                found = difference(step.wanted, now) if isinstance(now, Seen) else ("no error", now)
                if found is not None:
                    return seen, Failure(dialogue.path, step.line, number, said, *found)
                seen += [now] if isinstance(now, Seen) else []
        return seen, None

    def _mutate(
        self, dialogue: Dialogue, original: Sequence[Seen], mutator: Mutator
    ) -> Iterator[tuple[str, str, Failure | None]]:
        """Say each turn in other ways, after the turns before it as they are written."""
        for number, step in enumerate(dialogue.steps):
            for mutation in mutator.mutations(step.say) if step.say else ():
                with Stage(self._assembly, self._app, dialogue) as stage:
                    for earlier in dialogue.steps[:number]:
                        stage.play(earlier)
                    seen = _played(stage, step, mutation.text)
                name = fate(original[number], seen) if isinstance(seen, Seen) else "wrong"
                wanted = f"{told(original[number])}, or a question or refusal"
                got = told(seen) if isinstance(seen, Seen) else seen
                failure = Failure(dialogue.path, step.line, number + 1, mutation.text, wanted, got, mutation.kind)
                yield mutation.kind, name, failure if name == "wrong" else None


def _played(stage: Stage, step: Step, say: str | None = None) -> Seen | str:
    """What came of a step, or the error in one line: an agent that breaks fails this one, and the others go on."""
    try:
        return stage.play(step, say)
    except Exception as err:  # edge: whatever breaks becomes a line of the report
        if not isinstance(err, AgentKitError):
            log.exception("line %d broke the agent", step.line)
        return " ".join(f"{type(err).__name__}: {err}".split())


def _failure_dict(failure: Failure) -> dict[str, Any]:
    row = {"line": failure.line, "turn": failure.turn, "said": failure.said}
    row |= {"wanted": failure.wanted, "got": failure.got}
    return row if failure.mutation is None else row | {"mutation": failure.mutation}
