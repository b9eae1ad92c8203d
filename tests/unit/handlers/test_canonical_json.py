from __future__ import annotations

import json
import math

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from handlers.domain.canonical_json import MAX_DEPTH, as_sent, canonical, parse
from handlers.domain.errors import InvalidBody
from handlers.domain.fingerprint import fingerprint
from handlers.domain.json_text import JsonValue, compact

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXT,
)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=4)),
    max_leaves=12,
)


@given(value=VALUES)
def test_the_canonical_form_is_that_of_rfc_8785(value: JsonValue) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@given(value=VALUES)
def test_spelling_and_order_do_not_change_the_fingerprint(value: JsonValue) -> None:
    spelled = json.dumps(value, indent=3, ensure_ascii=True)
    assert fingerprint("leads", canonical(parse(spelled.encode()))) == fingerprint("leads", canonical(value))


@given(value=VALUES)
def test_what_is_stored_parses_back_to_what_was_sent(value: JsonValue) -> None:
    assert canonical(parse(compact(value).encode())) == canonical(value)


@given(value=VALUES, indent=st.sampled_from([None, 3, "\t", "\r\n"]), ascii_only=st.booleans())
def test_as_sent_loses_the_white_space_between_tokens_and_nothing_else(
    value: JsonValue, indent: int | str | None, ascii_only: bool
) -> None:
    sent = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert as_sent(sent.encode()) == json.dumps(value, separators=(",", ":"), ensure_ascii=ascii_only)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1.50}',
        "[1e2,1E+2,-0,-0.0]",
        '"\\u0041 \\/ \\" \\\\"',
        "0.12345678901234567890123",
        '" a\u00a0 "',
        '{" ":" "}',
    ],
)
def test_as_sent_keeps_every_spelling(text: str) -> None:
    parse(text.encode())
    assert as_sent(b"\r\n\t " + text.encode() + b" ") == text


@pytest.mark.parametrize("spelling", ["1", "1.0", "1e0", "10e-1", "1.000"])
def test_numbers_that_are_equal_are_one(spelling: str) -> None:
    assert canonical(parse(f'{{"n":{spelling}}}'.encode())) == b'{"n":1}'


@pytest.mark.parametrize(
    "digits", ["9007199254740993", "-9007199254740993", "123456789012345678901234567890"]
)
def test_integers_beyond_a_double_keep_every_digit(digits: str) -> None:
    assert canonical(parse(digits.encode())) == digits.encode()
    assert canonical(int(digits) - 1) != digits.encode()


def test_member_order_is_by_utf16_code_units() -> None:
    # U+1F600 is above U+FB33 as a code point and below it as UTF-16: RFC 8785 section 3.2.3.
    assert canonical(parse(b'{"\\ufb33":1,"\\ud83d\\ude00":2}')).startswith('{"\U0001f600"'.encode())


def test_operation_is_part_of_the_fingerprint() -> None:
    assert fingerprint("leads", b"{}") != fingerprint("orders", b"{}")


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (b"", "not_json"),
        (b"{", "not_json"),
        (b"{'a':1}", "not_json"),
        (b'{"a":1}x', "not_json"),
        (b"\xef\xbb\xbf{}", "not_json"),
        (b"NaN", "not_finite"),
        (b'{"a":Infinity}', "not_finite"),
        (b"[-Infinity]", "not_finite"),
        (b"[1e400]", "not_finite"),
        (b'{"a":1,"a":1}', "duplicate_name"),
        (b'[{"b":{"a":1,"\\u0061":2}}]', "duplicate_name"),
        (b'"\\ud800"', "lone_surrogate"),
        (b'{"\\udc00":1}', "lone_surrogate"),
        (b'["a\\ude00\\ud83d"]', "lone_surrogate"),
        (b'"\xff"', "not_utf8"),
        (b'"\xed\xa0\x80"', "not_utf8"),
        (b"[" * 100_000, "too_deep"),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "too_deep"),
        (b"1" * 5_000, "number_too_long"),
    ],
)
def test_what_is_not_strict_json_is_refused_with_its_rule(body: bytes, rule: str) -> None:
    with pytest.raises(InvalidBody) as refused:
        parse(body)
    assert [fault.rule for fault in refused.value.faults] == [rule]


@pytest.mark.parametrize(
    "body", [b'{"SECRET":1,"SECRET":2}', b'["SECRET', b'{"SECRET":"\\ud800"}', b'{"SECRET":1e999}', b"SECRET"]
)
def test_a_refusal_never_repeats_what_was_sent(body: bytes) -> None:
    with pytest.raises(InvalidBody) as refused:
        parse(body)
    assert "SECRET" not in str(refused.value) + str(refused.value.faults)


def test_nesting_up_to_the_limit_is_taken() -> None:
    assert parse(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH) is not None


@given(data=st.binary(max_size=200))
def test_any_bytes_are_parsed_or_refused(data: bytes) -> None:
    try:
        value = parse(data)
    except InvalidBody:
        return
    assert not (isinstance(value, float) and math.isnan(value))
    canonical(value)
