"""`onceward dispatch replay`: what it finds, what it queues, and that `dispatch` delivers it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from handlers.adapters.receipt_item import from_item, to_item
from handlers.domain.outbox import delivery_of
from ops import replay
from ops.replay import parse_since
from tests import builders
from tests.stream_events import queue_batch
from tests.unit.handlers.dispatch_bench import accepted, event_ids
from tests.unit.handlers.test_dispatch_work import accepted_work
from tests.unit.ops.replay_stage import RECEIPTS_TABLE

if TYPE_CHECKING:
    from handlers.domain.receipt import Receipt
    from tests.unit.ops.replay_stage import Stage

NOW_MS = int(datetime.now(UTC).timestamp() * 1000)
HOUR_MS = builders.HOUR_MS


def recent(number: int, tenant: str = "acme", age_ms: int = HOUR_MS) -> Receipt:
    return accepted(number, tenant, created_at=NOW_MS - age_ms)


def test_what_has_no_record_is_counted_queued_and_then_delivered(stage: Stage) -> None:
    stage.put(recent(1), recorded=True)
    stage.put(recent(2))
    stage.put(recent(3, "bluebird"))

    result = stage.replay("--since", "2h")

    assert result.exit_code == 0
    assert "3 receipts since" in result.stdout
    assert "2 without a record" in result.stdout
    assert [line.split() for line in result.stdout.splitlines()[1:4]] == [
        ["TENANT", "MISSING"],
        ["acme", "1"],
        ["bluebird", "1"],
    ]
    bodies = stage.bodies()
    assert len(bodies) == 2
    assert stage.bench.dispatch(queue_batch(bodies)) == {"batchItemFailures": []}
    assert event_ids(stage.bench.published("bluebird")) == [delivery_of(recent(3)).event_id]
    assert stage.counts("--since", "2h", "--dry-run")["missing"] == 0


def test_run_twice_it_delivers_one_record_and_events_of_one_id(stage: Stage) -> None:
    stage.put(recent(1))
    stage.replay("--since", "2h")
    stage.replay("--since", "2h")

    stage.bench.dispatch(queue_batch(stage.bodies()))

    assert len(stage.bench.records()) == 1
    assert set(event_ids(stage.bench.published())) == {delivery_of(recent(1)).event_id}


def test_a_dry_run_queues_nothing(stage: Stage) -> None:
    stage.put(recent(1))
    assert stage.counts("--since", "2h", "--dry-run") | {"since": ""} == {
        "since": "",
        "until": None,
        "receipts": 1,
        "corrupt": 0,
        "missing": 1,
        "due": 1,
        "queued": 0,
        "tenants": {"acme": 1},
    }
    assert stage.bodies() == []


def test_older_receipts_and_other_tenants_are_left_alone(stage: Stage) -> None:
    stage.put(recent(1, age_ms=3 * HOUR_MS))
    stage.put(recent(2, "bluebird"))
    stage.put(recent(3))

    assert stage.counts("--since", "2h", "--tenant", "acme")["queued"] == 1
    [body] = stage.bodies()
    assert from_item(json.loads(body)["image"]) == recent(3)


def test_newer_receipts_are_left_alone_too(stage: Stage) -> None:
    stage.put(recent(1, age_ms=3 * HOUR_MS))
    stage.put(recent(2))

    assert stage.counts("--since", "4h", "--until", "2h")["queued"] == 1
    [body] = stage.bodies()
    assert from_item(json.loads(body)["image"]) == recent(1, age_ms=3 * HOUR_MS)


def test_an_event_that_was_lost_behind_its_record_comes_with_republish(stage: Stage) -> None:
    stage.put(recent(1), recorded=True)  # and killed before the event, and then the stream was lost
    stage.put(recent(2, "bluebird"), recorded=True)
    before = stage.bench.records()
    assert stage.counts("--since", "2h")["queued"] == 0

    counted = stage.counts("--since", "2h", "--tenant", "acme", "--republish")

    assert (counted["missing"], counted["due"], counted["queued"]) == (0, 1, 1)
    assert stage.bench.dispatch(queue_batch(stage.bodies())) == {"batchItemFailures": []}
    assert event_ids(stage.bench.published()) == [delivery_of(recent(1)).event_id]
    assert stage.bench.records() == before


def test_a_completed_orders_event_comes_with_republish_and_is_no_work(stage: Stage) -> None:
    order = replace(accepted_work(1, "orders"), created_at=NOW_MS - HOUR_MS)
    stage.put(order, recorded=True)
    [record] = stage.bench.records()
    stage.bench.put_record(record | {"status": {"S": "COMPLETED"}})

    assert stage.counts("--since", "2h", "--republish")["queued"] == 1
    assert stage.bench.dispatch(queue_batch(stage.bodies())) == {"batchItemFailures": []}

    [event] = [json.loads(text) for text in stage.bench.published()]
    assert (event["id"], event["data"]["status"]) == (delivery_of(order).event_id, "COMPLETED")
    assert stage.bench.queued("orders") == []


def test_republishing_says_that_events_may_come_twice(stage: Stage) -> None:
    stage.put(recent(1), recorded=True)
    said = stage.replay("--since", "2h", "--republish", "--dry-run").stdout
    assert "Subscribers may get these events twice, with the same id." in said
    assert "twice" not in stage.replay("--since", "2h", "--dry-run").stdout


def test_a_claim_without_an_answer_has_nothing_to_deliver(stage: Stage) -> None:
    stage.put(builders.in_progress(created_at=NOW_MS))
    assert stage.counts("--since", "1h")["receipts"] == 0


def test_a_receipt_that_names_no_record_is_told_and_stops_nobody(stage: Stage) -> None:
    item = to_item(recent(1))
    del item["outbox"]
    stage.dynamodb.put_item(TableName=RECEIPTS_TABLE, Item=item)
    stage.put(recent(2))

    assert "1 of them name no record" in stage.replay("--since", "2h", "--dry-run").stdout
    counted = stage.counts("--since", "2h")
    assert (counted["receipts"], counted["corrupt"], counted["queued"]) == (2, 1, 1)


def test_more_receipts_than_one_lookup_takes_are_all_compared(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "_BATCH", 10)
    for number in range(23):
        stage.put(recent(number), recorded=number % 2 == 0)
    counted = stage.counts("--since", "2h")
    assert (counted["receipts"], counted["missing"], counted["queued"]) == (23, 11, 11)
    assert len(stage.bodies()) == 11


def test_a_record_of_another_tenant_does_not_stand_in_for_one(stage: Stage) -> None:
    mine, theirs = recent(1), replace(recent(1), tenant_id="bluebird")
    stage.put(theirs, recorded=True)
    stage.put(mine)
    assert stage.counts("--since", "2h")["tenants"] == {"acme": 1}


NONSENSE = (
    ("--since", "yesterday"),
    ("--since", "0h"),
    ("--since", "2999-01-01"),
    ("--since", "99999999d"),
    ("--since", "2h", "--tenant", "A#"),
    ("--since", "2h", "--stage", "Prod!"),
    ("--since", "1h", "--until", "2h"),
    ("--since", "1h", "--until", "soon"),
    ("--since", "1h", "--delete"),
    ("--from-failures", "--republish"),
    ("--from-failures", "--delete", "--tenant", "acme"),
    ("--from-failures", "--delete", "--dry-run"),
    ("--republish",),
    (),
)


def test_nonsense_is_a_usage_error(stage: Stage) -> None:
    assert [arguments for arguments in NONSENSE if stage.replay(*arguments).exit_code != 2] == []


@pytest.mark.parametrize("how", [("--since", "2h"), ("--from-failures",)])
def test_a_tenant_that_the_stage_does_not_have_is_refused_with_those_it_has(
    stage: Stage, how: tuple[str, ...]
) -> None:
    result = stage.replay(*how, "--tenant", "nobody")
    assert result.exit_code == 2
    assert "stage local has no tenant 'nobody'; there are: acme, bluebird" in result.stderr


def test_a_suspended_tenants_receipts_can_be_delivered(stage: Stage) -> None:
    stage.put(recent(1, "bluebird"))
    assert stage.counts("--since", "2h", "--tenant", "bluebird")["queued"] == 1


def test_a_stage_without_settings_is_refused_with_those_that_have_some(stage: Stage) -> None:
    result = stage.replay("--since", "2h", "--stage", "qa")
    assert result.exit_code == 2
    assert "no stage 'qa' (no Pulumi.qa.yaml); there are: dev, local, prod" in result.stderr


def test_without_a_time_the_command_asks_for_one_with_an_example(stage: Stage) -> None:
    assert "say from when on, such as 2h (only --from-failures goes without)" in stage.replay().stderr


def test_a_platform_that_is_not_up_is_named(stage: Stage) -> None:
    (stage.home / "local.json").unlink()
    result = stage.replay("--since", "2h")
    assert result.exit_code == 2
    assert "not up" in result.stderr


def test_a_missing_queue_is_one_line_not_a_traceback(stage: Stage) -> None:
    stage.sqs.delete_queue(QueueUrl=stage.queue_url)
    result = stage.replay("--since", "2h")
    assert result.exit_code == 2
    assert "AWS did not do it" in result.stderr
    assert "Traceback" not in result.output


NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("90s", NOON - timedelta(seconds=90)),
        ("15m", NOON - timedelta(minutes=15)),
        ("2h", NOON - timedelta(hours=2)),
        ("7d", NOON - timedelta(days=7)),
        ("2026-11-30T10:00:00Z", NOON - timedelta(hours=2)),
        ("2026-11-30T10:00:00", NOON - timedelta(hours=2)),
        ("2026-11-30T11:00:00+01:00", NOON - timedelta(hours=2)),
        ("2026-11-30", NOON - timedelta(hours=12)),
    ],
)
def test_since_is_a_duration_or_a_time(text: str, moment: datetime) -> None:
    assert parse_since(text, NOON) == moment
