"""What is said to the queues of work, and what their answers mean."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from handlers.adapters.work_queue import SqsPauses, SqsWorkQueues
from handlers.domain.errors import CorruptItem, Refused, Unavailable
from handlers.domain.work_message import WorkMessage, message_in

URL = "https://sqs.invalid/queue"
MESSAGE = WorkMessage("acme", "orders", "R1", "E1", "correlation-1")


@pytest.fixture
def sqs() -> Any:
    return boto3.client("sqs", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")


def hidden(handle: str, seconds: int) -> dict[str, Any]:
    return {"QueueUrl": URL, "ReceiptHandle": handle, "VisibilityTimeout": seconds}


def test_each_message_is_hidden_for_its_pause_and_no_longer_than_the_service_allows(sqs: Any) -> None:
    with Stubber(sqs) as stubber:
        for handle, seconds in (("a", 5), ("b", 0), ("c", 43_200)):
            stubber.add_response("change_message_visibility", {}, hidden(handle, seconds))
        SqsPauses(URL, sqs).hide({"a": 5, "b": 0, "c": 99_999})
        stubber.assert_no_pending_responses()


def test_nothing_to_hide_is_no_call(sqs: Any) -> None:
    with Stubber(sqs):
        SqsPauses(URL, sqs).hide({})


def test_a_message_that_cannot_be_hidden_leaves_the_others_alone_and_is_told(sqs: Any) -> None:
    with Stubber(sqs) as stubber:
        stubber.add_client_error("change_message_visibility", service_error_code="ReceiptHandleIsInvalid")
        stubber.add_response("change_message_visibility", {}, hidden("b", 5))
        with pytest.raises(Refused, match="ReceiptHandleIsInvalid"):
            SqsPauses(URL, sqs).hide({"a": 5, "b": 5})
        stubber.assert_no_pending_responses()


def test_an_outage_of_the_queue_is_asked_once(sqs: Any) -> None:
    with Stubber(sqs) as stubber:
        stubber.add_client_error("change_message_visibility", service_error_code="RequestThrottled")
        with pytest.raises(Unavailable):
            SqsPauses(URL, sqs).hide({"a": 5, "b": 5})


@pytest.mark.parametrize(
    ("code", "status", "expected"),
    [("RequestThrottled", 403, Unavailable), ("AWS.SimpleQueueService.NonExistentQueue", 400, Refused)],
)
def test_a_queue_that_takes_no_work_says_why(
    sqs: Any, code: str, status: int, expected: type[Exception]
) -> None:
    with Stubber(sqs) as stubber:
        stubber.add_client_error("send_message", service_error_code=code, http_status_code=status)
        with pytest.raises(expected, match=code):
            SqsWorkQueues({"orders": URL}, sqs).send(MESSAGE)


def test_a_message_comes_back_as_it_was_sent() -> None:
    attributes = {"correlationId": {"stringValue": "correlation-1", "dataType": "String"}}
    assert message_in({"body": MESSAGE.body(), "messageAttributes": attributes}) == MESSAGE
    assert message_in({"body": MESSAGE.body()}).correlation_id == "unknown"


@pytest.mark.parametrize(
    "body",
    [
        *("", "{", "[]", "7", "null", "{}"),
        MESSAGE.body().replace("acme", "../x"),
        MESSAGE.body().replace('"R1"', "7"),
        MESSAGE.body().replace("R1", ""),
    ],
)
def test_a_message_that_names_no_work_is_nobodys(body: str) -> None:
    with pytest.raises(CorruptItem):
        message_in({"body": body})
