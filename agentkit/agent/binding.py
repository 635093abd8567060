"""Bind intents to this home: arguments checked, devices found, or what stands in the way. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agentkit.agent.arguments import BadArgument, check_arguments, missing_argument, one_of_missing
from agentkit.agent.execute import unique
from agentkit.agent.question import Question
from agentkit.agent.resolve import Refusal, Resolution, Resolved, Step, resolve
from agentkit.types import Action, ActionResult, Call, Intent, Selector, Status
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.tools import Tool


@dataclass(frozen=True)
class Bound:
    """All intents of a turn with what each came to."""

    intents: tuple[Intent, ...] = ()
    found: tuple[Resolution, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """What can run, without repetitions."""
        return unique(step for found in self.found if isinstance(found, Resolved) for step in found.steps)

    @property
    def n_moved(self) -> int:
        """How many devices the steps would move."""
        return len({i for step in self.steps if not step.tool.is_query for i in step.device_ids})

    @property
    def actions(self) -> tuple[Action, ...]:
        """What the steps would do, without the questions among them."""
        return tuple(step.action for step in self.steps if not step.tool.is_query)

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """What cannot, each reason once."""
        refusals: list[Refusal] = []
        for found in self.found:
            if isinstance(found, Refusal) and found not in refusals:
                refusals.append(found)
        return tuple(refusals)

    @property
    def question(self) -> tuple[int, Question] | None:
        """The first thing to ask, with the number of its intent."""
        return next(((i, found) for i, found in enumerate(self.found) if isinstance(found, Question)), None)

    def calls(self, *, is_running: bool) -> tuple[Call, ...]:
        """What was understood, for the record; of a turn that runs, only what can run."""
        calls: list[Call] = []
        for intent, found in zip(self.intents, self.found, strict=True):
            ids = found.device_ids if isinstance(found, Resolved) else None
            call = Call(intent.tool, intent.args, ids or ())
            if call not in calls and not (is_running and ids is None):
                calls.append(call)
        return tuple(calls)

    @property
    def failures(self) -> tuple[ActionResult, ...]:
        """The refused intents as results, beside those that ran."""
        return tuple(
            ActionResult(Action(intent.tool, intent.args), Status.FAILED, found.reply_key.split(".")[-1])
            for intent, found in zip(self.intents, self.found, strict=True)
            if isinstance(found, Refusal)
        )

    def pinned(self) -> tuple[Intent, ...]:
        """The intents with the devices found, so that what is confirmed is what runs."""
        return tuple(
            replace(intent, selector=Selector(device_ids=found.device_ids))
            if isinstance(found, Resolved) and found.device_ids
            else intent
            for intent, found in zip(self.intents, self.found, strict=True)
        )


def bind(intents: Sequence[Intent], view: HomeView, tools: Mapping[str, Tool]) -> Bound:
    """Bind every intent on its own."""
    found = tuple(_bind(intent, view, tools.get(intent.tool)) for intent in intents)
    return Bound(tuple(intents), found)


def _bind(intent: Intent, view: HomeView, tool: Tool | None) -> Resolution:
    if tool is None:
        return Refusal("refused.unsupported", {"tool": intent.tool})
    args = check_arguments(tool, intent.args)
    found = resolve(replace(intent, args=intent.args if isinstance(args, BadArgument) else args), view, tool)
    if not isinstance(found, Resolved):
        return found
    if isinstance(args, BadArgument):
        return Refusal(f"failed.{args.reason}", {"devices": found.device_ids, "tool": tool.name, **args.values})
    param = missing_argument(tool, args)
    if param is not None:
        values = {"slot": param.name, "devices": found.device_ids}
        others = tuple(p for p in one_of_missing(tool, args) if param.name in tool.one_of and p != param)
        return Question("ask.missing", values=values, param=param, or_params=others)
    return found
