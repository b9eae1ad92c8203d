"""The API answers as its OpenAPI document says: no 5xx, nothing undeclared; and the check can fail."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from schemathesis.core.failures import FailureGroup

from infra.openapi import FILE, PATH
from tests.e2e.api import Api, fresh_key
from tests.e2e.conformance import Conformance, operations_of
from tests.e2e.operations import APPOINTMENTS, LEADS, ORDERS, PAYMENTS
from tests.e2e.webhooks import event

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.operations import Operation
    from tests.e2e.webhooks import Sender
    from tests.platform_fixture import RunningPlatform

pytestmark = pytest.mark.platform

REPOSITORY = Path(__file__).parents[2]
DOCUMENT: dict[str, Any] = json.loads((REPOSITORY / FILE).read_text(encoding="utf-8"))
CALLS = operations_of(DOCUMENT)
each_call = pytest.mark.parametrize("name", sorted(CALLS))


@pytest.fixture(scope="module")
def conformance(platform: RunningPlatform) -> Conformance:
    key = platform.outputs.tenants["alpha"].keys["server"]
    return Conformance(platform.outputs.api_url, {"x-api-key": key})


@each_call
def test_whatever_is_sent_is_answered_as_the_document_says(conformance: Conformance, name: str) -> None:
    conformance.exercise(CALLS[name])


@pytest.mark.parametrize(
    "operation", [LEADS, ORDERS, PAYMENTS, APPOINTMENTS], ids=lambda operation: str(operation.name)
)
def test_a_real_record_and_its_receipt_are_as_described(
    conformance: Conformance, alpha: Api, operation: Operation
) -> None:
    key, body = fresh_key(), operation.body()
    first, again = operation.send(alpha, body, key), operation.send(alpha, body, key)
    for answer in (first, again):
        assert answer.status_code == operation.status
        conformance.check(CALLS[f"POST {operation.path}"], answer)
    record = alpha.get(first.headers["Location"])
    assert record.status_code == 200
    conformance.check(CALLS[f"GET {operation.path}/{{id}}"], record)
    if operation.keyed:
        receipt = alpha.get(f"/v1/receipts/{key}")
        assert receipt.status_code == 200
        conformance.check(CALLS["GET /v1/receipts/{key}"], receipt)


def test_a_real_webhook_is_as_described(
    conformance: Conformance, alpha: Api, sender: Callable[..., Sender]
) -> None:
    sent = event()
    first, again = (sender("alpha", "events").send(sent) for _ in range(2))
    assert (first.status_code, again.status_code) == (202, 200)
    for answer in (first, again):
        conformance.check(CALLS["POST /v1/webhooks/{tenant}/{source}"], answer)
    record = alpha.get(first.headers["Location"])
    assert record.status_code == 200
    conformance.check(CALLS["GET /v1/webhook-events/{id}"], record)


def test_the_gateway_serves_the_document_to_anybody(platform: RunningPlatform, alpha: Api) -> None:
    answer = Api(platform.outputs.api_url, None, alpha.client).get(PATH)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json() == DOCUMENT


def _doctored(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    change(document)
    return operations_of(document)


def _without_refusals(document: dict[str, Any]) -> None:
    del document["paths"]["/v1/leads"]["post"]["responses"]["400"]


def _as_plain_text(document: dict[str, Any]) -> None:
    answer = document["paths"]["/v1/leads"]["post"]["responses"]["201"]
    answer["content"] = {"text/plain": {"schema": {"type": "string"}}}


def _with_another_member(document: dict[str, Any]) -> None:
    document["components"]["schemas"]["LeadAnswer"]["required"].append("colour")


def _without_the_header(document: dict[str, Any]) -> None:
    document["components"]["headers"]["Colour"] = {"required": True, "schema": {"type": "string"}}
    headers = document["paths"]["/v1/leads"]["post"]["responses"]["201"]["headers"]
    headers["Colour"] = {"$ref": "#/components/headers/Colour"}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (_without_refusals, "Undocumented status code"),
        (_as_plain_text, "Undocumented Content-Type"),
        (_with_another_member, "Response violates schema"),
        (_without_the_header, "Missing required response headers"),
    ],
)
def test_a_document_that_says_less_or_more_is_found_out(
    conformance: Conformance, change: Callable[[dict[str, Any]], None], named: str
) -> None:
    lied = _doctored(change)["POST /v1/leads"]
    with pytest.raises(FailureGroup) as caught:
        conformance.exercise(lied)
    assert [found.title for found in caught.value.exceptions] == [named]
