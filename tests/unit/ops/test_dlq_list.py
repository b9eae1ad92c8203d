"""`onceward dlq list`: what it counts, what a message says of itself, and that all of it stays."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ops.dead_letters import age_of
from ops.letters import event_in, letter
from tests.unit.ops.dlq_stage import BUS_EVENT, EVENT, INVOCATION, DlqStage

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageTypeDef


def test_what_is_there_is_counted_by_queue_and_tenant_and_stays_there(dlqs: DlqStage) -> None:
    for number in range(12):
        dlqs.put_work(number)
    dlqs.put_work(12, "bluebird")
    dlqs.put("dispatch-dlq", {"image": {"tenantId": {"S": "acme"}}, "error": "sns: NotFound", "parkedAt": 1})

    result = dlqs.dlq("list")

    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["orders-dlq", "acme", "12", "0", "0", "0"] in [row[:6] for row in rows]
    assert ["orders-dlq", "bluebird", "1"] in [row[:3] for row in rows]
    assert "dispatch-dlq: 1 times sns: NotFound" in result.stdout
    assert "Nothing in: webhooks-dlq, notify-dlq, delivery-dlq." in result.stdout
    assert dlqs.visible("orders-dlq") == 13


def test_a_script_gets_the_same_as_json(dlqs: DlqStage) -> None:
    dlqs.put_work(1)
    dlqs.put_work(2, "bluebird")

    [found] = dlqs.answer("list", "--queue", "orders-dlq", "--tenant", "acme")

    assert found["oldest"].endswith("Z")
    assert found | {"oldest": ""} == {
        "queue": "orders-dlq",
        "approximate": 2,
        "looked": 2,
        "matching": 1,
        "oldest": "",
        "tenants": {"acme": 1},
        "ages": {"under 1h": 1, "under 1d": 0, "under 7d": 0, "older": 0},
        "reasons": {},
        "hidden": 0,
    }


def test_a_long_queue_is_looked_at_in_part_and_says_so(dlqs: DlqStage) -> None:
    for number in range(5):
        dlqs.put_work(number)
    result = dlqs.dlq("list", "--queue", "orders-dlq", "--limit", "3")
    assert "orders-dlq: looked at 3 of about 5" in result.stdout
    assert dlqs.visible("orders-dlq") == 5


@pytest.mark.parametrize(
    ("age_seconds", "heading"),
    [(0, "under 1h"), (3_600, "under 1d"), (86_400, "under 7d"), (7 * 86_400, "older")],
)
def test_an_age_has_one_heading(age_seconds: int, heading: str) -> None:
    assert age_of(0, age_seconds * 1000) == heading


NONSENSE = (
    ("redrive", "order-dlq"),
    ("redrive", "orders-dlq", "--tenant", "A#"),
    ("redrive", "orders-dlq", "--older-than", "yesterday"),
    ("redrive", "orders-dlq", "--older-than", "2h", "--newer-than", "1h"),
    ("redrive", "orders-dlq", "--rate", "0"),
    ("list", "--queue", "orders"),
    ("list", "--stage", "qa"),
)


def test_nonsense_is_a_usage_error(dlqs: DlqStage) -> None:
    assert [arguments for arguments in NONSENSE if dlqs.dlq(*arguments).exit_code != 2] == []


def test_a_queue_that_is_not_deployed_is_one_line(dlqs: DlqStage) -> None:
    dlqs.sqs.delete_queue(QueueUrl=dlqs.urls["orders-dlq"])
    result = dlqs.dlq("list")
    assert result.exit_code == 2
    assert "AWS did not do it" in result.stderr


def test_an_events_numbers_are_put_back_as_they_were_spelt() -> None:
    detail = '{"tenantId": "acme", "event": {"data": {"n": 1.50, "big": 1e400}}}'
    event = f'{{"source": "onceward.local", "detail-type": "t",\n "detail" : {detail} }}'
    found = event_in(f'{{"version":"1.0","requestPayload":{event}}}')
    assert found is not None
    assert found.detail == detail


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"source":"s","detail-type":"t"}', '{"requestPayload":1}'])
def test_what_is_no_event_is_none(body: str) -> None:
    assert event_in(body) is None


@pytest.mark.parametrize(
    ("queue", "body", "attributes", "said"),
    [
        ("delivery-dlq", EVENT, {"ErrorCode": "403", "ErrorMessage": "no"}, ("acme", "R1", "403: no")),
        ("delivery-dlq", {"TopicArn": "t", "Message": json.dumps(EVENT)}, {}, ("acme", "R1", None)),
        ("notify-dlq", BUS_EVENT, {"ERROR_CODE": "THROTTLING"}, ("acme", "R1", "THROTTLING")),
        (
            "notify-dlq",
            BUS_EVENT | {"detail": {"tenantId": "acme", "event": json.dumps(EVENT)}},
            {},
            ("acme", "R1", None),
        ),
        ("notify-dlq", INVOCATION, {}, ("acme", "R1", "RetriesExhausted: Unavailable")),
        ("orders-dlq", "no JSON", {"tenantId": "acme"}, ("acme", None, None)),
        ("orders-dlq", [], {}, ("unknown", None, None)),
    ],
)
def test_a_message_says_whose_it_is_and_why_it_failed(
    queue: str, body: object, attributes: dict[str, str], said: tuple[str, str | None, str | None]
) -> None:
    message: MessageTypeDef = {
        "MessageId": "m",
        "ReceiptHandle": "h",
        "Body": body if isinstance(body, str) else json.dumps(body),
        "MessageAttributes": {
            name: {"DataType": "String", "StringValue": value} for name, value in attributes.items()
        },
    }
    one = letter(queue, message)
    assert (one.tenant_id, one.record_id, one.reason) == said
