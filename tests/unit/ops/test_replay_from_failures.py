"""`onceward dispatch replay --from-failures`: what the stream gave up comes out of the failure bucket."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from handlers.domain.outbox import delivery_of
from tests.stream_events import inserted, modified, queue_batch, removed_by_ttl, stream_batch
from tests.unit.handlers.dispatch_bench import accepted, event_ids

if TYPE_CHECKING:
    from tests.unit.ops.replay_stage import Stage

MAPPING = "aws/lambda/4f2e0f3c-1111-2222-3333-123456789012/shardId-00000001573689847184-864758bb"


def object_name(number: int) -> str:
    """As the Lambda Developer Guide spells it: mapping, shard, time and something random."""
    return f"{MAPPING}/2026-11-30T09.00.{number:02d}-cdb0a2f1-0000-0000-0000-{number:012d}"


def given_up(*records: dict[str, Any], as_text: bool = False) -> dict[str, Any]:
    """The record of a batch that was given up (Lambda Developer Guide, DynamoDB, S3 destinations)."""
    batch = stream_batch(*records)
    return {
        "requestContext": {
            "requestId": "316aa6d0-8154-xmpl-9af7-85d5f4a6bc81",
            "functionArn": "arn:aws:lambda:us-east-1:123456789012:function:onceward-local_dispatch:live",
            "condition": "RecordAgeExceeded",
            "approximateInvokeCount": 1,
        },
        "responseContext": {"statusCode": 200, "executedVersion": "7", "functionError": "Unhandled"},
        "version": "1.0",
        "timestamp": "2026-11-30T09:00:00.038Z",
        "DDBStreamBatchInfo": {
            "shardId": "shardId-00000001573689847184-864758bb",
            "startSequenceNumber": "800000000003126276362",
            "endSequenceNumber": "800000000003126276362",
            "approximateArrivalOfFirstRecord": "2026-11-29T13:00:00Z",
            "approximateArrivalOfLastRecord": "2026-11-29T13:00:00Z",
            "batchSize": len(records),
            "streamArn": "arn:aws:dynamodb:us-east-1:123456789012:table/onceward-local_receipts/stream/x",
        },
        "payload": json.dumps(batch) if as_text else batch,
    }


@pytest.mark.parametrize("as_text", [False, True])
def test_every_receipt_that_was_given_up_is_queued_and_then_delivered(stage: Stage, *, as_text: bool) -> None:
    stage.give_up(
        object_name(1), given_up(inserted(1, accepted(1)), inserted(2, accepted(2)), as_text=as_text)
    )
    stage.give_up(object_name(2), given_up(inserted(3, accepted(3, "bluebird")), as_text=as_text))

    result = stage.replay("--from-failures")

    assert result.exit_code == 0
    assert [line.split() for line in result.stdout.splitlines()[1:4]] == [
        ["TENANT", "RECEIPTS"],
        ["acme", "2"],
        ["bluebird", "1"],
    ]
    assert "Queued 3, removed 0 objects." in result.stdout
    assert stage.bench.dispatch(queue_batch(stage.bodies())) == {"batchItemFailures": []}
    assert len(stage.bench.records()) == 3
    promised = {delivery_of(accepted(n)).event_id for n in (1, 2)}
    assert set(event_ids(stage.bench.published())) == promised


def test_a_receipt_that_its_keys_next_use_has_overwritten_comes_from_the_bucket_only(stage: Stage) -> None:
    first, second = accepted(1, key="k"), accepted(2, key="k")
    stage.put(second)  # while `dispatch` was behind, the short window of the first ended
    stage.give_up(object_name(1), given_up(inserted(1, first), modified(2, second, old=first)))

    assert stage.counts("--from-failures")["queued"] == 2

    stage.bench.dispatch(queue_batch(stage.bodies()))
    assert set(event_ids(stage.bench.published())) == {delivery_of(one).event_id for one in (first, second)}


def test_changes_without_a_new_outbox_are_not_queued(stage: Stage) -> None:
    one = accepted(1)
    unchanged = modified(2, accepted(1, purge_at=7), old=one)
    stage.give_up(object_name(1), given_up(removed_by_ttl(1, one), unchanged))
    assert stage.counts("--from-failures")["queued"] == 0


def test_run_twice_it_keeps_the_objects_and_brings_the_same_events(stage: Stage) -> None:
    stage.give_up(object_name(1), given_up(inserted(1, accepted(1))))
    for _ in range(2):
        assert stage.counts("--from-failures")["deleted"] == 0

    assert stage.given_up() == [object_name(1)]
    stage.bench.dispatch(queue_batch(stage.bodies()))
    assert len(stage.bench.records()) == 1
    assert set(event_ids(stage.bench.published())) == {delivery_of(accepted(1)).event_id}


def test_a_dry_run_counts_and_queues_nothing(stage: Stage) -> None:
    stage.give_up(object_name(1), given_up(inserted(1, accepted(1))))
    assert stage.counts("--from-failures", "--dry-run") == {
        "since": None,
        "until": None,
        "objects": 1,
        "unreadable": 0,
        "queued": 0,
        "deleted": 0,
        "receipts": 1,
        "tenants": {"acme": 1},
    }
    assert stage.bodies() == []


def test_with_delete_the_queued_objects_go_and_the_unreadable_stay(stage: Stage) -> None:
    stage.give_up(object_name(1), given_up(inserted(1, accepted(1))))
    stage.give_up(object_name(2), {"payload": "not what Lambda writes"})

    result = stage.replay("--from-failures", "--delete", "--json")

    assert result.exit_code == 1
    assert f"{object_name(2)} is no record of a batch that Lambda gave up" in result.stderr
    counted = json.loads(result.stdout)
    assert (counted["queued"], counted["deleted"], counted["unreadable"]) == (1, 1, 1)
    assert stage.given_up() == [object_name(2)]
    assert len(stage.bodies()) == 1


@pytest.mark.parametrize("content", [7, [], {}, {"payload": None}, {"payload": {"Records": [{}]}}])
def test_an_object_of_another_shape_is_named_and_stops_nobody(stage: Stage, content: Any) -> None:
    stage.give_up(object_name(1), content)
    stage.give_up(object_name(2), given_up(inserted(1, accepted(1))))
    result = stage.replay("--from-failures")
    assert result.exit_code == 1
    assert object_name(1) in result.stderr
    assert len(stage.bodies()) == 1


def test_only_what_lambda_wrote_is_read(stage: Stage) -> None:
    stage.give_up("notes/incident.json", {"written by": "a person"})
    assert stage.counts("--from-failures")["objects"] == 0


def test_one_tenants_receipts_can_be_queued_alone(stage: Stage) -> None:
    stage.give_up(object_name(1), given_up(inserted(1, accepted(1)), inserted(2, accepted(2, "bluebird"))))
    assert stage.counts("--from-failures", "--tenant", "bluebird")["tenants"] == {"bluebird": 1}
    assert len(stage.bodies()) == 1


def test_objects_are_chosen_by_when_they_were_written(stage: Stage) -> None:
    stage.give_up(object_name(1), given_up(inserted(1, accepted(1))))
    assert stage.counts("--from-failures", "--since", "1h")["objects"] == 1
    assert stage.counts("--from-failures", "--until", "1h")["objects"] == 0
