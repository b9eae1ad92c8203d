"""`dispatch` from the stream: what is delivered, what is parked, what is left for the next attempt."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from moto import mock_aws

from handlers.adapters.batch import BatchFailed
from handlers.domain.errors import Refused, Unavailable
from tests import builders
from tests.stream_events import failed_ids, inserted, modified, removed_by_ttl, sequence_number, stream_batch
from tests.unit.handlers.dispatch_bench import (
    LAG_MS,
    Bench,
    Failing,
    FailingTopics,
    Killed,
    accepted,
    event_ids,
)

if TYPE_CHECKING:
    from handlers.domain.receipt import Receipt

OUTAGE = Unavailable("topics", "Throttled")


def event_id(receipt: Receipt) -> str:
    assert receipt.outbox is not None
    return receipt.outbox.event_id


def emf(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines() if '"_aws"' in line]


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


def test_a_record_of_another_event_is_left_alone_and_the_newcomer_parked(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    lead = accepted(1)
    assert lead.outbox is not None
    taken = {"pk": {"S": f"acme#{lead.outbox.record_id}"}, "eventId": {"S": "another"}}
    bench.put_record(taken)

    response = bench.dispatch(stream_batch(inserted(1, lead)))

    assert response == {"batchItemFailures": []}
    assert bench.records() == [taken]
    assert bench.published() == []
    [parked] = bench.parked()
    assert parked["image"] == inserted(1, lead)["dynamodb"]["NewImage"]
    assert "another event" in parked["error"]
    [metrics] = emf(capsys.readouterr().out)
    assert (metrics["DispatchConflict"], metrics["DispatchParked"]) == ([1], [1])


def without_document(record: dict[str, Any]) -> dict[str, Any]:
    del record["dynamodb"]["NewImage"]["outbox"]["M"]["document"]
    return record


def with_document(record: dict[str, Any], document: str) -> dict[str, Any]:
    record["dynamodb"]["NewImage"]["outbox"]["M"]["document"]["S"] = document
    return record


def with_attribute(record: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    record["dynamodb"]["NewImage"][name] = value
    return record


@pytest.mark.parametrize(
    "poisoned",
    [
        pytest.param(without_document(inserted(1, accepted(1))), id="no document"),
        pytest.param(with_document(inserted(1, accepted(1)), "{"), id="document is not JSON"),
        pytest.param(with_document(inserted(1, accepted(1)), '"text"'), id="document is no object"),
        pytest.param(with_document(inserted(1, accepted(1)), f'{{"x":"{"x" * 245_760}"}}'), id="too large"),
        pytest.param(with_document(inserted(1, accepted(1)), "[" * 100_000), id="nested beyond any parser"),
        pytest.param(with_attribute(inserted(1, accepted(1)), "schema", {"N": "2"}), id="of a newer release"),
        pytest.param(with_attribute(inserted(1, accepted(1)), "pk", {"S": "../x#k"}), id="no tenant id"),
        pytest.param(with_attribute(inserted(1, accepted(1)), "pk", {"S": 7}), id="pk of another type"),
        pytest.param(with_attribute(inserted(1, accepted(1)), "outbox", None), id="outbox null"),
    ],
)
def test_a_poisoned_record_is_parked_whole_and_the_next_one_goes_on(
    bench: Bench, poisoned: dict[str, Any]
) -> None:
    response = bench.dispatch(stream_batch(poisoned, inserted(2, accepted(2, "bluebird"))))

    assert response == {"batchItemFailures": []}
    [parked] = bench.parked()
    assert parked["image"] == poisoned["dynamodb"]["NewImage"]
    assert parked["parkedAt"] == builders.NOW_MS + LAG_MS
    assert event_ids(bench.published("bluebird")) == [event_id(accepted(2))]
    assert [item["tenantId"]["S"] for item in bench.records()] == ["bluebird"]


def test_a_tenant_without_a_topic_holds_up_nobody(bench: Bench) -> None:
    bench.remove_topic("acme")

    response = bench.dispatch(stream_batch(inserted(1, accepted(1)), inserted(2, accepted(2, "bluebird"))))

    assert response == {"batchItemFailures": []}
    [parked] = bench.parked()
    assert parked["image"] == inserted(1, accepted(1))["dynamodb"]["NewImage"]
    assert parked["error"] == "topics: NotFound"
    assert len(bench.records()) == 2  # readable by its id, whatever the topic does
    assert event_ids(bench.published("bluebird")) == [event_id(accepted(2))]


@pytest.mark.parametrize(
    "error", [Unavailable("retry queue", "Timeout"), Refused("retry queue", "TooLong"), KeyError()]
)
def test_a_record_that_cannot_even_be_parked_fails(bench: Bench, error: Exception) -> None:
    bench.remove_topic("acme")

    response = bench.dispatch(
        stream_batch(inserted(1, accepted(1, "bluebird")), inserted(2, accepted(2))), parking=Failing(error)
    )

    assert failed_ids(response) == [sequence_number(2)]


def test_an_outage_fails_the_item_and_parks_nothing(bench: Bench) -> None:
    batch = stream_batch(inserted(1, accepted(1, "bluebird")), inserted(2, accepted(2)))

    response = bench.dispatch(batch, topics=FailingTopics(bench.topics, {"acme": OUTAGE}))

    assert failed_ids(response) == [sequence_number(2)]
    assert bench.parked() == []
    assert event_ids(bench.published("bluebird")) == [event_id(accepted(1))]


def test_after_an_outage_the_rest_of_the_batch_is_not_even_tried(bench: Bench) -> None:
    down = Failing(Unavailable("records", "ConnectTimeoutError"))

    response = bench.dispatch(stream_batch(*(inserted(n, accepted(n)) for n in (1, 2, 3))), records=down)

    assert down.calls == 1
    # Lambda takes up again at the lowest: all three come back.
    assert failed_ids(response) == [sequence_number(n) for n in (1, 2, 3)]
    bench.dispatch(stream_batch(*(inserted(n, accepted(n)) for n in (1, 2, 3))))
    assert event_ids(bench.published()) == [event_id(accepted(n)) for n in (1, 2, 3)]


def test_a_records_table_that_refuses_everybody_is_an_outage(bench: Bench) -> None:
    missing = bench.another_records_table("no-such-table")

    response = bench.dispatch(stream_batch(inserted(1, accepted(1))), records=missing)

    assert failed_ids(response) == [sequence_number(1)]
    assert bench.parked() == []


def test_every_failed_id_is_one_that_came_in(bench: Bench) -> None:
    batch = stream_batch(
        inserted(1, accepted(1)),
        removed_by_ttl(2, accepted(9)),
        inserted(3, accepted(3)),
        inserted(4, accepted(4)),
    )
    received = {record["dynamodb"]["SequenceNumber"] for record in batch["Records"]}

    response = bench.dispatch(batch, topics=FailingTopics(bench.topics, {"acme": OUTAGE}))

    failed = failed_ids(response)
    assert failed
    assert set(failed) <= received
    assert len(set(failed)) == len(failed)


def test_where_partial_answers_are_ignored_a_failure_fails_the_batch() -> None:
    with mock_aws():
        bench = Bench(partial_failures=False)
        batch = stream_batch(inserted(1, accepted(1, "bluebird")), inserted(2, accepted(2)))
        with pytest.raises(BatchFailed, match="1 of 2"):
            bench.dispatch(batch, topics=FailingTopics(bench.topics, {"acme": OUTAGE}))

        assert bench.dispatch(batch) == {"batchItemFailures": []}
        assert len(bench.records()) == 2
        assert event_ids(bench.published("acme")) == [event_id(accepted(2))]


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
    assert metrics["Service"] == "dispatch"
