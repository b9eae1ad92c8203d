"""`onceward dlq`: what it counts, what it sends back, and that it loses nothing on the way."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.events.utils import EventTemplateParser

from ops import asking, dead_letters
from ops.dead_letters import age_of
from ops.letters import event_in, letter
from ops.redrive import Pace, QueueDestination
from tests.unit.ops.dlq_stage import DlqStage, work

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mypy_boto3_sqs.type_defs import MessageTypeDef

EVENT = {"id": "E1", "source": "/onceward/local/acme", "subject": "R1", "type": "order.completed"}
BUS_EVENT = {
    "version": "0",
    "id": "b",
    "source": "onceward.local",
    "detail-type": "order.completed",
    "detail": {"tenantId": "acme", "event": EVENT},
}
INVOCATION = {
    "version": "1.0",
    "requestContext": {"condition": "RetriesExhausted", "approximateInvokeCount": 3},
    "requestPayload": BUS_EVENT,
    "responsePayload": {"errorType": "Unavailable", "errorMessage": "not shown"},
}


@pytest.fixture
def dlqs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DlqStage]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    # An empty queue is asked for a second; moto is asked at once.
    monkeypatch.setattr(dead_letters, "WAIT_SECONDS", 0)
    # moto would shape the event for a target with a library of its own that is not installed.
    as_it_is = staticmethod(lambda input_template, input_paths_map, event: dict(event))
    monkeypatch.setattr(EventTemplateParser, "parse", as_it_is)
    with mock_aws():
        yield DlqStage(tmp_path)


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


def test_a_dry_run_counts_and_sends_nothing(dlqs: DlqStage) -> None:
    dlqs.put_work(1)
    result = dlqs.dlq("redrive", "orders-dlq", "--dry-run", "--yes")
    assert result.exit_code == 0
    assert "To send back to orders: 1" in result.stdout
    assert (dlqs.visible("orders"), dlqs.visible("orders-dlq")) == (0, 1)


def test_without_a_terminal_it_sends_nothing_unless_told(dlqs: DlqStage) -> None:
    dlqs.put_work(1)
    result = dlqs.dlq("redrive", "orders-dlq")
    assert "Nothing was sent: --yes sends it." in result.stderr
    assert (dlqs.visible("orders"), dlqs.visible("orders-dlq")) == (0, 1)


def test_at_a_terminal_it_asks_first(dlqs: DlqStage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "at_a_terminal", lambda: True)
    dlqs.put_work(1)
    declined = dlqs.dlq("redrive", "orders-dlq", typed="n\n")
    assert "Send 1 back to orders? [y/N]: n" in declined.stdout
    assert dlqs.visible("orders") == 0
    assert "Sent 1 back to orders." in dlqs.dlq("redrive", "orders-dlq", typed="y\n").stdout
    assert (dlqs.visible("orders"), dlqs.visible("orders-dlq")) == (1, 0)


def test_a_redriven_message_keeps_body_and_attributes_and_gets_its_tenants_group(dlqs: DlqStage) -> None:
    dlqs.put_work(1)
    dlqs.put_record(1)

    answer = dlqs.answer("redrive", "orders-dlq", "--yes")

    assert (answer["matching"], answer["chosen"], answer["sent"], answer["to"]) == (1, 1, 1, "orders")
    [message] = dlqs.messages("orders")
    assert json.loads(message["Body"]) == work(1)
    assert message["MessageAttributes"]["correlationId"]["StringValue"] == "correlation-1"
    assert message["Attributes"]["MessageGroupId"] == "acme"
    assert dlqs.visible("orders-dlq") == 0


def test_the_record_says_that_it_was_sent_back_and_how_often(dlqs: DlqStage) -> None:
    dlqs.put_record(1)
    for _ in range(2):
        dlqs.put_work(1)
        dlqs.answer("redrive", "orders-dlq", "--yes")
    record = dlqs.record(1)
    assert record is not None
    assert record["redrives"] == {"N": "2"}
    assert int(record["redrivenAt"]["N"]) > 0
    assert record["status"] == {"S": "FAILED"}


def test_a_redrive_makes_no_record_where_there_is_none(dlqs: DlqStage) -> None:
    dlqs.put_work(1)
    assert dlqs.answer("redrive", "orders-dlq", "--yes")["sent"] == 1
    assert dlqs.record(1) is None


def test_other_tenants_messages_stay_and_are_visible_again(dlqs: DlqStage) -> None:
    for number in range(15):
        dlqs.put_work(number, "acme" if number % 3 else "bluebird")
    assert (
        dlqs.answer("redrive", "orders-dlq", "--tenant", "bluebird", "--yes", "--rate", "1000")["sent"] == 5
    )
    assert {json.loads(one["Body"])["tenantId"] for one in dlqs.messages("orders")} == {"bluebird"}
    assert dlqs.visible("orders-dlq") == 10


def test_messages_of_another_age_stay(dlqs: DlqStage) -> None:
    dlqs.put_work(1)
    assert dlqs.answer("redrive", "orders-dlq", "--older-than", "1h", "--yes")["sent"] == 0
    assert dlqs.answer("redrive", "orders-dlq", "--newer-than", "1h", "--yes")["sent"] == 1


def test_a_limit_tries_one_first(dlqs: DlqStage) -> None:
    for number in range(3):
        dlqs.put_work(number, queue="webhooks-dlq")
    assert dlqs.answer("redrive", "webhooks-dlq", "--limit", "1", "--yes")["sent"] == 1
    assert (dlqs.visible("webhooks"), dlqs.visible("webhooks-dlq")) == (1, 2)


def test_a_parked_dispatch_goes_back_whole(dlqs: DlqStage) -> None:
    parked = json.dumps({"image": {"tenantId": {"S": "acme"}, "n": {"N": "1e400"}}, "error": "x"})
    dlqs.put("dispatch-dlq", parked)
    assert dlqs.answer("redrive", "dispatch-dlq", "--yes")["tenants"] == {"acme": 1}
    assert [one["Body"] for one in dlqs.messages("dispatch-retry")] == [parked]


@pytest.mark.parametrize("body", [BUS_EVENT, INVOCATION], ids=["the rule's", "the function's"])
def test_what_notify_did_not_take_goes_back_on_the_bus(dlqs: DlqStage, body: dict[str, Any]) -> None:
    dlqs.put("notify-dlq", body)
    answer = dlqs.answer("redrive", "notify-dlq", "--yes")
    assert (answer["sent"], answer["tenants"]) == (1, {"acme": 1})
    [heard] = dlqs.on_the_bus()
    assert {name: heard[name] for name in ("source", "detail-type", "detail")} == {
        name: BUS_EVENT[name] for name in ("source", "detail-type", "detail")
    }
    assert dlqs.visible("notify-dlq") == 0


def test_what_holds_no_event_stays_and_stops_nobody(dlqs: DlqStage) -> None:
    dlqs.put("notify-dlq", "no JSON")
    dlqs.put("notify-dlq", BUS_EVENT)
    answer = dlqs.answer("redrive", "notify-dlq", "--yes")
    assert (answer["unreadable"], answer["sent"]) == (1, 1)
    assert dlqs.visible("notify-dlq") == 1


def test_the_first_error_stops_it_says_how_far_it_came_and_the_next_run_goes_on(
    dlqs: DlqStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        dlqs.put_work(number)
    refuse_after(monkeypatch, 2)

    result = dlqs.dlq("redrive", "orders-dlq", "--yes", "--rate", "1000")

    assert result.exit_code == 1
    assert "Stopped after 2 of 4 at message" in result.stderr
    assert "It and the 1 others are still in orders-dlq" in result.stderr
    assert (dlqs.visible("orders"), dlqs.visible("orders-dlq")) == (2, 2)
    monkeypatch.undo()
    monkeypatch.setattr(dead_letters, "WAIT_SECONDS", 0)
    assert dlqs.answer("redrive", "orders-dlq", "--yes")["sent"] == 2
    assert len({one["Body"] for one in dlqs.messages("orders")}) == 4


def test_killed_between_sending_and_deleting_it_sends_again_and_loses_nothing(
    dlqs: DlqStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    dlqs.put_work(1)
    error = ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "DeleteMessage")
    monkeypatch.setattr(dead_letters.Held, "delete", lambda _held, _one: (_ for _ in ()).throw(error))
    assert dlqs.dlq("redrive", "orders-dlq", "--yes").exit_code == 1
    monkeypatch.undo()
    monkeypatch.setattr(dead_letters, "WAIT_SECONDS", 0)
    assert dlqs.answer("redrive", "orders-dlq", "--yes")["sent"] == 1
    assert [json.loads(one["Body"]) for one in dlqs.messages("orders")] == [work(1), work(1)]


def test_what_fails_again_meanwhile_is_not_sent_round_and_round(
    dlqs: DlqStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    dlqs.put_work(1)
    delete = dead_letters.Held.delete

    def delete_and_fail_again(held: dead_letters.Held, one: Any) -> None:
        delete(held, one)
        dlqs.put_work(1)

    monkeypatch.setattr(dead_letters.Held, "delete", delete_and_fail_again)
    assert dlqs.answer("redrive", "orders-dlq", "--yes")["sent"] == 1
    assert dlqs.visible("orders-dlq") == 1


def test_failed_deliveries_cannot_be_redriven_and_it_says_what_can_be_done(dlqs: DlqStage) -> None:
    result = dlqs.dlq("redrive", "delivery-dlq")
    assert result.exit_code == 2
    said = " ".join(result.stderr.replace("│", " ").split())
    assert "onceward dispatch replay --since 2h --tenant TENANT --republish" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("redrive", "order-dlq"),
        ("redrive", "orders-dlq", "--tenant", "nobody"),
        ("redrive", "orders-dlq", "--tenant", "A#"),
        ("redrive", "orders-dlq", "--older-than", "yesterday"),
        ("redrive", "orders-dlq", "--older-than", "2h", "--newer-than", "1h"),
        ("redrive", "orders-dlq", "--rate", "0"),
        ("list", "--queue", "orders"),
        ("list", "--stage", "qa"),
    ],
)
def test_nonsense_is_a_usage_error(dlqs: DlqStage, arguments: tuple[str, ...]) -> None:
    assert dlqs.dlq(*arguments).exit_code == 2


def test_a_queue_that_is_not_deployed_is_one_line(dlqs: DlqStage) -> None:
    dlqs.sqs.delete_queue(QueueUrl=dlqs.urls["orders-dlq"])
    result = dlqs.dlq("list")
    assert result.exit_code == 2
    assert "AWS did not do it" in result.stderr


def test_the_pace_is_kept_whatever_the_letters_take() -> None:
    now = [0.0]
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(round(seconds, 3))
        now[0] += seconds

    pace = Pace(10, lambda: now[0], sleep)
    for spent in (0.0, 0.04, 0.5):
        pace.wait()
        now[0] += spent
    pace.wait()
    assert slept == [0.1, 0.06]


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


def refuse_after(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """The source queue takes `count` messages and then no more."""
    sent = iter(range(count))
    original = QueueDestination.send

    def once_more(destination: QueueDestination, one: Any) -> None:
        if next(sent, None) is None:
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "SendMessage")
        original(destination, one)

    monkeypatch.setattr(QueueDestination, "send", once_more)
