"""Orders: accepted once, answered with the status of work that has not begun."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.builders import authorizer_context, lead_event
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.ingest_calls import post

ORDER = {
    "customer": "c-1",
    "currency": "EUR",
    "items": [{"sku": "tea", "quantity": 2, "unitPrice": 450, "note": "loose"}],
}


def order(store: InMemoryReceipts, body: object, key: str | None = "k", **more: Any) -> dict[str, Any]:
    headers = {} if key is None else {"idempotency-key": [key]}
    return post(store, lead_event(body, headers=headers, **more) | {"resource": "/v1/orders"})


def test_an_order_is_accepted_once_with_the_same_id_for_every_retry() -> None:
    store = InMemoryReceipts()
    first, again = order(store, ORDER), order(store, ORDER)
    body = json.loads(first["body"])
    assert (first["statusCode"], body["status"], set(body)) == (
        202,
        "ACCEPTED",
        {"id", "createdAt", "status"},
    )
    assert first["headers"]["Location"] == f"/v1/orders/{body['id']}"
    assert (again["statusCode"], again["body"]) == (202, first["body"])
    assert again["headers"]["Idempotent-Replayed"] == "true"
    outbox = store.items["acme", "k"].outbox
    assert outbox is not None
    assert outbox.type == "order.completed"
    # The status is the record's own, and changes: no part of the document.
    assert json.loads(outbox.document) == {"id": body["id"], "createdAt": body["createdAt"], "order": ORDER}
    assert store.writes == 2


def test_a_status_of_the_caller_s_own_is_not_answered() -> None:
    answer = order(InMemoryReceipts(), ORDER | {"status": "COMPLETED"})
    assert json.loads(answer["body"])["status"] == "ACCEPTED"


def test_an_order_requires_a_key() -> None:
    assert order(InMemoryReceipts(), ORDER, None)["statusCode"] == 400


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        ({"customer": ""}, {"/customer": "must not be empty"}),
        ({"customer": " "}, {"/customer": "must hold more than white space"}),
        ({"currency": "eur"}, {"/currency": "ISO 4217"}),
        ({"currency": "XAU"}, {"/currency": "ISO 4217"}),
        ({"currency": 978}, {"/currency": "must be text"}),
        ({"items": {}}, {"/items": "must be a list"}),
        ({"items": []}, {"/items": "at least 1 entries"}),
        ({"items": [ORDER["items"][0]] * 101}, {"/items": "at most 100 entries"}),
        (
            {"items": [{"sku": "a", "quantity": 0, "unitPrice": -1}, 7]},
            {
                "/items/0/quantity": "must be 1 or more",
                "/items/0/unitPrice": "must be 0 or more",
                "/items/1": "must be a JSON object",
            },
        ),
        (
            {"items": [{"sku": "a", "quantity": True, "unitPrice": 1.5}]},
            {"/items/0/quantity": "whole number", "/items/0/unitPrice": "whole number"},
        ),
        (
            {"items": [{"sku": "a", "quantity": 10**6 + 1, "unitPrice": 10**12}]},
            {"/items/0/quantity": "must be 1000000 or less", "/items/0/unitPrice": "must be 999999999999 or"},
        ),
    ],
)
def test_every_fault_is_listed_in_the_words_of_json(change: dict[str, Any], faults: dict[str, str]) -> None:
    answer = order(InMemoryReceipts(), {**ORDER, **change})
    assert answer["statusCode"] == 400
    listed = {fault["field"]: fault["detail"] for fault in json.loads(answer["body"])["errors"]}
    assert listed.keys() == faults.keys()
    for field, words in faults.items():
        assert words in listed[field]


def test_a_tenant_s_own_body_limit_counts_above_or_below_the_tier_s() -> None:
    for limit, status in ((100, 413), (1_000, 202)):
        settings = {"orders": {"windowSeconds": 10, "keySource": "header", "bodyLimitBytes": limit}}
        context = authorizer_context(operationSettings=json.dumps(settings), bodyLimitBytes="120")
        assert order(InMemoryReceipts(), ORDER, authorizer=context)["statusCode"] == status
