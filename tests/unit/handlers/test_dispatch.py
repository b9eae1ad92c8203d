"""`dispatch` from the stream: what is delivered, and that a crash or a redelivery changes nothing of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests import builders
from tests.stream_events import inserted, modified, removed_by_ttl, stream_batch
from tests.unit.handlers.dispatch_bench import (
    LAG_MS,
    Bench,
    FailingTopics,
    Killed,
    accepted,
    emf,
    event_id,
    event_ids,
)


def test_an_accepted_lead_becomes_a_record_and_an_event(bench: Bench) -> None:
    lead = accepted(1)

    response = bench.dispatch(stream_batch(inserted(1, lead)))

    assert response == {"batchItemFailures": []}
    assert lead.outbox is not None
    [record] = bench.records()
    assert record == {
        "pk": {"S": f"acme#{lead.outbox.record_id}"},
        "tenantId": {"S": "acme"},
        "recordId": {"S": lead.outbox.record_id},
        "eventId": {"S": lead.outbox.event_id},
        "operation": {"S": "leads"},
        "type": {"S": "lead.created"},
        "document": {"S": lead.outbox.document},
        "correlationId": {"S": "correlation-1"},
        "createdAt": {"N": str(builders.NOW_MS)},
    }
    [event] = bench.published()
    assert json.loads(event) == {
        "specversion": "1.0",
        "id": lead.outbox.event_id,
        "source": "/onceward/dev/acme",
        "type": "lead.created",
        "subject": lead.outbox.record_id,
        "time": "2026-11-30T00:53:20.000Z",
        "datacontenttype": "application/json",
        "correlationid": "correlation-1",
        "data": json.loads(lead.outbox.document),
    }
    assert bench.parked() == []


def test_an_empty_batch_is_nothing_to_do(bench: Bench) -> None:
    assert bench.dispatch({"Records": []}) == {"batchItemFailures": []}


def test_each_tenants_event_goes_to_its_own_topic_only(bench: Bench) -> None:
    bench.dispatch(stream_batch(inserted(1, accepted(1)), inserted(2, accepted(2, "bluebird"))))

    assert event_ids(bench.published("acme")) == [event_id(accepted(1))]
    assert event_ids(bench.published("bluebird")) == [event_id(accepted(2))]


def test_an_overwritten_expired_receipt_is_delivered_as_the_new_request_that_it_is(bench: Bench) -> None:
    expired, fresh = accepted(1, key="k"), accepted(2, key="k")
    bench.dispatch(stream_batch(inserted(1, expired)))

    bench.dispatch(stream_batch(modified(2, fresh, old=expired)))

    assert len(bench.records()) == 2
    assert event_ids(bench.published()) == [event_id(expired), event_id(fresh)]


def test_a_completed_claim_is_delivered(bench: Bench) -> None:
    done = accepted(1)
    bench.dispatch(stream_batch(modified(1, done, old=builders.in_progress(key=done.key))))

    assert event_ids(bench.published()) == [event_id(done)]


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(removed_by_ttl(1, accepted(1)), id="removed by TTL"),
        pytest.param(modified(1, accepted(1, purge_at=7), old=accepted(1)), id="changed, outbox the same"),
        pytest.param(inserted(1, builders.in_progress()), id="claimed, not yet answered"),
    ],
)
def test_a_change_without_a_new_outbox_does_nothing(bench: Bench, record: dict[str, Any]) -> None:
    response = bench.dispatch(stream_batch(record))

    assert response == {"batchItemFailures": []}
    assert (bench.records(), bench.published(), bench.parked()) == ([], [], [])


def test_a_removal_undoes_nothing(bench: Bench) -> None:
    lead = accepted(1)
    bench.dispatch(stream_batch(inserted(1, lead), removed_by_ttl(2, lead)))

    assert len(bench.records()) == 1
    assert event_ids(bench.published()) == [event_id(lead)]


def test_killed_between_record_and_event_the_redelivery_publishes_the_same_event(bench: Bench) -> None:
    batch = stream_batch(inserted(1, accepted(1)))
    with pytest.raises(Killed):
        bench.dispatch(batch, topics=FailingTopics(bench.topics, {"acme": Killed()}))
    [before] = bench.records()
    assert bench.published() == []

    response = bench.dispatch(batch)

    assert response == {"batchItemFailures": []}
    assert bench.records() == [before]
    assert event_ids(bench.published()) == [event_id(accepted(1))]


def test_killed_after_the_event_the_redelivery_repeats_it_letter_for_letter(bench: Bench) -> None:
    batch = stream_batch(inserted(1, accepted(1)), inserted(2, accepted(2, "bluebird")))
    with pytest.raises(Killed):
        bench.dispatch(batch, topics=FailingTopics(bench.topics, {"bluebird": Killed()}))

    bench.dispatch(batch)

    first, again = bench.published("acme")
    assert first == again
    assert len(bench.records()) == 2
    assert event_ids(bench.published("bluebird")) == [event_id(accepted(2))]


def test_a_batch_that_comes_again_in_another_order_makes_no_second_record(bench: Bench) -> None:
    records = [inserted(number, accepted(number)) for number in (1, 2, 3)]
    bench.dispatch(stream_batch(*records))
    before = sorted(str(item) for item in bench.records())

    response = bench.dispatch(stream_batch(*reversed(records)))

    assert response == {"batchItemFailures": []}
    assert sorted(str(item) for item in bench.records()) == before
    ids = event_ids(bench.published())
    assert len(ids) == 6
    assert set(ids) == {event_id(accepted(number)) for number in (1, 2, 3)}


def test_one_log_line_a_record_says_what_became_of_it_and_nothing_of_its_payload(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.remove_topic("bluebird")

    bench.dispatch(stream_batch(inserted(1, accepted(1)), inserted(2, accepted(2, "bluebird"))))

    said = [
        (line["outcome"], line["tenant"], line["operation"], line["event_id"], line["correlation_id"])
        for line in bench.log_lines()
    ]
    assert said == [
        ("dispatched", "acme", "leads", event_id(accepted(1)), "correlation-1"),
        ("parked", "bluebird", "leads", event_id(accepted(2)), "correlation-2"),
    ]
    assert "Ada" not in str(bench.log_lines()) + capsys.readouterr().out


def test_the_lag_from_acceptance_to_event_is_measured(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.dispatch(stream_batch(inserted(1, accepted(1))))

    [metrics] = emf(capsys.readouterr().out)
    assert metrics["Dispatched"] == [1]
    assert metrics["DispatchLag"] == [LAG_MS]
    assert metrics["Service"] == "onceward-dev_dispatch"
