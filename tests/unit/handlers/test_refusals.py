"""What a 422 names: the top-level members that differ, from short hashes, and never a value."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from handlers.domain import member_hashes
from handlers.domain.canonical_json import canonical, joined, members
from tests.builders import LEAD
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.ingest_calls import keyed, post

if TYPE_CHECKING:
    from handlers.domain.json_text import JsonValue


def refused(first: dict[str, Any], second: dict[str, Any]) -> tuple[str, list[str]]:
    """The detail of the second request's 422, and the fields that it lists."""
    store = InMemoryReceipts()
    assert post(store, keyed("k", LEAD | first))["statusCode"] == 201
    answer = post(store, keyed("k", LEAD | second))
    assert answer["statusCode"] == 422
    problem = json.loads(answer["body"])
    return problem["detail"], [fault["field"] for fault in problem.get("errors", [])]


@pytest.mark.parametrize(
    ("first", "second", "detail", "fields"),
    [
        ({"a": 1}, {"a": 2}, "(leads; a differs)", ["/a"]),
        ({"a": 1}, {}, "(leads; a differs)", ["/a"]),
        ({}, {"a": None}, "(leads; a differs)", ["/a"]),
        ({"a": {"x": [1, 2]}}, {"a": {"x": [2, 1]}}, "(leads; a differs)", ["/a"]),
        ({"b": 1, "a": 1}, {"a": 2, "c": 3}, "(leads; a, b, c differ)", ["/a", "/b", "/c"]),
        ({"x/y": 1, "~": 1}, {"x/y": 2, "~": 2}, "(leads; x/y, ~ differ)", ["/x~1y", "/~0"]),
        ({"a": 1, "same": "1.50"}, {"a": 1.5, "same": "1.50"}, "(leads; a differs)", ["/a"]),
    ],
)
def test_what_was_added_removed_or_changed_is_named(
    first: dict[str, Any], second: dict[str, Any], detail: str, fields: list[str]
) -> None:
    said, listed = refused(first, second)
    assert detail in said
    assert listed == fields


def test_no_value_is_ever_named() -> None:
    said, listed = refused({"iban": "secret-1"}, {"iban": "secret-2"})
    assert "secret" not in said + "".join(listed)


def test_a_long_list_is_cut_in_the_sentence_and_whole_in_the_list() -> None:
    said, listed = refused({f"n{number:02}": 1 for number in range(25)}, {})
    assert "n08, n09 and 15 more differ" in said
    assert len(listed) == 25


@pytest.mark.parametrize(
    "body",
    [
        {f"n{number}": 1 for number in range(40)},
        {"n" * 65: 1},
        {"ž" * 33: 1},
        {"": 1},
    ],
    ids=["many", "long", "long-in-bytes", "empty-name"],
)
def test_too_many_or_too_long_names_are_not_kept_and_the_refusal_stands(body: dict[str, Any]) -> None:
    for first, second in ((body, {}), ({}, body), (body, body | {"a": 1})):
        said, listed = refused(first, second)
        assert "(leads);" in said
        assert listed == []


def test_a_receipt_of_the_first_release_names_nothing_and_refuses_all_the_same() -> None:
    assert member_hashes.differing({}, "generation", members(dict(LEAD))) == ()


def test_equal_values_look_alike_neither_in_two_receipts_nor_under_two_names() -> None:
    kept = member_hashes.hashes({"a": b'"x"', "b": b'"x"'}, "generation-1")
    again = member_hashes.hashes({"a": b'"x"', "b": b'"x"'}, "generation-2")
    assert len({*kept.values(), *again.values()}) == 4
    assert {len(value) for value in kept.values()} == {8}


def test_the_members_joined_are_the_canonical_body() -> None:
    body: dict[str, JsonValue] = {
        "b": [1.0, {"z": None, "é": "\u20ac"}],
        "a": 2**60,
        "\ufb01": 1,
        "\U0001f600": 2,
        "": True,
    }
    assert joined(members(body)) == canonical(body)
