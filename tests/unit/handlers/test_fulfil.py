"""`fulfil`: an order reaches its destination and the event bus; one poison order of ten stops nobody."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from handlers.adapters.event_bus import EventBridgeBus, EventRefused
from handlers.domain import cloud_event
from handlers.domain.errors import Unavailable
from handlers.domain.outbound import Answer
from tests.stream_events import failed_ids
from tests.unit.handlers.dispatch_bench import Killed, emf
from tests.unit.handlers.work_bench import MAX_RECEIVES, STAGE, WorkBench, messages, order, tenant_config

ERP = {"url": "https://erp.acme.example/orders/{id}", "method": "PUT"}


@pytest.fixture
def bench() -> WorkBench:
    return WorkBench(configs={"acme": tenant_config()})


def written(bench: WorkBench, *numbers: int, **more: Any) -> Any:
    made = [order(number, **more) for number in numbers]
    for one in made:
        bench.store.write(one)
    return made


def test_an_order_goes_to_the_bus_as_its_event_and_is_completed(
    bench: WorkBench, capsys: pytest.CaptureFixture[str]
) -> None:
    [one] = written(bench, 1)

    assert bench.fulfil(messages(one)) == {"batchItemFailures": []}

    [(delivery, detail)] = bench.events
    assert delivery.type == "order.completed"
    event = json.loads(cloud_event.encode(one, STAGE))
    assert detail == {"tenantId": "acme", "event": event | {"data": event["data"] | {"status": "COMPLETED"}}}
    assert list(detail["event"]["data"])[-1] == "status"  # in the same place as in what a GET shows
    assert detail["event"]["correlationid"] == "correlation-1"
    assert (bench.status(one), bench.is_pending(one), bench.calls) == ("COMPLETED", False, [])
    [emitted] = emf(capsys.readouterr().out)
    assert (emitted["Completed"], emitted["CompletionLag"]) == ([1], [500.0])
    assert bench.log_lines()[0]["correlation_id"] == "correlation-1"


def test_the_status_on_the_way_can_be_read(bench: WorkBench) -> None:
    bench.configs = {"acme": tenant_config(orders=ERP)}
    [one] = written(bench, 1)
    seen = [bench.status(one)]

    def note(*_: Any) -> Answer:
        seen.append(bench.status(one))
        return Answer(200, {}, b"")

    bench.answer = note
    bench.fulfil(messages(one))
    assert [*seen, bench.status(one)] == ["ACCEPTED", "PROCESSING", "COMPLETED"]


def test_the_destination_comes_before_the_bus(bench: WorkBench) -> None:
    bench.configs = {"acme": tenant_config(orders=ERP)}
    bench.secrets = {("acme", "destinations/orders"): ("token",)}
    [one] = written(bench, 1)
    bench.answer = lambda *_: Answer(503, {}, b"")

    assert failed_ids(bench.fulfil(messages(one))) == ["message-0"]
    assert bench.events == []

    bench.answer = lambda *_: Answer(200, {}, b"")
    bench.fulfil(messages(one, receives=2))
    assert [url for _, url, _, _ in bench.calls] == [f"https://erp.acme.example/orders/{one.record_id}"] * 2
    assert bench.calls[0] == bench.calls[1]
    assert bench.calls[0][2]["Authorization"] == "Bearer token"
    assert len(bench.events) == 1


def test_killed_between_destination_and_bus_the_next_attempt_does_both(bench: WorkBench) -> None:
    bench.configs = {"acme": tenant_config(orders=ERP)}
    [one] = written(bench, 1)
    bench.bus_error = Killed()
    with pytest.raises(Killed):
        bench.fulfil(messages(one))

    bench.bus_error = None
    assert bench.fulfil(messages(one, receives=2)) == {"batchItemFailures": []}
    assert len(bench.calls) == 2
    assert bench.status(one) == "COMPLETED"


def test_one_poison_order_of_ten_is_reported_and_nine_are_completed(bench: WorkBench) -> None:
    bench.configs = {"acme": tenant_config(orders=ERP)}
    orders = written(bench, *range(10))
    poison = orders[4]

    def answer(_method: str, _url: str, body: bytes) -> Answer:
        return Answer(422 if b'"number": 4' in body else 200, {}, b"")

    bench.answer = answer
    for receives in range(1, MAX_RECEIVES + 1):
        # Lambda deletes what is not reported: from the second time on only the poison comes.
        batch = messages(*(orders if receives == 1 else [poison]), receives=receives)
        failed = failed_ids(bench.fulfil(batch))
        assert failed == (["message-4"] if receives == 1 else ["message-0"])

    assert [bench.status(one) for one in orders if one is not poison] == ["COMPLETED"] * 9
    assert (bench.status(poison), bench.is_pending(poison)) == ("FAILED", False)
    assert len(bench.events) == 9

    # What was wrong is mended, and the message is brought back: its earlier claim does not swallow it.
    bench.answer = lambda *_: Answer(200, {}, b"")
    assert bench.fulfil(messages(poison)) == {"batchItemFailures": []}
    assert bench.status(poison) == "COMPLETED"
    assert len(bench.events) == 10


def test_an_order_that_makes_no_event_reaches_nobody(bench: WorkBench) -> None:
    bench.configs = {"acme": tenant_config(orders=ERP)}
    broken = replace(order(1), document="{")
    bench.store.write(broken)
    assert failed_ids(bench.fulfil(messages(broken))) == ["message-0"]
    assert (bench.calls, bench.events) == ([], [])


def test_a_tenant_that_is_gone_fails_its_orders_only(bench: WorkBench) -> None:
    [mine], [theirs] = written(bench, 1), written(bench, 2, tenant="bluebird")
    assert failed_ids(bench.fulfil(messages(theirs, mine))) == ["message-0"]
    assert bench.status(mine) == "COMPLETED"


# --- the bus


def bus(stubbed: Any) -> None:
    EventBridgeBus("onceward-dev_orders", STAGE, stubbed).put(order(1), '{"tenantId":"acme"}')


def events_client() -> Any:
    return boto3.client("events", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")


def test_the_bus_is_told_source_and_type_for_its_rule() -> None:
    stubbed = events_client()
    entry = {
        "EventBusName": "onceward-dev_orders",
        "Source": "onceward.dev",
        "DetailType": "order.completed",
        "Detail": '{"tenantId":"acme"}',
    }
    with Stubber(stubbed) as stubber:
        stubber.add_response(
            "put_events", {"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]}, {"Entries": [entry]}
        )
        bus(stubbed)
        stubber.assert_no_pending_responses()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("ThrottlingException", Unavailable),
        ("InternalFailure", Unavailable),
        ("NotAuthorizedForSourceException", Unavailable),
        ("MalformedDetail", EventRefused),
        ("InvalidArgument", EventRefused),
    ],
)
def test_an_entry_that_failed_in_a_call_that_did_not_is_a_failure(
    code: str, expected: type[Exception]
) -> None:
    stubbed = events_client()
    with Stubber(stubbed) as stubber:
        stubber.add_response("put_events", {"FailedEntryCount": 1, "Entries": [{"ErrorCode": code}]})
        with pytest.raises(expected, match=code):
            bus(stubbed)
