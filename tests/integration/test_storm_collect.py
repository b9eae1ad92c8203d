"""Reading what a run left: all of it, from whoever's part of the tables, and nobody else's messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws

from loadtest import settle
from loadtest.collect import AuditQueues, Tables, read_events
from loadtest.target import parse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


MARK = "storm-abc123-"
REGION = "eu-central-1"


class Stage:
    """Tables and queues of a stage on moto, and how the platform would fill them."""

    def __init__(self) -> None:
        self.dynamodb = boto3.client("dynamodb", region_name=REGION)
        self.sqs = boto3.client("sqs", region_name=REGION)
        for table in ("receipts", "records"):
            self.dynamodb.create_table(
                TableName=table,
                BillingMode="PAY_PER_REQUEST",
                KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            )
        self.queues = {name: self.sqs.create_queue(QueueName=name)["QueueUrl"] for name in ("a1", "b1")}
        self.target = parse(self._outputs())

    def _outputs(self) -> dict[str, Any]:
        return {
            "apiUrl": "http://127.0.0.1:1",
            "region": REGION,
            "stage": "dev",
            "tables": {"receipts": "receipts", "records": "records"},
            "tenants": {
                name: {"keys": {"k": "v"}, "topicArn": "arn", "auditQueueUrl": url, "synthetic": True}
                for name, url in self.queues.items()
            },
        }

    def receipt(self, pk: str, number: int, mark: str = MARK) -> None:
        outbox = {"recordId": {"S": f"record-{number}"}, "document": {"S": _document(mark, number)}}
        response = {"status": {"N": "201"}, "headers": {"M": {"ETag": {"S": "e"}}}, "body": {"S": "{}"}}
        item = {
            "pk": {"S": pk},
            "tenantId": {"S": pk.partition("#")[0]},
            "status": {"S": "COMPLETED"},
            "outboxId": {"S": f"event-{number}"},
            "outbox": {"M": outbox},
            "response": {"M": response},
        }
        self.dynamodb.put_item(TableName="receipts", Item=item)

    def record(self, tenant: str, number: int, mark: str = MARK) -> None:
        item = {
            "pk": {"S": f"{tenant}#record-{number}"},
            "tenantId": {"S": tenant},
            "recordId": {"S": f"record-{number}"},
            "eventId": {"S": f"event-{number}"},
            "document": {"S": _document(mark, number)},
        }
        self.dynamodb.put_item(TableName="records", Item=item)

    def publish(self, tenant: str, number: int, mark: str = MARK) -> None:
        event = {"id": f"event-{number}", "subject": f"record-{number}", "source": f"/onceward/dev/{tenant}"}
        body = json.dumps({**event, "data": json.loads(_document(mark, number))})
        attributes = {"tenantId": tenant, "eventId": f"event-{number}"}
        self.sqs.send_message(
            QueueUrl=self.queues[tenant],
            MessageBody=body,
            MessageAttributes={
                name: {"DataType": "String", "StringValue": value} for name, value in attributes.items()
            },
        )

    def waiting(self, tenant: str) -> int:
        """Messages in a queue, seen or not."""
        names: Any = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        got = self.sqs.get_queue_attributes(QueueUrl=self.queues[tenant], AttributeNames=names)
        return sum(int(value) for value in got["Attributes"].values())

    def audit(self, file: Path) -> AuditQueues:
        return AuditQueues(self.target, self.target.tenants.values(), MARK, file)


def _document(mark: str, number: int) -> str:
    return json.dumps({"id": f"record-{number}", "lead": {"reference": f"{mark}{number}/0"}})


@pytest.fixture
def stage() -> Iterator[Stage]:
    with mock_aws():
        yield Stage()


@pytest.mark.parametrize("count", [1, 100, 250])
def test_all_items_are_found_by_their_keys(stage: Stage, count: int) -> None:
    for number in range(count):
        stage.receipt(f"a1#{MARK}{number}", number)
        stage.record("a1", number)
    tables = Tables(stage.target)
    wanted = [f"a1#{MARK}{number}" for number in range(count)]
    assert set(tables.receipts([*wanted, "a1#unknown"])) == set(wanted)
    assert len(tables.records(f"a1#record-{number}" for number in range(count))) == count


def test_what_was_stored_is_read_as_the_checker_needs_it(stage: Stage) -> None:
    stage.receipt(f"a1#{MARK}1", 1)
    got = Tables(stage.target).receipts([f"a1#{MARK}1"])[f"a1#{MARK}1"]
    assert (got.tenant_id, got.key, got.completed) == ("a1", f"{MARK}1", True)
    assert (got.status, got.headers, got.body) == (201, (("etag", "e"),), "{}")
    assert (got.record_id, got.event_id) == ("record-1", "event-1")
    assert got.lead_hash is not None


def test_a_scan_finds_what_the_run_left_under_any_tenant_and_key(stage: Stage) -> None:
    stage.receipt(f"a1#{MARK}1", 1)
    stage.receipt("b1# leads:body:0123", 2)
    stage.receipt("a1#storm-other-3", 3, mark="storm-other-")
    stage.record("a1", 1)
    stage.record("b1", 2)
    stage.record("a1", 3, mark="storm-other-")
    tables = Tables(stage.target)
    assert sorted(tables.all_receipts(MARK)) == [f"a1#{MARK}1", "b1# leads:body:0123"]
    assert sorted(tables.all_records(MARK)) == ["a1#record-1", "b1#record-2"]


def test_the_runs_messages_are_kept_in_the_file_and_others_stay_in_the_queue(
    stage: Stage, tmp_path: Path
) -> None:
    for number in range(25):
        stage.publish("a1", number)
    stage.publish("b1", 30)
    stage.publish("b1", 31, mark="storm-other-")
    file = tmp_path / "events.jsonl"
    assert stage.audit(file).drain(0) == 26
    events = list(read_events(file))
    assert {one.event_id for one in events} == {f"event-{number}" for number in (*range(25), 30)}
    assert {(one.queue_tenant, one.tenant_attribute) for one in events} == {("a1", "a1"), ("b1", "b1")}
    assert (stage.waiting("a1"), stage.waiting("b1")) == (0, 1)


def test_without_a_queue_for_every_tenant_events_are_not_complete(stage: Stage, tmp_path: Path) -> None:
    assert stage.audit(tmp_path / "e").complete
    stage.queues["b1"] = ""
    incomplete = parse(stage._outputs())
    assert not AuditQueues(incomplete, incomplete.tenants.values(), MARK, tmp_path / "e").complete
    assert not AuditQueues(incomplete, [], MARK, tmp_path / "e").complete


def test_a_message_that_is_no_event_is_kept_as_one_that_nothing_explains(
    stage: Stage, tmp_path: Path
) -> None:
    stage.sqs.send_message(QueueUrl=stage.queues["a1"], MessageBody=f"not JSON, but {MARK}")
    stage.audit(tmp_path / "e").drain(0)
    assert [one.event_id for one in read_events(tmp_path / "e")] == [""]


def _settle(stage: Stage, file: Path, patience: float) -> settle.Settled:
    said: list[tuple[int, int]] = []
    pks = [f"a1#{MARK}{number}" for number in range(4)]
    settled = settle.wait(
        Tables(stage.target), stage.audit(file), file, pks, patience, lambda *now: said.append(now)
    )
    assert said[-1] == (settled.done, settled.expected)
    return settled


def test_it_settles_when_every_receipt_has_its_record_and_event(stage: Stage, tmp_path: Path) -> None:
    for number in range(3):  # the fourth key was never accepted
        stage.receipt(f"a1#{MARK}{number}", number)
        stage.record("a1", number)
        stage.publish("a1", number)
    settled = _settle(stage, tmp_path / "e", patience=30)
    assert (settled.done, settled.expected) == (3, 3)
    assert settled.seconds < 20


@pytest.mark.parametrize("missing", ["record", "event"])
def test_it_gives_up_when_nothing_more_happens(stage: Stage, tmp_path: Path, missing: str) -> None:
    stage.receipt(f"a1#{MARK}0", 0)
    if missing == "record":
        stage.publish("a1", 0)
    else:
        stage.record("a1", 0)
    settled = _settle(stage, tmp_path / "e", patience=1.0)
    assert (settled.done, settled.expected) == (0, 1)
    assert settled.seconds >= 1.0
