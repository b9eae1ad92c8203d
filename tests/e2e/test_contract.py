"""Section 3 of the contract, row by row, through the deployed API; each row with three inputs or more."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from tests.builders import LEAD
from tests.e2e.api import Api, eventually, fresh_key

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

pytestmark = pytest.mark.platform

PROBLEM = "application/problem+json"
ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


def assert_problem(response: httpx.Response, status: int, slug: str) -> dict[str, object]:
    """The answer is problem+json of this status and type; returns it."""
    assert response.status_code == status, response.text
    assert response.headers["Content-Type"] == PROBLEM
    body: dict[str, object] = response.json()
    assert body["type"] == f"urn:onceward:problem:{slug}"
    assert body["status"] == status
    assert body["title"]
    assert body["detail"]
    assert body["correlationId"] == response.headers["X-Correlation-Id"]
    return body


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
@pytest.mark.parametrize("quote", ["{}", '"{}"', " \t{}\t "])
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


@pytest.mark.parametrize(
    ("key", "rule"),
    [
        ("", "blank"),
        ('""', "blank"),
        ("   ", "blank"),
        ("k" * 256, "too_long"),
        ("a b", "not_visible_ascii"),
        ('"a b"', "not_visible_ascii"),
        ('"unbalanced', "bad_quoting"),
    ],
)
def test_a_bad_key_is_400_and_names_the_rule(alpha: Api, key: str, rule: str) -> None:
    problem = assert_problem(alpha.post(idempotency_key=key), 400, "invalid-key")
    assert problem["errors"] == [
        {"field": "Idempotency-Key", "rule": rule, "detail": problem["errors"][0]["detail"]}  # type: ignore[index]
    ]


@pytest.mark.parametrize(("first", "second"), [("a", "b"), ("a", "A"), ("a", '"b"')])
def test_two_different_keys_are_400(alpha: Api, first: str, second: str) -> None:
    headers = [("Idempotency-Key", first + "-2"), ("Idempotency-Key", second + "-2")]
    assert_problem(alpha.post(headers=headers), 400, "invalid-key")


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
        eventually(lambda lead=lead: strict.get(f"/v1/leads/{lead['id']}").status_code == 200)


@pytest.mark.parametrize("size", [1025, 2048, 100_000])
def test_a_body_over_the_tier_s_limit_is_413(caller: Callable[..., Api], size: int) -> None:
    narrow, key = caller("narrow"), fresh_key()
    raw = json.dumps(LEAD).encode()

    def answer(body: bytes) -> httpx.Response:
        # The tenant is also narrow in rate: 429 says nothing of the body.
        got: httpx.Response = eventually(
            lambda: (r := narrow.post(raw=body, idempotency_key=key)).status_code != 429 and r, seconds=15
        )
        return got

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


@pytest.mark.parametrize("path", ["/v1/leads", f"/v1/leads/{ULID}", "/v1/receipts/k"])
def test_no_credential_is_401(anonymous: Api, path: str) -> None:
    answer = anonymous.post() if path == "/v1/leads" else anonymous.get(path)
    assert_problem(answer, 401, "unauthorized")


@pytest.mark.parametrize("key", ["unknown", "x" * 40, "é".encode().hex()])
def test_an_unknown_credential_is_403(anonymous: Api, key: str) -> None:
    stranger = Api(anonymous.url, key, anonymous.client)
    assert_problem(stranger.post(), 403, "forbidden")
    assert_problem(stranger.get(f"/v1/leads/{ULID}"), 403, "forbidden")


def test_a_suspended_tenant_is_403(caller: Callable[..., Api]) -> None:
    closed = caller("closed")
    for answer in (closed.post(), closed.get(f"/v1/leads/{ULID}"), closed.get("/v1/receipts/k")):
        assert_problem(answer, 403, "forbidden")


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v2/leads", "/v1/lead", f"/v1/leads/{ULID}/more", "/v1/receipts"]
)
def test_an_unknown_path_is_404(alpha: Api, path: str) -> None:
    assert_problem(alpha.get(path), 404, "not-found")


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", "/v1/leads", {"POST", "OPTIONS"}),
        ("DELETE", "/v1/leads", {"POST", "OPTIONS"}),
        ("PUT", f"/v1/leads/{ULID}", {"GET", "OPTIONS"}),
        ("PATCH", "/v1/receipts/k", {"GET", "OPTIONS"}),
    ],
)
def test_another_method_is_405_with_allow(alpha: Api, method: str, path: str, allow: set[str]) -> None:
    answer = alpha.request(method, path)
    assert_problem(answer, 405, "method-not-allowed")
    assert {word.strip() for word in answer.headers["Allow"].split(",")} == allow


@pytest.mark.parametrize("media", ["text/plain", "application/x-www-form-urlencoded", "application/xml"])
def test_another_media_type_is_415(alpha: Api, media: str) -> None:
    assert_problem(alpha.post(headers={"content-type": media}), 415, "unsupported-media-type")


def test_over_the_rate_is_429_and_another_tenant_does_not_notice(
    caller: Callable[..., Api], alpha: Api
) -> None:
    narrow = caller("narrow")
    answers = [narrow.post(idempotency_key=fresh_key()) for _ in range(12)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert len(refused) >= 3
    for answer in refused:
        assert_problem(answer, 429, "rate-limited")
    assert alpha.post(idempotency_key=fresh_key()).status_code == 201


@pytest.mark.parametrize(
    "identifier", [ULID, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "not-a-ulid", "01arz3ndektsv4rrffq69g5fav"]
)
def test_an_unknown_lead_is_404(alpha: Api, identifier: str) -> None:
    assert_problem(alpha.get(f"/v1/leads/{identifier}"), 404, "not-found")


def test_another_tenant_s_lead_and_receipt_are_404(alpha: Api, caller: Callable[..., Api]) -> None:
    for _ in range(3):
        key = fresh_key()
        lead = alpha.post(idempotency_key=key).json()
        assert alpha.get(f"/v1/leads/{lead['id']}").status_code == 200
        assert_problem(caller("beta").get(f"/v1/leads/{lead['id']}"), 404, "not-found")
        assert_problem(caller("beta").get(f"/v1/receipts/{key}"), 404, "not-found")


def test_the_same_key_under_three_tenants_makes_three_leads(caller: Callable[..., Api]) -> None:
    for _ in range(3):
        key = fresh_key()
        answers = [caller(tenant).post(idempotency_key=key) for tenant in ("alpha", "beta", "gamma")]
        assert [answer.status_code for answer in answers] == [201, 201, 201]
        assert len({answer.json()["id"] for answer in answers}) == 3
        assert not any("Idempotent-Replayed" in answer.headers for answer in answers)


@pytest.mark.parametrize("suffix", ["", "/a/b", "%2F", "+%20", "#?&=", "~!$'()*,;:@"])
def test_a_receipt_says_what_became_of_a_key(alpha: Api, suffix: str) -> None:
    from urllib.parse import quote

    key = fresh_key() + suffix
    lead = alpha.post(idempotency_key=key)
    answer = alpha.get(f"/v1/receipts/{quote(key, safe='')}")
    assert answer.status_code == 200, answer.text
    receipt = answer.json()
    assert receipt["key"] == key
    assert (receipt["operation"], receipt["status"]) == ("leads", "COMPLETED")
    assert receipt["record"] == lead.headers["Location"]
    assert receipt["firstSeen"] == lead.json()["createdAt"]
    assert receipt["expires"] > receipt["firstSeen"]


@pytest.mark.parametrize("key", ["never-used", "k" * 255, "a/b"])
def test_a_receipt_of_a_key_never_used_is_404(alpha: Api, key: str) -> None:
    assert_problem(alpha.get(f"/v1/receipts/{key}"), 404, "not-found")


@pytest.mark.parametrize("sent", ["order-7", "a.b:c/d", "x" * 128])
def test_a_sane_correlation_id_comes_back(alpha: Api, sent: str) -> None:
    assert alpha.post(headers={"X-Correlation-Id": sent}).headers["X-Correlation-Id"] == sent


@pytest.mark.parametrize("sent", ["x" * 129, "with space", "semi;colon"])
def test_another_one_is_replaced(alpha: Api, sent: str) -> None:
    answered = alpha.post(headers={"X-Correlation-Id": sent}).headers["X-Correlation-Id"]
    assert answered
    assert answered != sent


@pytest.mark.parametrize("origin", ["https://evil.example", "https://www.alpha.example.evil.example", "null"])
def test_a_publishable_key_creates_leads_from_its_origins_and_nothing_else(
    caller: Callable[..., Api], alpha: Api, origin: str
) -> None:
    web, home = caller("alpha", "web"), {"Origin": "https://www.alpha.example"}
    made = web.post(LEAD | {"mark": fresh_key()}, headers=home)
    assert made.status_code == 201
    assert alpha.get(made.headers["Location"]).status_code == 200
    assert_problem(web.post(headers={"Origin": origin}), 403, "forbidden")
    assert_problem(web.post(), 403, "forbidden")
    assert web.get(made.headers["Location"], home).status_code == 403
    assert web.get("/v1/receipts/k", home).status_code == 403


def test_a_read_right_after_the_answer_finds_the_lead(alpha: Api) -> None:
    slowest = 0.0
    for _ in range(10):
        made = alpha.post(idempotency_key=fresh_key())
        started = time.monotonic()
        assert alpha.get(made.headers["Location"]).status_code == 200
        slowest = max(slowest, time.monotonic() - started)
    print(f"slowest read after its own write: {slowest * 1000:.0f} ms")
