"""`ingest` over the receipts table: what is written, and what DynamoDB's answers mean for the caller."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ConnectTimeoutError, ParamValidationError, ReadTimeoutError
from botocore.stub import Stubber

from handlers.adapters.aws import translated
from handlers.adapters.receipt_item import to_item
from handlers.adapters.receipts import DynamoDbReceipts
from handlers.domain.errors import Refused, Unavailable
from handlers.domain.receipt import MIN_KEPT_SECONDS
from tests.builders import HOUR_MS, NOW_MS, authorizer_context, claim, in_progress, receipt
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.ingest_calls import LOG, keyed, post

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def table_answering(**error: Any) -> Iterator[DynamoDbReceipts]:
    """A receipts table whose next answer is this error."""
    client = boto3.client(
        "dynamodb", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    with Stubber(client) as stubber:
        stubber.add_client_error("put_item", **error)
        yield DynamoDbReceipts("receipts", client)
        stubber.assert_no_pending_responses()


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("ProvisionedThroughputExceededException", 400),
        ("ThrottlingException", 400),
        ("RequestLimitExceeded", 400),
        ("InternalServerError", 500),
        ("Unforeseen", 503),
        ("AccessDeniedException", 400),
        ("ResourceNotFoundException", 400),
    ],
)
def test_a_table_that_throttles_fails_or_refuses_is_503_with_retry_after(code: str, status: int) -> None:
    with table_answering(service_error_code=code, http_status_code=status) as store:
        answer = post(store, keyed("k"))
    assert (answer["statusCode"], answer["headers"]["Retry-After"]) == (503, "1")
    assert json.loads(answer["body"])["type"] == "urn:onceward:problem:store-unavailable"
    assert code in LOG.getvalue()


@pytest.mark.parametrize(
    ("code", "expected"), [("ThrottlingException", Unavailable), ("AccessDeniedException", Refused)]
)
def test_no_error_of_botocore_leaves_the_claim(code: str, expected: type[Exception]) -> None:
    with table_answering(service_error_code=code) as store, pytest.raises(expected, match=code):
        store.put(receipt(), claim())


@pytest.mark.parametrize("item", [None, {}])
def test_a_refused_claim_that_brings_no_winner_is_503(item: object) -> None:
    more = {} if item is None else {"modeled_fields": {"Item": item}}
    code = "ConditionalCheckFailedException"
    with (
        table_answering(service_error_code=code, **more) as store,
        pytest.raises(Unavailable, match="no item back"),
    ):
        store.put(receipt(), claim())
    with table_answering(service_error_code=code, **more) as store:
        assert post(store, keyed("k"))["statusCode"] == 503


def test_a_refused_claim_that_brings_no_receipt_is_500_and_tells_the_caller_nothing() -> None:
    broken = to_item(receipt()) | {"status": {"S": "SECRET"}}
    with table_answering(
        service_error_code="ConditionalCheckFailedException", modeled_fields={"Item": broken}
    ) as store:
        answer = post(store, keyed("k"))
    assert answer["statusCode"] == 500
    assert "SECRET" not in answer["body"]


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (ReadTimeoutError(endpoint_url="https://dynamodb"), Unavailable),
        (ConnectTimeoutError(endpoint_url="https://dynamodb"), Unavailable),
        # Sending it again cannot help: what we made is not what the service's model says.
        (ParamValidationError(report="SECRET"), Refused),
    ],
)
def test_no_answer_is_an_outage_and_our_own_mistake_is_not(
    raised: Exception, expected: type[Exception]
) -> None:
    with pytest.raises(expected, match=f"receipts: {type(raised).__name__}$"), translated("receipts"):
        raise raised


@pytest.mark.parametrize("window_days", [1, 30])
def test_ttl_leaves_a_receipt_eight_days_and_its_window(window_days: int) -> None:
    settings = json.dumps({"leads": {"windowSeconds": window_days * 86_400, "keySource": "header"}})
    store = InMemoryReceipts()
    post(store, keyed("k", authorizer=authorizer_context(operationSettings=settings)))
    stored = store.items["acme", "k"]
    assert stored.purge_at >= NOW_MS // 1000 + MIN_KEPT_SECONDS
    assert stored.purge_at * 1000 > stored.expires_at == NOW_MS + window_days * 24 * HOUR_MS


def test_who_replaces_a_claim_that_nobody_finished_is_counted_as_such(
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = InMemoryReceipts()
    store.items["acme", "k"] = in_progress(expires_at=NOW_MS - 1, lease_until=NOW_MS - 1)
    assert post(store, keyed("k"))["statusCode"] == 201
    assert '"Abandoned":[1.0]' in capsys.readouterr().out
    post(store, keyed("another"))
    assert "Abandoned" not in capsys.readouterr().out
