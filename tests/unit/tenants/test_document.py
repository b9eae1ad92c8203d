"""YAML as tenant files may use it: lines are right, and what hides meaning is refused."""

from __future__ import annotations

from typing import Any

import pytest
from ruamel.yaml.constructor import SafeConstructor

from tenants.document import parse


def test_every_path_knows_its_line() -> None:
    document = parse("f", "# note\na: 1\nb:\n  - x\n  - c: 2\n    d: [3,\n      4]\n")
    assert document.data == {"a": 1, "b": ("x", {"c": 2, "d": (3, 4)})}
    lines = {path: document.line_of(path) for path in [("a",), ("b",), ("b", 1, "d"), ("b", 1, "d", 1)]}
    assert lines == {("a",): 2, ("b",): 3, ("b", 1, "d"): 6, ("b", 1, "d", 1): 7}


def test_a_path_that_is_not_there_gets_the_line_of_its_parent() -> None:
    document = parse("f", "a: 1\nb:\n  c: 2\n")
    assert document.line_of(("b", "missing", "deep")) == 2
    assert document.line_of(("missing",)) == 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("yes", "yes"), ("no", "no"), ("on", "on"), ("true", True), ("False", False), ("~", None)),
        *(("2024-01-01", "2024-01-01"), ("12", 12), ("0x1F", 31), ("1.5", 1.5), ("1e3", 1000.0)),
        *(("'12'", "12"), ('"true"', "true"), ("arn:aws:x", "arn:aws:x"), ("010", 10)),
    ],
)
def test_scalars_are_what_yaml_1_2_says(text: str, value: object) -> None:
    document = parse("f", f"a: {text}\n")
    assert document.data == {"a": value}
    assert document.faults == []


@pytest.mark.parametrize(
    ("text", "line", "field", "rule"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "a", "is there twice (first in line 1)"),
        ("a:\n  - b: 1\n    b: 2\n", 3, "a[0].b", "is there twice (first in line 2)"),
        ("a: &x 1\n", 1, "a", "must not use anchors or aliases: write the value out"),
        (
            "a: !!python/name:os.system x\n",
            1,
            "a",
            "must not carry a tag (tag:yaml.org,2002:python/name:os.system)",
        ),
        ("a: !mine x\n", 1, "a", "must not carry a tag (!mine)"),
        ("? [a, b]\n: 1\n", 1, "file", "must have plain names"),
        ("a: [1\nb: 2\n", 2, "yaml", "while parsing a flow sequence, expected ',' or ']', but got ':'"),
        (
            "a: 1\n---\nb: 2\n",
            2,
            "yaml",
            "expected a single document in the stream, but found another document",
        ),
        (
            "a:\n\t- b\n",
            2,
            "yaml",
            "while scanning for the next token, found character '\\t' that cannot start",
        ),
        ("", 1, "file", "is empty"),
        ("# only a comment\n", 1, "file", "is empty"),
        ("---", 1, "file", "is empty"),
        ("---\n~\n", 2, "file", "is empty"),
        ('a: "\x01"\n', 1, "yaml", "unacceptable character #x0001: special characters are not allowed"),
        (f"a: {'9' * 5000}\n", 1, "a", "must be a number that can be read"),
        (f"a: 0x{'f' * 5000}\n", 1, "a", "must be a number that can be read"),
        ("b: 1\na: !!bool maybe\n", 2, "a", "must not carry a tag (tag:yaml.org,2002:bool)"),
        ('a: !!int ""\n', 1, "a", "must not carry a tag (tag:yaml.org,2002:int)"),
        ('a: !!float ""\n', 1, "a", "must not carry a tag (tag:yaml.org,2002:float)"),
        ("a: !!set {b, c}\n", 1, "a", "must not carry a tag (tag:yaml.org,2002:set)"),
        ("a: !mine [b]\n", 1, "a", "must not carry a tag (!mine)"),
        ('a: "\\uD800"\n', 1, "a", "must not hold half of a surrogate pair"),
        ('"\\uD800": 1\n', 1, "file", "must have plain names"),
        ('b: 1\na: "\\U00110000"\n', 1, "yaml", "holds an escape that is no character"),
        ('a: "\\UFFFFFFFF"\n', 1, "yaml", "holds an escape that is no character"),
        *(
            (f"a: {sign}\n", 1, "a", "must be a number that can be read")
            for sign in ("+_", "-_", "+__", "-__")
        ),
        *(
            (
                f"# which YAML\n%{directive}\n---\na: {value}\n",
                2,
                "yaml",
                "must not hold a directive (%YAML, %TAG)",
            )
            for directive in (
                "YAML 1.1",
                "YAML 1.2",
                "YAML 9.9",
                f"YAML {'9' * 5000}.1",
                "TAG ! tag:me,1:",
                "ANY x",
            )
            for value in ("yes", "+_", "9e9")
        ),
        ("a: 1\n!!int b: 2\n", 2, "b", "must not carry a tag on its name (tag:yaml.org,2002:int)"),
        ("a: 1\n!!str 1: 2\n", 2, "1", "must not carry a tag on its name (tag:yaml.org,2002:str)"),
        ("a:\n  !mine b: 2\n", 2, "a.b", "must not carry a tag on its name (!mine)"),
        ("a: 1\n&x b: 2\n", 2, "b", "must not use anchors or aliases for a name"),
        ("[" * 5000, 1, "yaml", "is nested too deeply"),
        ("{a: " * 5000, 1, "yaml", "is nested too deeply"),
        ("a:\n  b: " + "[" * 100, 2, "yaml", "is nested too deeply"),
    ],
)
def test_what_hides_meaning_is_a_fault_with_its_line(text: str, line: int, field: str, rule: str) -> None:
    (fault,) = parse("f", text).faults
    assert (fault.file, fault.line, fault.field) == ("f", line, field)
    assert fault.rule.startswith(rule)


def test_an_alias_as_a_name_is_a_fault_at_its_anchor() -> None:
    faults = parse("f", "a: &x b\n*x : 2\n").faults
    assert [(fault.line, fault.field) for fault in faults] == [(1, "a"), (1, "b")]


@pytest.mark.parametrize("error", [ValueError, IndexError, OverflowError])
def test_a_number_that_makes_ruamel_stumble_is_a_fault(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(_self: Any, _node: Any) -> None:
        raise error

    monkeypatch.setattr(SafeConstructor, "construct_object", stumble)
    (fault,) = parse("f", "a: 1\n").faults
    assert (fault.field, fault.rule) == ("a", "must be a number that can be read")


def test_a_fault_of_ours_is_not_taken_for_an_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_text: str) -> bool:
        raise ValueError("ours")

    monkeypatch.setattr("tenants.document._is_unicode", fail)
    with pytest.raises(ValueError, match="ours"):
        parse("f", "a: b\n")


def test_an_anchor_that_is_there_twice_is_two_faults_and_no_warning() -> None:
    faults = parse("f", "a: &x 1\nb: &x 2\n").faults
    assert [(fault.line, fault.field) for fault in faults] == [(1, "a"), (2, "b")]


def test_an_alias_that_holds_itself_ends_as_a_fault() -> None:
    document = parse("f", "a: &x [*x]\nb: *x\n")
    assert {fault.rule for fault in document.faults} == {
        "must not use anchors or aliases: write the value out"
    }


def test_all_repeated_names_are_told_not_only_the_first() -> None:
    document = parse("f", "a: 1\na: 2\nb: 1\nb: 2\n")
    assert [(fault.line, fault.field) for fault in document.faults] == [(2, "a"), (4, "b")]
