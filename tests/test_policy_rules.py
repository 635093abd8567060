from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.errors import ConfigError
from agentkit.policy_rules import PolicyRule, Verdict, read_rules
from agentkit.yaml_lines import parse_yaml


def read(text: str) -> tuple[PolicyRule, ...]:
    rows = parse_yaml(text, Path("app.yaml"))
    return read_rules(
        rows, tools=["unlock", "open_cover"], types=["lock", "cover"], areas=["den"], device_ids=["lock.front"]
    )


def test_rules_keep_their_order_and_fields() -> None:
    rules = read("- {tools: [unlock], users: [ann], then: allow}\n- {tools: [unlock], then: confirm, reason: no}\n")
    assert rules[0] == PolicyRule(Verdict.ALLOW, tools=("unlock",), users=("ann",))
    assert rules[1] == PolicyRule(Verdict.CONFIRM, tools=("unlock",), reason="no")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- {tools: [unlock]}", "missing key 'then'"),
        ("- {then: maybe}", "then is 'maybe', wanted allow, confirm, pin, deny"),
        ("- {then: deny, tool: [unlock]}", "unknown key 'tool'.*did you mean 'tools'"),
        ("- {then: deny, tools: [unlok]}", "tools names 'unlok', which does not exist; did you mean 'unlock'"),
        ("- {then: deny, types: [loock]}", "types names 'loock'"),
        ("- {then: deny, areas: [dem]}", "areas names 'dem'"),
        ("- {then: deny, sources: [htpp]}", "sources names 'htpp', which does not exist; did you mean 'http'"),
        ("- {then: deny, device_ids: [lock.frnt]}", "device_ids names 'lock.frnt'.*did you mean 'lock.front'"),
        ("- {then: deny, device_classes: [garrage]}", "device_classes names 'garrage'.*did you mean 'garage'"),
        ("- {then: deny, device_classes: [Garage]}", "device_classes names 'Garage'"),
        ("- {then: deny, tools: unlock}", "tools is 'unlock', wanted a list"),
        ("- {then: deny, more_than: -1}", "more_than is -1"),
        ("- {then: deny, more_than: many}", "more_than is 'many', wanted a whole number"),
        ("- deny", r"policy\[0\] is 'deny', wanted a rule"),
    ],
)
def test_a_rule_that_would_guard_nothing_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=rf"app\.yaml:1: .*{message}"):
        read(text)
