"""Which event a webhook tells of: its own id, from the body, a header, or both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.domain import key_fields, keys
from handlers.domain.errors import CorruptItem, InvalidBody
from handlers.domain.tenant_config import IdentityConfig
from handlers.domain.webhook_identity import MAX_ID_BYTES, event_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from handlers.domain.json_text import JsonValue

FORMS = "staticforms:{event}:{data.submissionId}"


def identify(
    body: JsonValue,
    path: str | None = "id",
    header: str | None = None,
    template: str | None = None,
    headers: Mapping[str, Sequence[str]] | None = None,
) -> str:
    return event_id(IdentityConfig(path, header, template), headers or {}, body)


def refusal(
    body: JsonValue,
    path: str | None = "id",
    header: str | None = None,
    template: str | None = None,
    headers: Mapping[str, Sequence[str]] | None = None,
) -> tuple[str, str]:
    with pytest.raises(InvalidBody) as refused:
        identify(body, path, header, template, headers)
    (fault,) = refused.value.faults
    return fault.field, fault.rule


def test_the_id_is_what_the_path_names_or_the_template_makes_of_it() -> None:
    assert identify({"id": "evt_1"}) == "evt_1"
    assert identify({"data": {"submissionId": "s 1"}}, "data.submissionId") == "s 1"
    assert identify({"event": "new", "data": {"submissionId": 7}}, "data.submissionId", None, FORMS) == (
        "staticforms:new:7"
    )
    assert identify([{"id": "a"}], "[0].id") == "a"
    assert identify({"a": 1, "b": 2}, "a", None, "<{a}/{b}>") == "<1/2>"
    assert identify({"naïve": "é"}, '"naïve"') == "é"


@pytest.mark.parametrize("dots", [".", ".."])
def test_an_id_that_no_path_can_hold_is_refused_before_anything_is_accepted(dots: str) -> None:
    assert refusal({"id": dots}) == ("", "dots")
    assert refusal([], None, "X-Event", None, {"x-event": [dots]}) == ("", "dots")
    # What the template makes of it is what counts.
    assert identify({"id": dots}, "id", None, "evt-{id}") == f"evt-{dots}"
    assert identify({"id": "..."}) == "..."


def test_a_number_is_one_id_however_it_is_spelled_and_keeps_every_digit() -> None:
    assert {identify({"id": number}) for number in (1, 1.0, "1")} == {"1"}
    assert identify({"id": 12345678901234567890}) == "12345678901234567890"


@pytest.mark.parametrize(
    ("found", "rule"),
    [
        (None, "missing"),
        ("", "blank"),
        (" \t ", "blank"),
        ("\u3000", "blank"),
        ({"a": 1}, "not_scalar"),
        (["a"], "not_scalar"),
        ([], "not_scalar"),
        ("a\nb", "control_character"),
        ("a\x00", "control_character"),
        ("a\x85", "control_character"),
    ],
)
def test_a_part_that_is_not_there_or_no_id_is_refused_wherever_it_stands(found: JsonValue, rule: str) -> None:
    assert refusal({"data": {"submissionId": found}}, "data.submissionId") == ("/data/submissionId", rule)
    body: JsonValue = {"event": found, "data": {"submissionId": "s"}}
    assert refusal(body, "data.submissionId", None, FORMS) == ("/event", rule)


@pytest.mark.parametrize("body", [{}, [], "id", 5, None, {"ID": "a"}, {"data": {"id": "a"}}])
def test_a_body_without_the_id_is_refused(body: JsonValue) -> None:
    assert refusal(body) == ("/id", "missing")


# Registries of earlier releases may hold functions, which tenant files no longer take.
NOTHING: list[tuple[str, JsonValue]] = [
    ("join('-', id)", {"id": 5}),
    ("length(data)", {"data": 5}),
    ("max(data)", {"data": [1, "a"]}),
    ("max_by(data, &a).a", {"data": [{"a": 1}, {"a": "b"}]}),
    ("to_number(ref)", {"ref": "nan"}),
    ("to_number(ref)", {"ref": "1e999"}),
    ("sum(data)", {"data": [1e308, 1e308]}),
    ("data.id == `1`", {}),
    ("!data.id", {}),
    ("starts_with(id, 'e')", {"id": "evt"}),
    ("contains(id, 'e') && id == 'evt'", {"id": "evt"}),
]


@pytest.mark.parametrize(("expression", "body"), NOTHING)
def test_an_expression_that_its_body_does_not_suit_or_that_judges_it_finds_nothing(
    expression: str, body: JsonValue
) -> None:
    assert refusal(body, expression) == (expression, "missing")
    assert isinstance(body, dict)
    with pytest.raises(InvalidBody) as refused:
        key_fields.key("appointments", [expression], body)
    assert [(fault.field, fault.rule) for fault in refused.value.faults] == [(expression, "missing")]


def test_a_list_with_a_number_beyond_all_numbers_is_no_part_of_a_key() -> None:
    with pytest.raises(InvalidBody):
        key_fields.key("appointments", ["[sum(data)]"], {"data": [1e308, 1e308]})


@pytest.mark.parametrize("value", [True, False])
def test_a_boolean_is_no_id_and_may_stand_beside_one(value: bool) -> None:
    assert refusal({"id": value}) == ("/id", "boolean")
    assert refusal({"id": value, "b": "x"}, "id", None, "{id}:{b}") == ("/id", "boolean")
    assert refusal({"id": value}, "id", "X-Id", None, {"x-id": [str(value).lower()]}) == ("/id", "boolean")
    assert identify({"id": "e", "live": value}, "id", None, "{id}:{live}") == f"e:{str(value).lower()}"


@pytest.mark.parametrize("value", [0, 0.0, "", [], {}])
def test_what_a_path_finds_is_there_whatever_it_is(value: JsonValue) -> None:
    made = key_fields.key("appointments", ["data.part"], {"data": {"part": value}})
    assert made != key_fields.key("appointments", ["data.part"], {"data": {"part": "other"}})


def test_a_header_alone_is_the_id() -> None:
    for sent in (["d1"], [" d1\t"], ["d1", "d1"]):
        assert identify({}, None, "X-GitHub-Delivery", None, {"x-github-delivery": sent}) == "d1"
    assert refusal({}, None, "X-Id") == ("X-Id", "missing")
    assert refusal({}, None, "X-Id", None, {"x-id": [" "]}) == ("X-Id", "blank")
    assert refusal({}, None, "X-Id", None, {"x-id": ["a", "b"]}) == ("X-Id", "conflicting")
    assert refusal({}, None, "X-Id", None, {"x-id": ["\ud800"]}) == ("X-Id", "lone_surrogate")
    assert refusal({}, None, "X-Id", None, {"x-id": ["a\x01"]}) == ("X-Id", "control_character")


def test_header_and_body_must_name_the_same_event() -> None:
    sent = {"webhook-id": ["evt_1"]}
    assert identify({"id": "evt_1"}, "id", "webhook-id", None, sent) == "evt_1"
    assert identify(
        {"event": "e", "data": {"submissionId": "evt_1"}}, "data.submissionId", "webhook-id", FORMS, sent
    ) == ("staticforms:e:evt_1")
    assert identify({"id": 5}, "id", "webhook-id", None, {"webhook-id": ["5"]}) == "5"
    with pytest.raises(InvalidBody, match=r"header webhook-id and id of the body") as refused:
        identify({"id": "evt_2"}, "id", "webhook-id", None, sent)
    assert [fault.rule for fault in refused.value.faults] == ["conflicting"]
    assert "evt_" not in refused.value.detail
    assert refusal({"id": "evt_1"}, "id", "webhook-id") == ("webhook-id", "missing")
    assert refusal({}, "id", "webhook-id", None, sent) == ("/id", "missing")


def test_an_id_has_at_most_1024_bytes_and_its_key_fits_dynamodb() -> None:
    longest = "é" * (MAX_ID_BYTES // 2)
    assert identify({"id": longest}) == longest
    key = keys.partition_key("t" * 32, keys.derived("webhooks", "s" * 64, longest))
    assert len(key.encode()) < 2048
    assert refusal({"id": longest + "a"}) == ("", "too_long")
    assert refusal({}, None, "x", None, {"x": ["a" * (MAX_ID_BYTES + 1)]}) == ("", "too_long")


@given(
    st.lists(
        st.tuples(*[st.text(":%/-a3A", min_size=1, max_size=4)] * 2), min_size=2, max_size=2, unique=True
    )
)
def test_two_events_whose_parts_differ_never_make_one_id(pairs: list[tuple[str, str]]) -> None:
    for template in ("{a}:{b}", "x{a}-3{b}y", "{a}%3A/{b}", "{a}::{b}"):
        made = {identify({"a": a, "b": b}, "a", None, template) for a, b in pairs}
        assert len(made) == len(pairs)


def test_one_part_alone_is_taken_as_it_is() -> None:
    assert identify({"id": "a:b%c"}, "id", None, "shop:{id}") == "shop:a:b%c"
    assert identify({"a": "x:y", "b": "50%"}, "a", None, "{a}:{b}") == "x%3Ay:50%25"


@pytest.mark.parametrize(
    "template", ["no placeholder", "{a}{b}", "{a}and{b}", "{a}1{b}", "{a", "a}{b}", "{a}:{b}}", "{a b}"]
)
def test_a_template_that_cannot_tell_its_parts_apart_is_corrupt(template: str) -> None:
    with pytest.raises(CorruptItem, match=r"identity\.(template|path)"):
        identify({"a": "a", "b": "b"}, "a", None, template)


def test_a_path_that_is_no_jmespath_is_corrupt() -> None:
    with pytest.raises(CorruptItem, match=r"identity\.path"):
        identify({}, "a..b")
