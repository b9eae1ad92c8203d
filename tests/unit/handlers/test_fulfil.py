"""`fulfil` and `notify`: an order reaches destination, bus and topic; one poison of ten stops nobody."""

from __future__ import annotations

import io
import itertools
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from aws_lambda_powertools import Logger
from botocore.stub import Stubber

from handlers.adapters.event_bus import EventBridgeBus, EventRefused
from handlers.domain import bus_event, cloud_event
from handlers.domain.errors import CorruptItem, Refused, Unavailable
from handlers.domain.outbound import Answer
from handlers.notify import Dependencies, notify
from handlers.settings import NotifySettings
from tests.stream_events import failed_ids
from tests.unit.handlers.dispatch_bench import Killed, emf
from tests.unit.handlers.work_bench import MAX_RECEIVES, STAGE, WorkBench, messages, order, tenant_config

if TYPE_CHECKING:
    from handlers.domain.outbox import Announced

ERP = {"url": "https://erp.acme.example/orders/{id}", "method": "PUT"}
_LOGGERS = itertools.count()


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
    assert detail == {"tenantId": "acme", "event": json.loads(cloud_event.encode(one, STAGE))}
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


# --- from the bus to the topic


class Topics:
    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.published: list[tuple[str, str, str, str]] = []

    def publish(self, announced: Announced, event: str, /) -> None:
        if self.error is not None:
            raise self.error
        self.published.append((announced.tenant_id, announced.type, announced.event_id, event))


def notified(event: dict[str, Any], topics: Topics) -> list[dict[str, Any]]:
    """Run `notify`; the lines that it logged."""
    log = io.StringIO()
    logger = Logger(service=f"notify-{next(_LOGGERS)}", level="INFO", stream=log)
    try:
        notify(event, Dependencies(NotifySettings(STAGE, "arn:"), topics, logger))
    finally:
        lines = [json.loads(line) for line in log.getvalue().splitlines()]
    return lines


def exact(text: str) -> Any:
    """What is in a JSON text, numbers digit for digit."""
    return json.loads(
        text, parse_float=lambda digits: ("float", digits), parse_int=lambda digits: ("int", digits)
    )


def on_the_bus(document: str = '{"id":"R","n":1}') -> tuple[str, dict[str, Any]]:
    """The event of an order, and what Lambda brings of it: parsed, as its runtime does."""
    one = replace(order(1), document=document)
    event = cloud_event.encode(one, STAGE)
    return event, {"source": "onceward.dev", "detail": json.loads(bus_event.detail_of(one, event))}


@pytest.mark.parametrize(
    "document",
    [
        '{"id":"R","n":1,"name":"für 😀"}',
        '{"n":1.50}',
        '{"n":1e400}',
        '{"n":123456789012345678901234567890}',
        "{}",
        '{"n":1.0}',
        '{"text":"\\u0041"}',
        '{ "spaced" : 1 }',
        '{"a":"\ufffe"}',
    ],
)
def test_the_topic_gets_every_member_and_digit_of_the_event_whatever_the_bus_parses(document: str) -> None:
    event, brought = on_the_bus(document)
    topics = Topics()

    [line] = notified(brought, topics)

    [(tenant, kind, event_id, published)] = topics.published
    assert (tenant, kind, event_id) == ("acme", "order.completed", order(1).event_id)
    assert exact(published) == exact(event)
    assert (line["outcome"], line["tenant"], line["correlation_id"]) == ("notified", "acme", "correlation-1")


def test_an_event_that_comes_twice_keeps_its_id(capsys: pytest.CaptureFixture[str]) -> None:
    _, brought = on_the_bus()
    topics = Topics()
    for _ in range(2):
        notified(brought, topics)
    first, again = topics.published
    assert first == again
    assert [line["Notified"] for line in emf(capsys.readouterr().out)] == [[1], [1]]


@pytest.mark.parametrize("error", [Unavailable("topics", "Throttled"), Refused("topics", "NotFound")])
def test_a_topic_that_takes_nothing_fails_the_call_so_that_lambda_tries_again(
    error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(type(error)):
        notified(on_the_bus()[1], Topics(error))
    assert [line["NotifyFailed"] for line in emf(capsys.readouterr().out)] == [[1]]


@pytest.mark.parametrize(
    "change",
    [
        {"detail": None},
        {"detail": {}},
        {"detail": {"tenantId": "acme", "event": "{"}},
        {"detail": {"tenantId": "acme", "event": {}}},
        {"detail": {"tenantId": "../x", "event": on_the_bus()[1]["detail"]["event"]}},
        {"detail": {"tenantId": "bluebird", "event": on_the_bus()[1]["detail"]["event"]}},
    ],
)
def test_what_is_no_event_of_a_tenant_or_names_another_reaches_no_topic(change: dict[str, Any]) -> None:
    topics = Topics()
    with pytest.raises(CorruptItem):
        notified(on_the_bus()[1] | change, topics)
    assert topics.published == []


def test_a_detail_that_the_bus_would_not_take_is_the_orders_own_fault() -> None:
    # Text within text: its quotes are escaped once more.
    document = '{"n":1.50,"t":"' + '\\"' * 65_500 + '"}'
    one = replace(order(1), document=document)
    with pytest.raises(CorruptItem, match="detail"):
        bus_event.detail_of(one, cloud_event.encode(one, STAGE))
