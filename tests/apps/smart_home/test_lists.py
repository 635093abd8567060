from __future__ import annotations

from agentkit.devices.adapter import Change, Device
from tests.apps.smart_home.conftest import Run


def todo(*items: str, **attributes: object) -> Device:
    return Device(
        "todo.x", "Shopping List", "todo", state=str(len(items)), attributes={"items": list(items), **attributes}
    )


def test_an_item_is_added_at_the_end(change: Run) -> None:
    assert change("add_to_list", todo("milk"), item=" brown  bread ") == Change("2", {"items": ["milk", "brown bread"]})


def test_an_item_that_is_there_already_is_not_added_twice(change: Run) -> None:
    assert change("add_to_list", todo("Milk"), item="milk") == Change(None, {"items": ["Milk"]})


def test_a_list_that_tells_only_its_length_grows_by_one(change: Run) -> None:
    assert change("add_to_list", Device("todo.x", "L", "todo", state="4"), item="a") == Change("5", {"items": ["a"]})


def test_items_without_words_too_long_or_too_many_are_refused(refusal: Run) -> None:
    assert refusal("add_to_list", todo(), item="  ")[0] == "bad_item"
    assert refusal("add_to_list", todo(), item="x" * 300)[0] == "bad_item"
    assert refusal("add_to_list", todo(*(f"i{n}" for n in range(500))), item="x")[0] == "list_full"


def test_an_item_is_found_by_its_words_or_by_the_only_one_that_is_near(change: Run, refusal: Run) -> None:
    shopping = todo("oat milk", "Bread", "rye bread rolls", "鸡蛋")
    assert change("remove_list_item", shopping, item="bread").attributes["items"] == [
        "oat milk",
        "rye bread rolls",
        "鸡蛋",
    ]
    assert change("complete_list_item", shopping, item="milk") == Change(
        "3", {"items": ["Bread", "rye bread rolls", "鸡蛋"]}
    )
    assert change("complete_list_item", shopping, item="蛋").state == "3"
    reason, values = refusal("remove_list_item", shopping, item="butter")
    assert (reason, values["item"]) == ("no_such_item", "butter")


def test_an_unclear_item_is_not_guessed(refusal: Run) -> None:
    assert refusal("remove_list_item", todo("oat milk", "soy milk"), item="milk")[0] == "no_such_item"


def test_a_list_is_read_out(ask: Run) -> None:
    answer = ask("get_list", todo("milk", "bread"))
    assert (answer.reply_key, answer.values["items"], answer.values["count"]) == ("list.items", ["milk", "bread"], 2)
    assert ask("get_list", todo()).reply_key == "list.empty"
    assert ask("get_list", todo(), todo("a")).reply_key == "list.many"
    assert ask("get_list").reply_key == "list.none"
    assert ask("get_list", Device("todo.x", "L", "todo", state="4")).reply_key == "list.count"
