"""The policy of an app as data: who may do what at once, after a question, or not at all."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from agentkit.yaml_lines import YamlList, YamlMap, check_keys, describe, did_you_mean, take, take_list


class Verdict(StrEnum):
    """What a rule says, from the mildest to the strictest."""

    ALLOW = "allow"
    CONFIRM = "confirm"
    PIN = "pin"
    DENY = "deny"


@dataclass(frozen=True)
class PolicyRule:
    """One line of the policy. An empty field fits anything; all fields must fit; the first rule that fits decides."""

    verdict: Verdict
    tools: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    device_classes: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    """Words in a device's name that fit as well as a class of device_classes: many devices report no class."""
    device_ids: tuple[str, ...] = ()
    areas: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """Edges by which the utterance came in, of SOURCES."""
    more_than: int | None = None
    """Fits only if the turn moves more devices than this."""
    reason: str = ""
    """One line for people: why."""


SOURCES = ("cli", "http", "voice", "eval")
"""Edges by which an utterance can come in."""
CLASSES = (
    *("awning", "blind", "curtain", "damper", "door", "garage", "gate", "shade", "shutter", "window"),
    *("gas", "water", "outlet", "alarm", "carbon_monoxide", "fridge", "heater", "iron", "lock", "main"),
    *("medical", "oven", "pump", "router", "safety", "smoke", "stove", "unknown"),
)
"""Classes that a policy may name although neither the home nor the words know them yet."""
LISTS = ("tools", "types", "device_classes", "named", "device_ids", "areas", "users", "sources")
KEYS = ("then", "more_than", "reason", *LISTS)
VERDICTS = tuple(v.value for v in Verdict)


def read_rules(
    rows: YamlList,
    *,
    tools: Collection[str],
    types: Collection[str],
    areas: Collection[str],
    device_ids: Collection[str] = (),
    classes: Collection[str] = (),
) -> tuple[PolicyRule, ...]:
    """Read the rules of app.yaml. Raises ConfigError, also for unknown names: their rule would guard nothing."""
    known = {"tools": tools, "types": types, "areas": areas, "device_ids": device_ids, "sources": SOURCES}
    known["device_classes"] = (*CLASSES, *classes)
    rules = []
    for index, row in enumerate(rows):
        if not isinstance(row, YamlMap):
            raise rows.error(
                f"policy[{index}] is {describe(row)}, wanted a rule such as {{tools: [unlock], then: confirm}}", index
            )
        rules.append(_read_rule(row, known))
    return tuple(rules)


def _read_rule(row: YamlMap, known: dict[str, Collection[str]]) -> PolicyRule:
    check_keys(row, KEYS, required=("then",), what="a policy rule")
    then = take(row, "then", str)
    if then not in VERDICTS:
        raise row.error(f"then is {then!r}, wanted {', '.join(VERDICTS)}", "then")
    more_than = take(row, "more_than", int, None)
    if more_than is not None and more_than < 0:
        raise row.error(f"more_than is {more_than}, wanted 0 or more", "more_than")
    lists = {key: take_list(row, key, str, ()) for key in LISTS}
    for key, allowed in known.items():
        for word in lists[key]:
            if word not in allowed:
                raise row.error(f"{key} names {word!r}, which does not exist; {did_you_mean(word, allowed)}", key)
    return PolicyRule(Verdict(then), **lists, more_than=more_than, reason=take(row, "reason", str, ""))
