"""The edges of `dispatch` and `authorizer` against moto, and what each service's "not now" is taken for."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.stub import Stubber

from handlers.adapters import parking
from handlers.adapters.parking import Parked, RetryQueue
from handlers.adapters.receipt_item import from_item, to_item
from handlers.adapters.receipt_reader import DynamoDbReceiptReader
from handlers.adapters.records import DynamoDbRecords
from handlers.adapters.topics import SnsTopics
from handlers.domain import cloud_event
from handlers.domain.errors import CorruptItem, Refused, Unavailable
from handlers.domain.outbox import DispatchConflict, delivery_of
from tests.unit.handlers.dispatch_bench import REGION, Bench, accepted

if TYPE_CHECKING:
    from collections.abc import Callable

DELIVERY = delivery_of(accepted(1))


PROJECTED = {
    "ProjectionExpression": "document, operation, #status",
    "ExpressionAttributeNames": {"#status": "status"},
}


def key_of(pk: str) -> dict[str, Any]:
    return {"TableName": "table", "Key": {"pk": {"S": pk}}}


def client(service: Any) -> Any:
    return boto3.client(service, region_name=REGION, aws_access_key_id="x", aws_secret_access_key="x")


def publish(sns: Any) -> None:
    SnsTopics("arn:aws:sns:us-east-1:123456789012:onceward-dev-", sns).publish(DELIVERY, "{}")


def write(dynamodb: Any) -> None:
    DynamoDbRecords("records", dynamodb).write(DELIVERY)


def park(sqs: Any) -> None:
    RetryQueue("https://sqs.invalid/queue", sqs).park({}, "", 0)


# Codes as the services' models in botocore spell them.
@pytest.mark.parametrize(
    ("service", "call", "method", "code", "status", "expected"),
    [
        ("sns", publish, "publish", "Throttled", 429, Unavailable),
        ("sns", publish, "publish", "KMSThrottling", 400, Unavailable),
        ("sns", publish, "publish", "InternalError", 500, Unavailable),
        ("sns", publish, "publish", "NotFound", 404, Refused),
        ("sns", publish, "publish", "AuthorizationError", 403, Refused),
        ("sns", publish, "publish", "KMSDisabled", 400, Refused),
        ("sns", publish, "publish", "InvalidParameter", 400, Refused),
        ("dynamodb", write, "put_item", "ThrottlingException", 400, Unavailable),
        ("dynamodb", write, "put_item", "InternalServerError", 500, Unavailable),
        ("dynamodb", write, "put_item", "AccessDeniedException", 400, Unavailable),
        ("dynamodb", write, "put_item", "ResourceNotFoundException", 400, Unavailable),
        ("dynamodb", write, "put_item", "ValidationException", 400, Refused),
        ("sqs", park, "send_message", "KMS.ThrottlingException", 400, Unavailable),
        ("sqs", park, "send_message", "RequestThrottled", 403, Unavailable),
        ("sqs", park, "send_message", "InvalidParameterValue", 400, Refused),
    ],
)
def test_not_now_is_an_outage_and_no_is_a_refusal(
    service: str, call: Callable[[Any], None], method: str, code: str, status: int, expected: type[Exception]
) -> None:
    stubbed = client(service)
    with Stubber(stubbed) as stubber:
        stubber.add_client_error(method, service_error_code=code, http_status_code=status)
        with pytest.raises(expected, match=code):
            call(stubbed)


def test_a_record_is_written_once_and_recognised_afterwards(bench: Bench) -> None:
    records = bench.dependencies.records
    records.write(DELIVERY)
    records.write(DELIVERY)
    assert len(bench.records()) == 1


def test_a_record_of_another_event_is_a_conflict(bench: Bench) -> None:
    bench.dependencies.records.write(DELIVERY)
    other = delivery_of(from_item(to_item(accepted(1)) | {"outboxId": {"S": "another"}}))
    with pytest.raises(DispatchConflict, match="another event"):
        bench.dependencies.records.write(other)


def test_a_refused_write_that_brings_nothing_back_is_no_verdict() -> None:
    stubbed = client("dynamodb")
    with Stubber(stubbed) as stubber:
        stubber.add_client_error("put_item", service_error_code="ConditionalCheckFailedException")
        with pytest.raises(Unavailable, match="no item back"):
            write(stubbed)


def test_a_record_is_read_by_its_tenant_and_its_operation_only(bench: Bench) -> None:
    bench.dependencies.records.write(DELIVERY)
    records = bench.another_records_table("onceward-dev_records")

    assert records.document("acme", "leads", DELIVERY.record_id) == DELIVERY.document
    assert records.document("bluebird", "leads", DELIVERY.record_id) is None
    assert records.document("acme", "payments", DELIVERY.record_id) is None


# Moto answers every read consistently, so only the request can show that it was asked for.
def test_a_record_is_read_consistently_so_that_a_201_is_never_followed_by_nothing() -> None:
    stubbed = client("dynamodb")
    with Stubber(stubbed) as stubber:
        stubber.add_response("get_item", {}, {**key_of("acme#R"), "ConsistentRead": True, **PROJECTED})
        assert DynamoDbRecords("table", stubbed).document("acme", "leads", "R") is None


def test_a_receipt_is_read_consistently_so_that_nobody_is_told_to_send_anew() -> None:
    stubbed = client("dynamodb")
    with Stubber(stubbed) as stubber:
        stubber.add_response("get_item", {}, {**key_of("acme#k"), "ConsistentRead": True})
        assert DynamoDbReceiptReader("table", stubbed).find("acme", "k") is None


def test_an_item_without_a_document_is_corrupt(bench: Bench) -> None:
    bench.put_record({"pk": {"S": "acme#x"}, "operation": {"S": "leads"}})
    with pytest.raises(CorruptItem, match="document"):
        bench.another_records_table("onceward-dev_records").document("acme", "leads", "x")


def test_the_event_carries_the_attributes_that_filter_policies_match() -> None:
    stubbed = client("sns")
    with Stubber(stubbed) as stubber:
        expected = {
            "TopicArn": "arn:aws:sns:us-east-1:123456789012:onceward-dev-acme",
            "Message": "{}",
            "MessageAttributes": {
                "tenantId": {"DataType": "String", "StringValue": "acme"},
                "type": {"DataType": "String", "StringValue": "lead.created"},
                "eventId": {"DataType": "String", "StringValue": DELIVERY.event_id},
            },
        }
        stubber.add_response("publish", {"MessageId": "m"}, expected)
        publish(stubbed)
        stubber.assert_no_pending_responses()


def test_a_parked_image_comes_back_as_it_was() -> None:
    image = to_item(accepted(1))
    assert parking.parked_in(parking.to_body(image, "reason", 7)) == Parked(image, republish=False)
    again = parking.to_body(image, "reason", 7, republish=True)
    assert parking.parked_in(again) == Parked(image, republish=True)


@pytest.mark.parametrize(
    ("receives", "seconds"),
    [(1, 60), (2, 120), (3, 240), (7, 3_840), (8, 7_200), (20, 7_200), (9_999, 7_200)],
)
def test_a_message_waits_twice_as_long_each_time_and_two_hours_at_most(receives: int, seconds: int) -> None:
    assert parking.pause_seconds(receives) == seconds


def test_every_message_of_a_batch_is_hidden_for_as_long_as_it_has_to_wait(bench: Bench) -> None:
    for number in range(12):
        bench.dependencies.parking.park(to_item(accepted(number)), "x", number)
    records = bench.retry_batch()["Records"]
    assert len(records) == 12
    for receives, record in enumerate(records, start=1):
        record["attributes"]["ApproximateReceiveCount"] = str(receives)

    bench.dependencies.parking.back_off(records)

    for receives, record in enumerate(records, start=1):
        assert bench.hidden_for(record) == pytest.approx(parking.pause_seconds(receives), abs=10)


def test_a_parked_image_is_in_its_tenants_group_if_it_names_a_tenant(bench: Bench) -> None:
    images: list[dict[str, Any]] = [
        {**to_item(accepted(1))},
        {"tenantId": {"S": "../x"}},
        {"tenantId": "acme"},
        {},
    ]
    for image in images:
        bench.dependencies.parking.park(image, "x", 1)
    groups = [record["attributes"].get("MessageGroupId") for record in bench.retry_batch()["Records"]]
    # A fair queue: what one tenant's broken topic leaves there does not stand before the others'.
    assert groups == ["acme", None, None, None]


def test_parking_costs_no_escapes_for_letters_beyond_ascii() -> None:
    body = parking.to_body({"document": {"S": "ü" * 1000}}, "", 0)
    assert len(body.encode()) < 2_100
    assert json.loads(body)["image"]["document"]["S"] == "ü" * 1000


@pytest.mark.parametrize("character", ["\ufffe", "\uffff"])
def test_what_sqs_takes_in_no_message_is_escaped_and_means_the_same(character: str) -> None:
    image = {"document": {"S": json.dumps({"name": f"a{character}b"}, ensure_ascii=False)}}
    body = parking.to_body(image, character, 0)
    event = cloud_event.encode(replace(DELIVERY, document=image["document"]["S"]), "dev")

    assert character not in body + event
    assert parking.parked_in(body).image == image
    assert json.loads(event)["data"] == {"name": f"a{character}b"}


def test_a_documents_numbers_reach_the_topic_digit_for_digit() -> None:
    document = '{"big":123456789012345678901234567890,"float":1.0,"huge":1e400}'
    assert f'"data":{document}' in cloud_event.encode(replace(DELIVERY, document=document), "dev")
