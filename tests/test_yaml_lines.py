from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentkit.errors import ConfigError
from agentkit.yaml_lines import YamlList, YamlMap, check_keys, load_mapping, load_yaml, parse_yaml, take, take_list

FILE = Path("home.yaml")


def error_of(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        parse_yaml(text, FILE)
    assert "\n" not in str(caught.value)
    return caught.value


def test_values_remember_their_lines() -> None:
    root = parse_yaml("a: 1\nb:\n  c: [x, y]\n  d:\n  - p\n  - q: 2\n", FILE)
    assert root == {"a": 1, "b": {"c": ["x", "y"], "d": ["p", {"q": 2}]}}
    assert (root.line, root.line_of("b"), root["b"].line_of("d")) == (1, 2, 4)
    assert isinstance(root["b"]["d"], YamlList)
    assert root["b"]["d"].line_of(1) == 6


def test_only_true_and_false_are_booleans() -> None:
    root = parse_yaml("a: on\nb: off\nc: yes\nd: true\nyes: [no]\n", FILE)
    assert root == {"a": "on", "b": "off", "c": "yes", "d": True, "yes": ["no"]}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12:30", "12:30"),
        ("0042", "0042"),
        ("42", 42),
        ("-1.5", -1.5),
        ("1e3", 1000.0),
        ("0x10", 16),
        ("~", None),
        ("'42'", "42"),
        ('""', ""),
        ("2026-01-02", "2026-01-02"),
        ("客厅", "客厅"),
    ],
)
def test_scalars_follow_yaml_1_2(text: str, value: object) -> None:
    parsed = parse_yaml(f"a: {text}", FILE)["a"]
    assert parsed == value
    assert type(parsed) is type(value)


def test_duplicate_key_is_an_error_with_both_lines() -> None:
    err = error_of("a: 1\nb: 2\na: 3\n")
    assert (err.line, err.key) == (3, "a")
    assert "first on line 1" in str(err)


@pytest.mark.parametrize(
    ("text", "line"), [("a: 1\nb: [1, 2\nc: 3\n", 3), ("a: 'x\n", 2), ("a: 1\n b: 2\n", 2), ("a: \x01\n", 1)]
)
def test_broken_yaml_names_file_and_line_on_one_line(text: str, line: int) -> None:
    err = error_of(text)
    assert str(err).startswith(f"home.yaml:{line}: broken YAML")


def test_tags_and_self_containing_anchors_are_refused() -> None:
    assert "tag" in str(error_of("a: !!python/object:os.system {}\n"))
    assert "contains itself" in str(error_of("a: &x [*x]\n"))


def test_alias_bomb_names_the_line_from_which_it_is_too_much() -> None:
    text = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30))
    assert re.search(r":7: \d+ values once its aliases are written out, at most 200000 fit", str(error_of(text)))


def test_a_few_aliases_share_what_their_anchor_built() -> None:
    root = parse_yaml("a: &a [x, y]\nb: *a\n", FILE)
    assert root["b"] is root["a"]


@pytest.mark.parametrize("text", ["9" * 19, "9" * 5_000, "0x" + "f" * 5_000, "1e999", "-" + "1" * 400 + ".5"])
def test_number_too_long_to_be_an_amount_stays_text(text: str) -> None:
    assert parse_yaml(text, FILE) == text


def test_deep_nesting_is_an_error_not_a_crash() -> None:
    assert "broken YAML" in str(error_of("[" * 50_000 + "]" * 50_000))


def test_half_a_surrogate_is_an_error() -> None:
    assert "half a character" in str(error_of("a: \ud800"))


def test_non_utf8_file_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "app.yaml"
    path.write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(ConfigError, match="not UTF-8") as caught:
        load_yaml(path)
    assert caught.value.line == 2


def test_missing_file_and_folder_are_config_errors(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        load_yaml(tmp_path / "none.yaml")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_yaml(tmp_path)


def test_file_without_mapping_is_refused_where_one_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    for text in ("", "- a\n", "word\n"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match="wanted key: value"):
            load_mapping(path)


def test_unknown_key_names_the_nearest_one() -> None:
    root = parse_yaml("name: x\nlangage: en\n", FILE)
    with pytest.raises(
        ConfigError, match=r"home.yaml:2: unknown key 'langage' in app; did you mean 'language'\?"
    ) as caught:
        check_keys(root, {"name", "language"}, what="app")
    assert caught.value.key == "langage"


def test_unknown_key_without_a_near_one_lists_the_known() -> None:
    with pytest.raises(ConfigError, match="known are a, b"):
        check_keys(parse_yaml("zzzz: 1", FILE), ("b", "a"))


def test_missing_key_is_named() -> None:
    with pytest.raises(ConfigError, match="missing key 'id'"):
        check_keys(parse_yaml("name: x", FILE), {"id", "name"}, required=("id",))


def test_take_checks_the_kind() -> None:
    root: YamlMap = parse_yaml("n: 3\nflag: true\nword: hi\nitems: [a, 2]\n", FILE)
    assert take(root, "n", int) == 3
    assert isinstance(take(root, "n", float), float)
    assert take(root, "absent", str, None) is None
    assert take_list(root, "absent", str, ()) == ()
    for key, kind in (("flag", int), ("word", int), ("n", str), ("items", YamlMap)):
        with pytest.raises(ConfigError, match=f"{key} is .*wanted"):
            take(root, key, kind)
    with pytest.raises(ConfigError, match=r"items\[1\] is 2, wanted text"):
        take_list(root, "items", str)
    with pytest.raises(ConfigError, match="missing key 'absent'"):
        take(root, "absent", str)
