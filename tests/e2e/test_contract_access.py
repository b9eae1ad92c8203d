"""Section 3 of the contract: who may call, what exists, and what a caller may see."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from tests.builders import LEAD
from tests.e2e.api import Api, assert_problem, fresh_key

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.platform

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


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
    assert_problem(answer, 405, "method-not-allowed", by_mock=True)
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
    keys = [fresh_key() for _ in range(3)]
    leads = [alpha.post(idempotency_key=key).headers["Location"] for key in keys]
    assert [alpha.get(lead).status_code for lead in leads] == [200, 200, 200]
    # At once: each lead is looked for as long as it might be on its way.
    asked = [*leads, *(f"/v1/receipts/{key}" for key in keys)]
    with ThreadPoolExecutor(len(asked)) as pool:
        for answer in pool.map(caller("beta").get, asked):
            assert_problem(answer, 404, "not-found")


def test_the_same_key_under_three_tenants_makes_three_leads(caller: Callable[..., Api]) -> None:
    for _ in range(3):
        key = fresh_key()
        answers = [caller(tenant).post(idempotency_key=key) for tenant in ("alpha", "beta", "gamma")]
        assert [answer.status_code for answer in answers] == [201, 201, 201]
        assert len({answer.json()["id"] for answer in answers}) == 3
        assert not any("Idempotent-Replayed" in answer.headers for answer in answers)


@pytest.mark.parametrize("suffix", ["", "/a/b", "%2F", "+%20", "#?&=", "~!$'()*,;:@"])
def test_a_receipt_says_what_became_of_a_key(alpha: Api, suffix: str) -> None:
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
