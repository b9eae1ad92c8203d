"""Reading what a run left: all of it, from whoever's part of the tables, and nobody else's messages."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from moto import mock_aws

from loadtest import collect
from loadtest.collect import AuditQueues, Tables, read_events
from loadtest.target import parse
from tests.integration.storm_stage import MARK, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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
    assert got.body_hash is not None


def test_a_scan_finds_what_the_run_left_under_any_tenant_and_key(stage: Stage) -> None:
    stage.receipt(f"a1#{MARK}1", 1)
    stage.receipt("b1# leads:body:0123", 2)
    stage.receipt("a1#storm-other-3", 3, mark="storm-other-")
    stage.record("a1", 1)
    stage.record("b1", 2)
    stage.record("a1", 3, mark="storm-other-")
    tables = Tables(stage.target)
    assert sorted(one.pk for one in tables.all_receipts(MARK)) == [f"a1#{MARK}1", "b1# leads:body:0123"]
    assert sorted(one.pk for one in tables.all_records(MARK)) == ["a1#record-1", "b1#record-2"]


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


def test_many_messages_of_others_end_no_drain_and_are_seen_by_others_at_once(
    stage: Stage, tmp_path: Path
) -> None:
    url = stage.queues["a1"]
    stage.sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "1"})
    for _ in range(20):
        entries: Any = [{"Id": str(n), "MessageBody": "of an earlier run"} for n in range(10)]
        stage.sqs.send_message_batch(QueueUrl=url, Entries=entries)
    stage.publish("a1", 1)
    began = time.monotonic()
    assert stage.audit(tmp_path / "e").drain(0) == 1
    assert time.monotonic() - began < 60
    assert stage.waiting("a1") == 200
    assert len(stage.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]) == 10


def test_others_who_write_faster_than_a_queue_is_read_end_no_drain(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collect, "_FOREIGN_SECONDS", 1.0)
    queues = stage.audit(tmp_path / "e")
    message = {"Body": "of another run", "ReceiptHandle": "r"}
    monkeypatch.setattr(queues, "_receive", lambda url, wait: [message] if url.endswith("a1") else [])
    monkeypatch.setattr(queues, "_release", lambda url, handles: None)
    assert queues.drain(0) == 0


def test_an_event_in_the_queue_of_a_tenant_without_a_part_in_the_run_is_found(
    stage: Stage, tmp_path: Path
) -> None:
    stage.publish("b1", 1)
    stage.publish("b1", 2, mark="storm-other-")
    file = tmp_path / "e"
    queues = AuditQueues(stage.target, [stage.target.tenants["a1"]], MARK, file)
    assert (queues.complete, queues.drain(0)) == (True, 0)
    assert queues.sweep() == 1
    assert [(one.queue_tenant, one.event_id) for one in read_events(file)] == [("b1", "event-1")]
    assert stage.waiting("b1") == 1


def test_a_line_that_was_cut_off_is_skipped_and_its_message_taken_again(stage: Stage, tmp_path: Path) -> None:
    file = tmp_path / "e"
    stage.publish("a1", 1)
    stage.audit(file).drain(0)
    with file.open("a") as half:
        half.write('{"queueTenant":"a1","body":"{')
    assert [one.event_id for one in read_events(file)] == ["event-1"]
    stage.publish("a1", 2)
    stage.audit(file).drain(0)
    assert [one.event_id for one in read_events(file)] == ["event-1", "event-2"]


def test_what_was_taken_off_the_queues_is_for_its_user_alone(stage: Stage, tmp_path: Path) -> None:
    stage.publish("a1", 1)
    stage.audit(tmp_path / "e").drain(0)
    assert (tmp_path / "e").stat().st_mode & 0o777 == 0o600


def test_keys_that_dynamodb_leaves_are_asked_for_again_after_a_pause(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        stage.receipt(f"a1#{MARK}{number}", number)
    tables, pauses = Tables(stage.target), list[float]()
    get, rounds = tables._dynamodb.batch_get_item, iter(range(3))

    def throttled(**arguments: Any) -> Any:
        if next(rounds, None) is None:
            return get(**arguments)
        return {"Responses": {}, "UnprocessedKeys": arguments["RequestItems"]}

    tables._dynamodb.batch_get_item = throttled
    monkeypatch.setattr(time, "sleep", pauses.append)
    assert len(tables.receipts(f"a1#{MARK}{number}" for number in (0, 1, 2, 1, 0))) == 3
    assert pauses == [0.05, 0.1, 0.2]


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
