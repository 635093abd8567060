"""What a piece of a sentence means as the value of a rule, and what stands for no such value any more."""

from __future__ import annotations

from agentkit.types import Value
from agentkit.understanding.entries import Item, Role
from agentkit.understanding.numbers import plain
from agentkit.understanding.phrase_map import ValueRule

_VALUE_OF_ROLE = {
    Role.NUMBER: "number",
    Role.LEVEL: "number",
    Role.COLOR: "color",
    Role.MODE: "mode",
    Role.WHITE: "white",
    Role.GRADE: "grade",
    Role.CHOICE: "choice",
}


def ended(rule: ValueRule, item: Item) -> Value:
    """What stands for no such value, or None if this rule knows of none."""
    kind, _, _ = item.value.partition(":")
    return rule.ended if item.role is Role.CHOICE and kind == rule.choice else None


def wanted(rule: ValueRule, item: Item, units: set[str]) -> Value:
    """What a piece means as this rule's value, or None."""
    if _VALUE_OF_ROLE[item.role] != rule.value:
        return None
    if rule.value == "choice":
        kind, _, name = item.value.partition(":")
        return rule.translations.get(name, name) if kind == rule.choice else None
    if rule.value != "number":
        return int(item.value) if rule.value == "white" else rule.translations.get(item.value, item.value)
    if item.role is Role.LEVEL:
        return int(item.value) if "percent" in rule.units and not units else None
    is_fitting = bool(units & set(rule.units)) if units else rule.low <= item.number <= rule.high
    return plain(item.number) if is_fitting and not (units - set(rule.units)) else None
