"""`notify`: from the bus to the tenant's topic, every digit of it, and nobody else's."""

from __future__ import annotations

import io
import itertools
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from aws_lambda_powertools import Logger

from handlers.domain import bus_event, cloud_event
from handlers.domain.errors import CorruptItem, Refused, Unavailable
from handlers.notify import Dependencies, notify
from handlers.settings import NotifySettings
from tests.unit.handlers.dispatch_bench import emf
from tests.unit.handlers.work_bench import STAGE, order

if TYPE_CHECKING:
    from handlers.domain.outbox import Announced

_LOGGERS = itertools.count()


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


@pytest.mark.parametrize(
    ("error", "counted"),
    [
        (Unavailable("topics", "Throttled"), "NotifyFailed"),
        (Refused("topics", "InvalidParameter"), "NotifyFailed"),
        (TypeError(), "NotifyFailed"),
        # Its tenant's trouble: three tries of one event must not roll a release back.
        (Refused("topics", "NotFound"), "TopicRefused"),
        (Refused("topics", "AuthorizationError"), "TopicRefused"),
        (Refused("topics", "KMSDisabled"), "TopicRefused"),
    ],
)
def test_a_topic_that_takes_nothing_fails_the_call_so_that_lambda_tries_again(
    error: Exception, counted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(type(error)):
        notified(on_the_bus()[1], Topics(error))
    [line] = emf(capsys.readouterr().out)
    assert {name for name in line if isinstance(line[name], list)} == {counted}
    assert line.get("TenantId") == ("acme" if counted == "TopicRefused" else None)


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
