from __future__ import annotations

from dataclasses import replace

from agentkit.agent.policy import evaluate
from agentkit.agent.resolve import Step
from agentkit.devices.adapter import Device, Home
from agentkit.devices.registry import Registry
from agentkit.policy_rules import PolicyRule, Verdict
from agentkit.understanding.home_view import HomeView
from tests.agent.house import TOOLS, house_view

GARAGE = PolicyRule(Verdict.CONFIRM, types=("cover",), device_classes=("garage",), reason="doors are asked about")
LOCKS = PolicyRule(Verdict.CONFIRM, tools=("unlock",), reason="locks are asked about")
NO_CHILDREN = PolicyRule(Verdict.DENY, types=("lock",), users=("kid",), reason="not for children")


def steps(*pairs: tuple[str, str]) -> list[Step]:
    return [Step(TOOLS[tool], {}, (device,)) for tool, device in pairs]


def test_without_a_rule_everything_is_allowed():
    assert evaluate((), steps(("unlock", "lock.front")), house_view()).verdict is Verdict.ALLOW


def test_a_risky_action_hidden_in_a_list_makes_the_whole_turn_wait():
    turn = steps(("turn_off", "light.lamp_1"), ("open_cover", "cover.garage"), ("turn_on", "light.lamp_11"))
    ruling = evaluate((GARAGE,), turn, house_view())
    assert ruling.verdict is Verdict.CONFIRM
    assert ruling.device_ids == ("cover.garage",)
    assert ruling.reason == "doors are asked about"


def test_the_strictest_verdict_of_all_actions_wins():
    turn = steps(("open_cover", "cover.garage"), ("unlock", "lock.front"))
    ruling = evaluate((GARAGE, NO_CHILDREN), turn, house_view(), user="kid")
    assert (ruling.verdict, ruling.reason) == (Verdict.DENY, "not for children")


def test_for_one_device_the_first_rule_that_fits_decides():
    trusted = PolicyRule(Verdict.ALLOW, tools=("unlock",), users=("ann",))
    turn = steps(("unlock", "lock.front"))
    assert evaluate((trusted, LOCKS), turn, house_view(), user="ann").verdict is Verdict.ALLOW
    assert evaluate((trusted, LOCKS), turn, house_view(), user="bob").verdict is Verdict.CONFIRM
    assert evaluate((trusted, LOCKS), turn, house_view()).verdict is Verdict.CONFIRM


def test_locking_is_not_unlocking():
    assert evaluate((LOCKS,), steps(("lock", "lock.front")), house_view()).verdict is Verdict.ALLOW


def test_a_rule_for_a_source_leaves_other_sources_alone():
    rule = PolicyRule(Verdict.DENY, tools=("unlock",), sources=("voice",))
    turn = steps(("unlock", "lock.front"))
    assert evaluate((rule,), turn, house_view(), source="voice").verdict is Verdict.DENY
    assert evaluate((rule,), turn, house_view(), source="http").verdict is Verdict.ALLOW


def test_a_rule_for_a_class_leaves_devices_without_a_class_alone():
    assert evaluate((GARAGE,), steps(("turn_on", "light.lamp_1")), house_view()).verdict is Verdict.ALLOW


def test_many_devices_at_once_are_asked_about_and_few_are_not():
    rule = PolicyRule(Verdict.CONFIRM, more_than=2, reason="that is a lot")
    lights = [("turn_on", d.id) for d in house_view().devices if d.type == "light"]
    assert evaluate((rule,), steps(*lights), house_view()).verdict is Verdict.CONFIRM
    assert evaluate((rule,), steps(*lights[:2]), house_view()).verdict is Verdict.ALLOW


def test_questions_are_never_held_back():
    ask = [Step(TOOLS["get_state"], {}, ("lock.front", "cover.garage"))]
    rule = PolicyRule(Verdict.DENY, reason="nothing")
    assert evaluate((rule,), ask, house_view()).verdict is Verdict.ALLOW


def test_a_rule_about_the_number_does_not_stand_in_for_a_stricter_rule():
    many = PolicyRule(Verdict.CONFIRM, more_than=1, reason="that is a lot")
    code = PolicyRule(Verdict.PIN, tools=("unlock",), reason="locks need the code")
    turn = steps(("turn_off", "light.lamp_1"), ("unlock", "lock.front"))
    assert evaluate((many, code), turn, house_view()).verdict is Verdict.PIN
    trusted = PolicyRule(Verdict.ALLOW, users=("ann",))
    assert evaluate((trusted, many, code), turn, house_view(), user="ann").verdict is Verdict.ALLOW


def test_that_there_are_many_is_on_account_of_none_of_them():
    many = PolicyRule(Verdict.CONFIRM, more_than=1, reason="that is a lot")
    turn = steps(("turn_off", "light.lamp_1"), ("open_cover", "cover.garage"), ("turn_on", "light.lamp_11"))
    assert evaluate((many, GARAGE), turn, house_view()).device_ids == ("cover.garage",)
    assert evaluate((many,), turn, house_view()).device_ids == ()


def test_every_device_that_waits_is_told_whatever_verdict_is_the_strictest():
    code = PolicyRule(Verdict.PIN, tools=("unlock",))
    turn = steps(("open_cover", "cover.garage"), ("unlock", "lock.front"))
    for order in (turn, turn[::-1]):
        ruling = evaluate((GARAGE, code), order, house_view())
        assert (ruling.verdict, set(ruling.device_ids)) == (Verdict.PIN, {"cover.garage", "lock.front"})
    deny = PolicyRule(Verdict.DENY, tools=("unlock",))
    assert evaluate((GARAGE, deny), turn, house_view()).device_ids == ("lock.front",)


def test_a_name_that_would_allow_does_not_count_before_the_old_ones_are_forgotten():
    rules = (
        PolicyRule(Verdict.ALLOW, types=("cover",), device_classes=("blind",), named=("*blind",)),
        PolicyRule(Verdict.CONFIRM, types=("cover",)),
    )
    old = Device("cover.a", "Shed", "cover")
    registry = Registry(Home("h"))
    registry.upsert(old)

    def verdict() -> Verdict:
        view = HomeView(registry.devices())
        return evaluate(rules, steps(("open_cover", "cover.a")), view).verdict

    assert verdict() is Verdict.CONFIRM
    registry.upsert(replace(old, name="Shed blind"))
    assert verdict() is Verdict.CONFIRM
    registry.upsert(replace(old, name="Shed blind", attributes={"device_class": "blind"}))
    assert verdict() is Verdict.CONFIRM
    registry.remove("cover.a")
    registry.upsert(replace(old, name="Shed blind"))
    assert verdict() is Verdict.ALLOW
