"""`ingest`: what is accepted, replayed and told of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from handlers.domain import keys
from handlers.domain.canonical_json import canonical
from handlers.domain.fingerprint import body_hash
from handlers.domain.receipt import Status
from handlers.domain.timestamps import rfc3339
from tests.builders import FINGERPRINT, HOUR_MS, LEAD, NOW_MS, authorizer_context, in_progress, lead_event
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.ingest_calls import LOG, keyed, post, rules

if TYPE_CHECKING:
    from handlers.domain.ports import PutOutcome
    from handlers.domain.protocol import Claim
    from handlers.domain.receipt import Receipt


@pytest.fixture
def store() -> InMemoryReceipts:
    return InMemoryReceipts()


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


def test_the_record_holds_the_body_as_it_was_sent(store: InMemoryReceipts) -> None:
    lead = (
        '{"phone":"12345","z":[1.50,1e2,-0.0,0.12345678901234567890123],"name":"\\u0041 b","a":{" ":"\\/"}}'
    )
    raw = lead.replace(",", " ,\r\n\t").replace(":", ": ")
    answer = post(store, lead_event(raw=raw, headers={"idempotency-key": ["k"]}))
    outbox = store.items["acme", "k"].outbox
    assert outbox is not None
    made = json.loads(answer["body"])
    assert outbox.document == (
        f'{{"id":"{made["id"]}","createdAt":"{made["createdAt"]}","lead":{lead},'
        '"score":{"score":15,"tier":"cold","factors":{"phone":15}}}'
    )


def test_other_spellings_of_the_same_numbers_are_the_same_request(store: InMemoryReceipts) -> None:
    body = '{{"name":"A","phone":"12345","n":{}}}'
    first = post(store, lead_event(raw=body.format("1.50"), headers={"idempotency-key": ["k"]}))
    for spelling in ("1.5", "15e-1", "1.50000000000000000000001"):
        again = post(store, lead_event(raw=body.format(spelling), headers={"idempotency-key": ["k"]}))
        assert (again["body"], again["headers"]["Idempotent-Replayed"]) == (first["body"], "true")
    other = post(store, lead_event(raw=body.format("1.51"), headers={"idempotency-key": ["k"]}))
    assert other["statusCode"] == 422


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
    added = {name: second["headers"].pop(name) for name in second["headers"].keys() - first["headers"].keys()}
    assert added == {
        "Idempotent-Replayed": "true",
        "Idempotency-First-Seen": json.loads(first["body"])["createdAt"],
        "Idempotency-Expires": rfc3339(NOW_MS + 24 * HOUR_MS),
    }
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
    assert list(store.items) == [("acme", keys.derived("leads", "body", body_hash(canonical(dict(LEAD)))))]


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


def test_base64_and_plain_bodies_are_one_request(store: InMemoryReceipts) -> None:
    post(store, lead_event(raw=json.dumps(LEAD), headers={"idempotency-key": ["k1"]}))
    again = post(store, lead_event(raw=json.dumps(LEAD).encode(), headers={"idempotency-key": ["k1"]}))
    assert again["headers"]["Idempotent-Replayed"] == "true"


@pytest.mark.parametrize(
    "media",
    [
        "application/json",
        "Application/JSON",
        ' application/json ; charset="UTF-8"',
        "application/json;charset=utf8",
        "application/json; profile=x; Charset=utf-8",
        'application/json; note="; charset=latin-1"',
        "application/json;",
        # A parameter without a value names no charset.
        "application/json; utf-8",
    ],
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
        (["order-7/try:2"], "order-7/try:2"),
        (["x" * 128], "x" * 128),
        (["x" * 129], "gateway-request-id"),
        (["a\nb"], "gateway-request-id"),
        ([""], "gateway-request-id"),
        (["first", "second"], "gateway-request-id"),
        (["same", "same"], "gateway-request-id"),
    ],
)
def test_one_sane_correlation_id_is_kept(store: InMemoryReceipts, sent: list[str], answered: str) -> None:
    answer = post(store, lead_event(headers={"x-correlation-id": sent}))
    assert answer["headers"]["X-Correlation-Id"] == answered
    assert next(iter(store.items.values())).correlation_id == answered


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
    logged = [json.loads(line) for line in LOG.getvalue().splitlines()]
    assert [(line["outcome"], line["tenant"], line["operation"], line["status"]) for line in logged] == [
        ("accepted", "acme", "leads", 201)
    ]
    assert [line["key_name"] for line in logged] == ["server"]
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
    assert {line["Service"] for line in lines} == {"onceward-local_ingest"}
    assert "the-key" not in json.dumps(lines + logged)
