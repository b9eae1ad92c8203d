"""`ingest` over the contract-proved fake: every row of the contract's table that it decides."""

from __future__ import annotations

import io
import itertools
import json
import logging
from typing import TYPE_CHECKING, Any

import pytest
from aws_lambda_powertools import Logger

from handlers.domain import keys
from handlers.domain.errors import Refused, Unavailable
from handlers.domain.fingerprint import body_hash
from handlers.domain.receipt import Status
from handlers.ingest import Dependencies, ingest
from handlers.settings import IngestSettings
from tests.builders import FINGERPRINT, HOUR_MS, LEAD, NOW_MS, authorizer_context, in_progress, lead_event
from tests.fakes.receipts import InMemoryReceipts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handlers.domain.ports import PutOutcome, ReceiptStore
    from handlers.domain.protocol import Claim
    from handlers.domain.receipt import Receipt

ORIGIN = "https://www.acme.example"


@pytest.fixture
def store() -> InMemoryReceipts:
    return InMemoryReceipts()


def dependencies(store: ReceiptStore, now_ms: int = NOW_MS) -> Dependencies:
    numbers = iter(range(1_000_000))
    return Dependencies(
        settings=IngestSettings(stage="local", receipts_table="receipts", cors_origins=(ORIGIN,)),
        store=store,
        logger=_logger(),
        clock_ms=lambda: now_ms,
        randomness=lambda: f"{id(store):x}-{next(numbers)}-{now_ms}",
    )


def _logger() -> Logger:
    # Powertools keeps one handler a service name for the whole process: a name and a stream of our own.
    _LOG.seek(0)
    _LOG.truncate()
    return Logger(service=f"ingest-{next(_LOGGERS)}", level=logging.INFO, stream=_LOG)


_LOG = io.StringIO()
_LOGGERS = itertools.count()


def post(store: ReceiptStore, event: Mapping[str, Any], *, now_ms: int = NOW_MS) -> dict[str, Any]:
    answer = ingest(event, _ONE_PROCESS.setdefault(id(store), dependencies(store, now_ms)))
    assert answer["headers"]["X-Correlation-Id"]
    return answer


_ONE_PROCESS: dict[int, Dependencies] = {}


@pytest.fixture(autouse=True)
def _fresh_process() -> None:
    _ONE_PROCESS.clear()


def keyed(key: str, body: object = None, **more: Any) -> dict[str, Any]:
    return lead_event(body, headers={"idempotency-key": [key]}, **more)


def rules(answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(fault["field"], fault["rule"]) for fault in json.loads(answer["body"])["errors"]]


def test_a_new_lead_is_created_scored_and_stored_in_one_write(store: InMemoryReceipts) -> None:
    answer = post(store, keyed("k1", LEAD | {"favourite colour": "ultramarine", "n": 12345678901234567890}))
    assert answer["statusCode"] == 201
    body = json.loads(answer["body"])
    assert answer["headers"]["Location"] == f"/v1/leads/{body['id']}"
    assert body["score"] == {"score": 20, "tier": "cold", "factors": {"work_email": 20}}
    assert store.writes == 1
    stored = store.items["acme", "k1"]
    assert stored.status is Status.COMPLETED
    assert stored.outbox is not None
    document = json.loads(stored.outbox.document)
    assert document["lead"]["favourite colour"] == "ultramarine"
    assert document["lead"]["n"] == 12345678901234567890
    assert (document["id"], document["createdAt"]) == (body["id"], "2026-11-30T00:53:20.000Z")
    assert stored.expires_at == NOW_MS + 24 * HOUR_MS


def test_a_replay_is_the_first_answer_byte_for_byte(store: InMemoryReceipts) -> None:
    first = post(store, keyed("k1"))
    second = post(
        store,
        lead_event(
            raw=b'{ "email":"ada@analytical.example",\n"name":"Ada Lovelace"}',
            headers={"idempotency-key": ['"k1"']},
            arrival_ms=NOW_MS + 5,
        ),
    )
    assert second["headers"].pop("Idempotent-Replayed") == "true"
    first["headers"].pop("X-Correlation-Id"), second["headers"].pop("X-Correlation-Id")
    assert second == first
    assert len(store.items) == 1


def test_another_body_under_the_key_is_422_and_changes_nothing(store: InMemoryReceipts) -> None:
    post(store, keyed("k1"))
    before = dict(store.items)
    answer = post(store, keyed("k1", LEAD | {"phone": "+1 202 555 0100"}))
    assert (answer["statusCode"], json.loads(answer["body"])["type"]) == (
        422,
        "urn:onceward:problem:key-reused",
    )
    assert store.items == before


def test_another_operation_s_key_is_422_also_while_it_runs(store: InMemoryReceipts) -> None:
    store.items["acme", "k1"] = in_progress(operation="payments", fingerprint=FINGERPRINT)
    assert post(store, keyed("k1"))["statusCode"] == 422


def test_a_key_after_its_window_is_a_new_request_with_new_ids(store: InMemoryReceipts) -> None:
    first = post(store, keyed("k1"))
    again = post(store, keyed("k1", arrival_ms=NOW_MS + 24 * HOUR_MS))
    assert again["statusCode"] == 201
    assert "Idempotent-Replayed" not in again["headers"]
    assert json.loads(again["body"])["id"] != json.loads(first["body"])["id"]


def test_a_tenant_s_own_window_counts(store: InMemoryReceipts) -> None:
    short = authorizer_context(operationSettings='{"leads":{"windowSeconds":10,"keySource":"header"}}')
    post(store, keyed("k1", authorizer=short))
    inside = post(store, keyed("k1", authorizer=short, arrival_ms=NOW_MS + 9_999))
    outside = post(store, keyed("k1", authorizer=short, arrival_ms=NOW_MS + 10_000))
    assert inside["headers"]["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in outside["headers"]


def test_without_a_key_the_canonical_body_is_the_key(store: InMemoryReceipts) -> None:
    post(store, lead_event())
    again = post(store, lead_event(raw='{"email":"ada@analytical.example","name":"Ada Lovelace"}'))
    assert again["headers"]["Idempotent-Replayed"] == "true"
    assert list(store.items) == [("acme", keys.derived("leads", "body", body_hash(dict(LEAD))))]


def test_a_tenant_that_requires_a_key_gets_400_without_one(store: InMemoryReceipts) -> None:
    strict = authorizer_context(operationSettings='{"leads":{"windowSeconds":10,"keySource":"header"}}')
    answer = post(store, lead_event(authorizer=strict))
    assert (answer["statusCode"], rules(answer)) == (400, [("Idempotency-Key", "missing")])
    assert store.writes == 0


def test_two_tenants_with_one_key_and_body_get_a_lead_each(store: InMemoryReceipts) -> None:
    ours = post(store, keyed("k1"))
    theirs = post(store, keyed("k1", authorizer=authorizer_context(tenantId="bluebird")))
    assert json.loads(ours["body"])["id"] != json.loads(theirs["body"])["id"]
    assert "Idempotent-Replayed" not in theirs["headers"]


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, [("/name", "missing")]),
        ({"name": "A"}, [("", "unreachable")]),
        (
            {"name": "", "email": "no", "phone": 5},
            [("/name", "string_too_short"), ("/email", "string_pattern_mismatch"), ("/phone", "string_type")],
        ),
        (
            LEAD | {"budget": -1, "message": "m" * 5001},
            [("/message", "string_too_long"), ("/budget", "greater_than_equal")],
        ),
        (LEAD | {"budget": "1000"}, [("/budget", "float_type")]),
        ([LEAD], [("", "model_type")]),
        ("lead", [("", "model_type")]),
        (None, [("", "model_type")]),
    ],
)
def test_every_fault_of_a_body_is_listed_and_nothing_is_written(
    store: InMemoryReceipts, body: object, faults: list[tuple[str, str]]
) -> None:
    answer = post(store, lead_event(raw=json.dumps(body)))
    assert (answer["statusCode"], rules(answer)) == (400, faults)
    assert answer["headers"]["Content-Type"] == "application/problem+json"
    assert store.writes == 0


def test_what_was_sent_is_never_repeated_in_a_refusal_or_the_log(
    store: InMemoryReceipts, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = post(store, lead_event(LEAD | {"email": "SECRET@@x"}))
    assert answer["statusCode"] == 400
    assert "string_pattern_mismatch" in _LOG.getvalue()
    assert "SECRET" not in answer["body"] + capsys.readouterr().out + _LOG.getvalue()


@pytest.mark.parametrize(
    ("raw", "status", "rule"),
    [
        (b"{", 400, "not_json"),
        (b'{"name":"A","name":"B","phone":"12345"}', 400, "duplicate_name"),
        (b'{"name":"\\ud800","phone":"12345"}', 400, "lone_surrogate"),
        (b'{"name":NaN}', 400, "not_finite"),
        ("", 400, "not_json"),
    ],
)
def test_what_is_not_json_is_400(store: InMemoryReceipts, raw: str | bytes, status: int, rule: str) -> None:
    answer = post(store, lead_event(raw=raw))
    assert (answer["statusCode"], [found for _, found in rules(answer)]) == (status, [rule])


def test_a_body_that_is_marked_as_base64_and_is_not_is_400(store: InMemoryReceipts) -> None:
    answer = post(store, lead_event(raw="%%%") | {"isBase64Encoded": True})
    assert (answer["statusCode"], rules(answer)) == (400, [("", "bad_base64")])


def test_base64_and_plain_bodies_are_one_request(store: InMemoryReceipts) -> None:
    post(store, lead_event(raw=json.dumps(LEAD), headers={"idempotency-key": ["k1"]}))
    again = post(store, lead_event(raw=json.dumps(LEAD).encode(), headers={"idempotency-key": ["k1"]}))
    assert again["headers"]["Idempotent-Replayed"] == "true"


@pytest.mark.parametrize("over", [1, 2, 1000])
def test_a_body_over_the_tier_s_limit_is_413_before_any_claim(store: InMemoryReceipts, over: int) -> None:
    raw = json.dumps(LEAD | {"message": "é" * 600}, ensure_ascii=False).encode()
    small = authorizer_context(bodyLimitBytes=str(len(raw)))
    assert post(store, lead_event(raw=raw + b" " * over, authorizer=small))["statusCode"] == 413
    assert store.writes == 0
    assert post(store, lead_event(raw=raw, authorizer=small))["statusCode"] == 201


def test_a_body_whose_event_would_be_too_large_is_413_before_any_claim(store: InMemoryReceipts) -> None:
    # 4 bytes each on the way in, 18 each as stored numbers.
    raw = '{"name":"A","phone":"12345","n":[' + ",".join(["1e15"] * 20_000) + "]}"
    assert len(raw) < 131_072
    assert post(store, lead_event(raw=raw))["statusCode"] == 413
    assert store.writes == 0


@pytest.mark.parametrize("media", ["text/plain", "application/xml", "", "application/json; charset=latin-1"])
def test_another_media_type_is_415(store: InMemoryReceipts, media: str) -> None:
    assert post(store, lead_event(headers={"content-type": [media]}))["statusCode"] == 415


@pytest.mark.parametrize(
    "media", ["application/json", "Application/JSON", 'application/json; charset="UTF-8"']
)
def test_json_in_any_spelling_is_taken(store: InMemoryReceipts, media: str) -> None:
    assert post(store, lead_event(headers={"content-type": [media]}))["statusCode"] == 201


@pytest.mark.parametrize("header", ["Idempotency-Key", "idempotency-key", "IDEMPOTENCY-KEY"])
def test_header_names_are_matched_without_case(store: InMemoryReceipts, header: str) -> None:
    post(store, lead_event(headers={header: ["k1"]}))
    assert list(store.items) == [("acme", "k1")]


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        ("order-7/try:2", "order-7/try:2"),
        ("x" * 129, "gateway-request-id"),
        ("a\nb", "gateway-request-id"),
        ("", "gateway-request-id"),
    ],
)
def test_a_sane_correlation_id_is_kept(store: InMemoryReceipts, sent: str, answered: str) -> None:
    answer = post(store, lead_event(headers={"x-correlation-id": [sent]}))
    assert answer["headers"]["X-Correlation-Id"] == answered
    assert next(iter(store.items.values())).correlation_id == answered


@pytest.mark.parametrize("origin", [None, "https://evil.example", "null"])
def test_a_publishable_key_works_from_its_origins_only(store: InMemoryReceipts, origin: str | None) -> None:
    publishable = authorizer_context(operations="leads:create", origins=ORIGIN)
    headers = {} if origin is None else {"origin": [origin]}
    assert post(store, lead_event(headers=headers, authorizer=publishable))["statusCode"] == 403
    good = post(store, lead_event(headers={"origin": [ORIGIN]}, authorizer=publishable))
    assert good["statusCode"] == 201
    assert good["headers"]["Access-Control-Allow-Origin"] == ORIGIN


def test_a_key_without_the_permission_is_403(store: InMemoryReceipts) -> None:
    answer = post(store, lead_event(authorizer=authorizer_context(operations="leads:read")))
    assert (answer["statusCode"], store.writes) == (403, 0)


class FailingStore:
    """A store that cannot be reached."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def put(self, receipt: Receipt, claim: Claim) -> PutOutcome:
        raise self._error


@pytest.mark.parametrize(
    "error", [Unavailable("receipts", "ConnectTimeoutError"), Refused("receipts", "AccessDenied")]
)
def test_an_outage_is_503_with_retry_after_and_never_a_2xx(error: Exception) -> None:
    answer = post(FailingStore(error), keyed("k1"))
    assert (answer["statusCode"], answer["headers"]["Retry-After"]) == (503, "1")
    assert "Timeout" not in answer["body"]


def test_an_unforeseen_error_is_a_500_that_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    answer = post(FailingStore(RuntimeError("SECRET payload")), keyed("k1"))
    assert (answer["statusCode"], json.loads(answer["body"])["type"]) == (
        500,
        "urn:onceward:problem:internal-error",
    )
    output = capsys.readouterr().out + _LOG.getvalue()
    assert "RuntimeError at ingest.py" in output
    assert "SECRET" not in output + answer["body"]


def test_an_unfinished_claim_of_another_mode_is_never_overwritten(store: InMemoryReceipts) -> None:
    post(store, keyed("k1"))
    done = store.items["acme", "k1"]
    store.items["acme", "k1"] = in_progress(fingerprint=done.fingerprint, lease_until=NOW_MS + 2_500)
    running = post(store, keyed("k1"))
    assert (running["statusCode"], running["headers"]["Retry-After"]) == (409, "3")
    store.items["acme", "k1"] = in_progress(fingerprint=done.fingerprint, lease_until=0)
    assert post(store, keyed("k1"))["statusCode"] == 503


def test_a_write_that_the_sdk_sent_twice_is_a_first_answer(store: InMemoryReceipts) -> None:
    class AnswerLost(InMemoryReceipts):
        def put(self, receipt: Receipt, claim: Claim) -> PutOutcome:
            super().put(receipt, claim)
            return super().put(receipt, claim)

    answer = post(AnswerLost(), keyed("k1"))
    assert answer["statusCode"] == 201
    assert "Idempotent-Replayed" not in answer["headers"]


def test_one_log_line_and_the_metrics_of_each_request(
    store: InMemoryReceipts, capsys: pytest.CaptureFixture[str]
) -> None:
    post(store, keyed("the-key"))
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    logged = [json.loads(line) for line in _LOG.getvalue().splitlines()]
    assert [(line["outcome"], line["tenant"], line["operation"], line["status"]) for line in logged] == [
        ("accepted", "acme", "leads", 201)
    ]
    emitted = {
        (tuple(sorted(names)), metric["Name"])
        for line in lines
        for directive in line["_aws"]["CloudWatchMetrics"]
        for names in directive["Dimensions"]
        for metric in directive["Metrics"]
    }
    assert (("Service", "TenantId"), "Accepted") in emitted
    assert (("Operation", "Service"), "Accepted") in emitted
    assert (("Service",), "RequestLatency") in emitted
    assert (("Service", "TenantId"), "RequestLatency") not in emitted
    assert "the-key" not in json.dumps(lines + logged)
