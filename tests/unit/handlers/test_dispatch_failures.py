"""`dispatch` from the stream: what is parked, and what is left for the next attempt."""

from __future__ import annotations

import json
from typing import Any

import pytest
from moto import mock_aws

from handlers.adapters import metrics
from handlers.adapters.batch import BatchFailed
from handlers.domain.errors import Refused, Unavailable
from tests import builders
from tests.stream_events import (
    failed_ids,
    inserted,
    queue_batch,
    removed_by_ttl,
    sequence_number,
    stream_batch,
)
from tests.unit.handlers.dispatch_bench import (
    LAG_MS,
    TENANTS,
    Bench,
    Failing,
    FailingRecords,
    FailingTopics,
    accepted,
    emf,
    event_id,
    event_ids,
)

OUTAGE = Unavailable("topics", "Throttled")
ACME_CANNOT_BE_RECORDED = frozenset({"acme"})


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


@pytest.mark.parametrize(
    "error", [Refused("topics", "ParamValidationError"), Refused("topics", "InvalidParameter"), TypeError()]
)
def test_a_version_that_makes_no_message_of_any_receipt_counts_as_one_that_fails(
    bench: Bench, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    batch = stream_batch(inserted(1, accepted(1)), inserted(2, accepted(2, "bluebird")))

    bench.dispatch(batch, topics=FailingTopics(bench.topics, dict.fromkeys(TENANTS, error)))

    assert [line["DispatchFailed"] for line in emf(capsys.readouterr().out)] == [[1], [1]]


@pytest.mark.parametrize(
    "document",
    [
        pytest.param("{", id="not JSON"),
        pytest.param('"text"', id="no object"),
        pytest.param(f'{{"x":"{"x" * 245_760}"}}', id="too large"),
        pytest.param("[" * 100_000, id="nested beyond any parser"),
    ],
)
def test_a_document_that_makes_no_event_is_parked_and_keeps_its_record(bench: Bench, document: str) -> None:
    unfit = with_document(inserted(1, accepted(1)), document)

    response = bench.dispatch(stream_batch(unfit, inserted(2, accepted(2, "bluebird"))))

    assert response == {"batchItemFailures": []}
    [parked] = bench.parked()
    assert parked["image"] == unfit["dynamodb"]["NewImage"]
    stored = {item["tenantId"]["S"]: item["document"]["S"] for item in bench.records()}
    assert stored["acme"] == document
    assert (bench.published(), event_ids(bench.published("bluebird"))) == ([], [event_id(accepted(2))])


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


@pytest.mark.parametrize("error", [OUTAGE, Unavailable("topics", "ReadTimeoutError"), TimeoutError()])
def test_a_topic_that_does_not_answer_is_its_tenants_trouble_alone(bench: Bench, error: Exception) -> None:
    batch = stream_batch(
        *(inserted(n, accepted(n, t)) for n, t in ((1, "acme"), (2, "bluebird"), (3, "acme")))
    )

    response = bench.dispatch(batch, topics=FailingTopics(bench.topics, {"acme": error}))

    assert response == {"batchItemFailures": []}
    assert [parked["image"]["tenantId"]["S"] for parked in bench.parked()] == ["acme", "acme"]
    assert event_ids(bench.published("bluebird")) == [event_id(accepted(2, "bluebird"))]
    assert len(bench.records()) == 3


def test_a_lost_right_to_publish_parks_everybodys_records_and_can_be_alarmed_on(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = Refused("topics", "AuthorizationError")
    batch = stream_batch(inserted(1, accepted(1)), inserted(2, accepted(2, "bluebird")))

    response = bench.dispatch(batch, topics=FailingTopics(bench.topics, dict.fromkeys(TENANTS, refused)))

    assert response == {"batchItemFailures": []}
    assert [parked["error"] for parked in bench.parked()] == ["topics: AuthorizationError"] * 2
    counted = emf(capsys.readouterr().out)
    assert [line["DispatchParked"] for line in counted] == [[1], [1]]
    # Rights come with an update and not with a version, so none is rolled back for them.
    assert not [line for line in counted if "DispatchFailed" in line]


def test_an_outage_of_the_records_table_fails_the_item_and_parks_nothing(bench: Bench) -> None:
    batch = stream_batch(inserted(1, accepted(1, "bluebird")), inserted(2, accepted(2)))
    records = FailingRecords(bench.dependencies.records, ACME_CANNOT_BE_RECORDED)

    response = bench.dispatch(batch, records=records)

    assert failed_ids(response) == [sequence_number(2)]
    assert bench.parked() == []
    assert event_ids(bench.published("bluebird")) == [event_id(accepted(1))]


def test_after_an_outage_the_rest_of_the_batch_is_not_even_tried(bench: Bench) -> None:
    down = Failing(Unavailable("records", "ConnectTimeoutError"))

    response = bench.dispatch(stream_batch(*(inserted(n, accepted(n)) for n in (1, 2, 3))), records=down)

    assert down.calls == 1
    # Lambda takes up again at the lowest: all three come back.
    assert failed_ids(response) == [sequence_number(n) for n in (1, 2, 3)]
    assert [(line["outcome"], line["event_id"]) for line in bench.log_lines()] == [
        ("failed", event_id(accepted(1))),
        ("not_attempted", event_id(accepted(2))),
        ("not_attempted", event_id(accepted(3))),
    ]
    bench.dispatch(stream_batch(*(inserted(n, accepted(n)) for n in (1, 2, 3))))
    assert event_ids(bench.published()) == [event_id(accepted(n)) for n in (1, 2, 3)]


def test_a_retry_queue_that_does_not_answer_ends_the_batch(bench: Bench) -> None:
    down = Failing(Unavailable("retry queue", "ConnectTimeoutError"))
    bench.remove_topic("acme")

    response = bench.dispatch(stream_batch(*(inserted(n, accepted(n)) for n in (1, 2, 3))), parking=down)

    assert down.calls == 1
    assert failed_ids(response) == [sequence_number(n) for n in (1, 2, 3)]


def test_out_of_time_the_rest_is_left_for_the_next_delivery_and_said_so(bench: Bench) -> None:
    left = iter([25_000, 15_000, 13_000])
    batch = stream_batch(*(inserted(n, accepted(n)) for n in (1, 2, 3, 4)))

    response = bench.dispatch(batch, remaining_ms=lambda: next(left))

    assert failed_ids(response) == [sequence_number(4)]
    assert event_ids(bench.published()) == [event_id(accepted(n)) for n in (1, 2, 3)]
    assert bench.log_lines()[-1]["reason"] == "not attempted: the function's time is up"


def test_with_hardly_any_time_at_all_one_record_is_tried(bench: Bench) -> None:
    batch = stream_batch(*(inserted(n, accepted(n)) for n in (1, 2)))
    assert failed_ids(bench.dispatch(batch, remaining_ms=lambda: 0)) == [sequence_number(2)]


def test_what_cannot_be_told_is_delivered_all_the_same(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(metrics, "emit", broken)
    parked = json.dumps({"image": inserted(2, accepted(2))["dynamodb"]["NewImage"]})

    assert bench.dispatch(stream_batch(inserted(1, accepted(1)))) == {"batchItemFailures": []}
    assert bench.dispatch(queue_batch([parked])) == {"batchItemFailures": []}

    assert bench.parked() == []
    assert event_ids(bench.published()) == [event_id(accepted(1)), event_id(accepted(2))]


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

    response = bench.dispatch(batch, records=Failing(Unavailable("records", "InternalServerError")))

    failed = failed_ids(response)
    assert failed
    assert set(failed) <= received
    assert len(set(failed)) == len(failed)


def test_where_partial_answers_are_ignored_a_failure_fails_the_batch() -> None:
    with mock_aws():
        bench = Bench(partial_failures=False)
        batch = stream_batch(inserted(1, accepted(1, "bluebird")), inserted(2, accepted(2)))
        with pytest.raises(BatchFailed, match="1 of 2"):
            bench.dispatch(batch, records=FailingRecords(bench.dependencies.records, ACME_CANNOT_BE_RECORDED))

        assert bench.dispatch(batch) == {"batchItemFailures": []}
        assert len(bench.records()) == 2
        assert event_ids(bench.published("acme")) == [event_id(accepted(2))]
