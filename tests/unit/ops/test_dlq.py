"""`onceward dlq redrive`: what it sends back, and that it loses nothing on the way."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ops import asking, dead_letters, redriving
from ops.redrive import Pace, QueueDestination
from tests.unit.ops.dlq_stage import BUS_EVENT, INVOCATION, DlqStage, work


def test_a_dry_run_counts_and_sends_nothing(dlqs: DlqStage) -> None:
    dlqs.put_work(1)
    result = dlqs.dlq("redrive", "orders-dlq", "--dry-run", "--yes")
    assert result.exit_code == 0
    assert "To send back to orders: 1" in result.stdout
    assert (dlqs.visible("orders"), dlqs.visible("orders-dlq")) == (0, 1)


def test_without_a_terminal_it_sends_nothing_unless_told(dlqs: DlqStage) -> None:
    dlqs.put_work(1)
    result = dlqs.dlq("redrive", "orders-dlq")
    assert result.exit_code == 1
    assert "1 message in orders-dlq" in result.stdout
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


def test_the_work_of_a_tenant_whose_file_is_gone_can_be_sent_back(dlqs: DlqStage) -> None:
    dlqs.put_work(1, "gone")
    listed = dlqs.dlq("list", "--queue", "orders-dlq", "--tenant", "gone")
    assert (listed.exit_code, "orders-dlq  gone" in listed.stdout) == (0, True)
    assert "Note: stage local has no tenant 'gone' now; there are: acme, bluebird" in listed.stderr
    assert dlqs.answer("redrive", "orders-dlq", "--tenant", "gone", "--yes")["sent"] == 1


def test_what_the_look_could_not_make_visible_again_is_not_called_sent(
    dlqs: DlqStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dead_letters.Held, "_change_visibility", lambda _held, handles, _seconds: handles)
    monkeypatch.setattr(dead_letters, "_RELEASE_PAUSES_SECONDS", ())
    dlqs.put_work(1)
    result = dlqs.dlq("redrive", "orders-dlq", "--yes", "--json")
    told = json.loads(result.stdout)
    assert (result.exit_code, told["chosen"], told["sent"], told["notFound"]) == (1, 1, 0, 1)
    assert "1 were not to be had in orders-dlq: the look hid them" in result.stderr
    assert "Run this again in five minutes" in result.stderr


def test_what_somebody_else_took_meanwhile_is_not_called_sent(
    dlqs: DlqStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2):
        dlqs.put_work(number)

    def meanwhile(*_arguments: Any, **_options: Any) -> bool:
        dlqs.sqs.receive_message(QueueUrl=dlqs.urls["orders-dlq"], MaxNumberOfMessages=1)
        return True

    monkeypatch.setattr(redriving, "confirmed", meanwhile)
    result = dlqs.dlq("redrive", "orders-dlq", "--rate", "1000")
    assert result.exit_code == 1
    assert "Sent 1 back to orders." in result.stdout
    assert "1 were not to be had in orders-dlq: somebody else has taken them" in result.stderr


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


def test_what_the_bus_could_not_encrypt_stays_and_says_what_to_do(dlqs: DlqStage) -> None:
    detail = {"event-bus-arn": "arn:b", "kms-key-arn": "arn:k", "encrypted-payload": "AgR4"}
    encrypted = {"source": "aws.events", "detail-type": "Encrypted Events", "detail": detail}
    dlqs.put("notify-dlq", encrypted, ERROR_CODE="KMS")
    dlqs.put("notify-dlq", BUS_EVENT)
    [oldest] = {each["oldest"] for each in dlqs.answer("list", "--queue", "notify-dlq")}
    result = dlqs.dlq("redrive", "notify-dlq", "--yes")
    assert result.exit_code == 0, result.output
    assert "1 are encrypted by the bus, cannot be put back on it, and stay" in result.stderr
    said = re.search(r"onceward dispatch replay --since (\S+) --republish", result.stderr)
    assert said is not None
    # The rule tries for a day before an event gets here.
    tried = datetime.fromisoformat(oldest) - datetime.fromisoformat(said[1])
    assert tried >= timedelta(days=2)
    assert [heard["source"] for heard in dlqs.on_the_bus()] == ["onceward.local"]
    [left] = dlqs.messages("notify-dlq")
    assert json.loads(left["Body"]) == encrypted


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
        dlqs.put_record(number)
    refuse_after(monkeypatch, 2)

    result = dlqs.dlq("redrive", "orders-dlq", "--yes", "--rate", "1000")

    assert result.exit_code == 1
    assert "Stopped after 2 of 4 at message" in result.stderr
    assert "It and the 1 others are still in orders-dlq" in result.stderr
    assert (dlqs.visible("orders"), dlqs.visible("orders-dlq")) == (2, 2)
    marked = ["redrivenAt" in (dlqs.record(number) or {}) for number in range(4)]
    assert marked.count(True) == 2, "what was not sent is not said to have been"
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
    assert "onceward dispatch replay --since T --tenant TENANT --republish" in said
    assert "two days before the OLDEST" in said


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


def refuse_after(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """The source queue takes `count` messages and then no more."""
    sent = iter(range(count))
    original = QueueDestination.send

    def once_more(destination: QueueDestination, one: Any) -> None:
        if next(sent, None) is None:
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "SendMessage")
        original(destination, one)

    monkeypatch.setattr(QueueDestination, "send", once_more)
