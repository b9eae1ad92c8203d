"""Section 3 of the contract: what becomes of a lead that is sent; through the deployed API."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.builders import LEAD
from tests.e2e.api import Api, assert_problem, eventually, fresh_key

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

pytestmark = pytest.mark.platform


@pytest.mark.parametrize(
    "body",
    [
        LEAD,
        LEAD
        | {"company": "Analytical Engines", "budget": 12000.5, "n": 12345678901234567890, "x": [1.0, None]},
        {"name": "Žofie 😀", "phone": "+420 601 123 456", "source": "partner"},
        {"name": "a", "email": "a@b.cz", "message": "m" * 5000},
    ],
)
def test_a_new_request_is_created(alpha: Api, body: dict[str, object]) -> None:
    answer = alpha.post(body, idempotency_key=fresh_key())
    assert answer.status_code == 201
    assert "Idempotent-Replayed" not in answer.headers
    lead = answer.json()
    assert answer.headers["Location"] == f"/v1/leads/{lead['id']}"
    assert set(lead) == {"id", "createdAt", "score"}
    stored = alpha.get(answer.headers["Location"])
    assert stored.status_code == 200
    assert stored.json() == {**lead, "lead": body}


@pytest.mark.parametrize(
    "again",
    [
        b'{"name":"Ada Lovelace","email":"ada@analytical.example"}',
        b'{"email":"ada@analytical.example","name":"Ada Lovelace"}',
        b'\r\n{ "email" : "ada@analytical.example",\t"name":"\\u0041da Lovelace" }\n',
    ],
)
@pytest.mark.parametrize("quote", ["{}", '"{}"'])
def test_the_same_request_is_replayed_byte_for_byte(alpha: Api, again: bytes, quote: str) -> None:
    key = fresh_key()
    first = alpha.post(idempotency_key=key)
    second = alpha.post(raw=again, idempotency_key=quote.format(key))
    assert second.headers["Idempotent-Replayed"] == "true"
    assert (second.status_code, second.content) == (first.status_code, first.content)
    for name in ("Location", "Content-Type"):
        assert second.headers[name] == first.headers[name]


@pytest.mark.parametrize("body", [LEAD, LEAD | {"n": 1.50}, {"phone": "123456", "name": "x"}])
def test_without_a_key_the_body_is_the_key(caller: Callable[..., Api], body: dict[str, object]) -> None:
    beta = caller("beta")
    marked = body | {"mark": fresh_key()}
    first = beta.post(marked)
    second = beta.post(raw=json.dumps(marked, indent=2, sort_keys=True).encode())
    third = beta.post(marked | {"more": True})
    assert second.headers["Idempotent-Replayed"] == "true"
    assert second.content == first.content
    assert "Idempotent-Replayed" not in third.headers


@pytest.mark.parametrize(
    "change", [{"name": "Ada Byron"}, {"extra": 1}, {"email": "b@c.example"}, {"extra": 1.5}]
)
def test_another_body_under_the_key_is_422(alpha: Api, change: dict[str, object]) -> None:
    key = fresh_key()
    first = alpha.post(idempotency_key=key)
    assert_problem(alpha.post(LEAD | change, idempotency_key=key), 422, "key-reused")
    assert alpha.post(idempotency_key=key).content == first.content


KEY_RULES = {
    "blank": "the key is blank",
    "too_long": "the key is longer than 255 bytes",
    "not_visible_ascii": "the key may hold only visible ASCII characters (0x21 to 0x7E)",
    "bad_quoting": "the key starts with a quote but is not a structured-field string",
}


@pytest.mark.parametrize(
    ("key", "rule"),
    [
        ("", "blank"),
        ('""', "blank"),
        ("k" * 256, "too_long"),
        ("a b", "not_visible_ascii"),
        ('"a b"', "not_visible_ascii"),
        ('"unbalanced', "bad_quoting"),
    ],
)
def test_a_bad_key_is_400_and_names_the_rule(alpha: Api, key: str, rule: str) -> None:
    problem = assert_problem(alpha.post(idempotency_key=key), 400, "invalid-key")
    assert problem["errors"] == [{"field": "Idempotency-Key", "rule": rule, "detail": KEY_RULES[rule]}]


@pytest.mark.parametrize(("first", "second"), [("a", "b"), ("a", "A"), ("a", '"b"')])
def test_two_different_keys_are_400(alpha: Api, first: str, second: str) -> None:
    headers = [("Idempotency-Key", first + "-2"), ("Idempotency-Key", second + "-2")]
    assert_problem(alpha.post(headers=headers), 400, "invalid-key")


def test_the_same_key_twice_is_one_key(alpha: Api) -> None:
    for again in ("{}", '"{}"'):
        key = fresh_key()
        headers = [("Idempotency-Key", key), ("Idempotency-Key", again.format(key))]
        first = alpha.post(headers=headers)
        assert (first.status_code, alpha.post(idempotency_key=key).content) == (201, first.content)


def test_a_required_key_that_is_missing_is_400(caller: Callable[..., Api]) -> None:
    strict = caller("strict")
    for body in (LEAD, LEAD | {"n": 1}, {"name": "a", "phone": "12345"}):
        assert_problem(strict.post(body), 400, "invalid-key")


def test_after_its_window_a_key_is_a_new_request(caller: Callable[..., Api]) -> None:
    strict, key = caller("strict"), fresh_key()
    first = strict.post(idempotency_key=key)
    assert strict.post(idempotency_key=key).headers["Idempotent-Replayed"] == "true"

    def once_more() -> httpx.Response | None:
        answer = strict.post(LEAD | {"again": True}, idempotency_key=key)
        assert answer.status_code in (201, 422)
        return answer if answer.status_code == 201 else None

    again: httpx.Response = eventually(once_more, seconds=20)
    assert again.json()["id"] != first.json()["id"]
    for lead in (first.json(), again.json()):
        assert strict.get(f"/v1/leads/{lead['id']}").status_code == 200


@pytest.mark.parametrize("size", [1025, 2048, 100_000])
def test_a_body_over_the_tier_s_limit_is_413(caller: Callable[..., Api], size: int) -> None:
    narrow, key = caller("narrow"), fresh_key()
    raw = json.dumps(LEAD).encode()

    def answer(body: bytes) -> httpx.Response:
        def not_throttled() -> httpx.Response | None:
            # The tenant is also narrow in rate: 429 says nothing of the body.
            got = narrow.post(raw=body, idempotency_key=key)
            return None if got.status_code == 429 else got

        found: httpx.Response = eventually(not_throttled, seconds=15)
        return found

    assert_problem(answer(raw + b" " * (size - len(raw))), 413, "body-too-large")
    assert answer(raw + b" " * (1024 - len(raw))).status_code == 201


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (b"", "not_json"),
        (b"{'name':'x'}", "not_json"),
        (b'{"name":NaN,"phone":"12345"}', "not_finite"),
        (b'{"name":"x","phone":"12345","n":1e999}', "not_finite"),
        (b'{"name":"x","phone":"12345","phone":"12345"}', "duplicate_name"),
        (b'{"name":"\\ud83d","phone":"12345"}', "lone_surrogate"),
        (b'{"name":"\xff","phone":"12345"}', "not_utf8"),
    ],
)
def test_a_body_that_is_not_strict_json_is_400(alpha: Api, raw: bytes, rule: str) -> None:
    problem = assert_problem(alpha.post(raw=raw, idempotency_key=fresh_key()), 400, "invalid-body")
    assert [fault["rule"] for fault in problem["errors"]] == [rule]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["/name"]),
        ({"name": "A"}, [""]),
        ({"name": 5, "email": "nope", "budget": -1}, ["/name", "/email", "/budget"]),
        ([], [""]),
    ],
)
def test_a_body_that_fails_validation_is_400_and_lists_every_fault(
    alpha: Api, body: object, fields: list[str]
) -> None:
    problem = assert_problem(alpha.post(body, idempotency_key=fresh_key()), 400, "invalid-body")
    assert [fault["field"] for fault in problem["errors"]] == fields  # type: ignore[attr-defined]
