"""What can become of what was accepted: each function behind a stream, a queue, the bus or the schedule."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger
from moto import mock_aws

from handlers.domain import bus_event, cloud_event
from handlers.domain.errors import Refused, Unavailable
from handlers.domain.outbound import Answer
from handlers.domain.pending import MOST_REQUEUES, PERIOD_MS
from handlers.domain.work import ORDERS, WEBHOOKS
from handlers.domain.work_item import WorkClaim
from handlers.domain.work_message import WorkMessage
from handlers.notify import Dependencies, notify
from handlers.settings import NotifySettings
from tests.builders import NOW_MS
from tests.fakes.work import InMemoryWork
from tests.stream_events import inserted, queue_batch, stream_batch
from tests.unit.handlers.dispatch_bench import Bench, Failing, accepted
from tests.unit.handlers.reconcile_bench import ORDER, Reconciler
from tests.unit.handlers.work_bench import (
    MAX_RECEIVES,
    STAGE,
    WorkBench,
    messages,
    order,
    tenant_config,
    webhook,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from handlers.domain.outbox import Announced, Delivery
    from handlers.domain.work import Work

_LOGGERS = itertools.count()
_PUT = {"url": "https://crm.acme.example/contacts/{id}", "method": "PUT"}


def run_dispatch(detailed: bool) -> str:
    """Dispatched, a conflict, parked, still parked, failed, and what comes after a failure."""
    with mock_aws():
        bench = Bench()

        def batch(*numbers: int) -> dict[str, Any]:
            told = (inserted(number, accepted(number, detailed_metrics=detailed)) for number in numbers)
            return stream_batch(*told)

        bench.dispatch(batch(1))
        [record] = bench.records()
        bench.put_record(record | {"eventId": {"S": "another"}})
        bench.dispatch(batch(1))
        bench.dispatch(batch(2, 3), records=Failing(Unavailable("records", "ThrottlingException")))
        # Parked above, for its conflict, and no better now.
        bench.dispatch(queue_batch([json.dumps(each) for each in bench.parked()]), parking=_Parked())
        return _text(bench.log_lines())


def run_deliver(detailed: bool) -> str:
    """Everything that can become of a webhook."""
    return _work(webhook, WEBHOOKS, detailed)


def run_fulfil(detailed: bool) -> str:
    """Everything that can become of an order."""
    return _work(order, ORDERS, detailed)


def run_notify(detailed: bool) -> str:
    """Published, refused by the topic, and not answered by it."""
    log = io.StringIO()
    # Powertools keeps one handler a service name for the whole process: a name of our own.
    logger = Logger(service=f"notify-outcomes-{next(_LOGGERS)}", level="INFO", stream=log)
    one = order(1)
    detail = bus_event.detail_of(one, cloud_event.encode(one, STAGE), detailed_metrics=detailed)
    for error in (None, Refused("topics", "NotFound"), Unavailable("topics", "ReadTimeoutError")):
        topics = _Topics(error)
        # Raised on: Lambda tries again.
        with contextlib.suppress(Refused, Unavailable):
            settings = NotifySettings(STAGE, "arn:")
            notify({"detail": json.loads(detail)}, Dependencies(settings, topics, logger))
    return log.getvalue()


def run_reconcile(_detailed: bool) -> str:
    """Queued again, given up, and a queue that does not answer."""
    store = InMemoryWork()
    store.write(ORDER)
    one = Reconciler(store, now=ORDER.created_at + PERIOD_MS)
    one.run()
    place = (ORDER.tenant_id, ORDER.record_id)
    store.records[place] = replace(store.records[place], requeues=MOST_REQUEUES)
    one.now += 40 * PERIOD_MS
    one.run()
    store.write(order(2))
    one.error = Unavailable("sqs", "ServiceUnavailable")
    # Raised on: the function's errors are alarmed on.
    with contextlib.suppress(Exception):
        one.run()
    return one.log.getvalue()


def _work(made: Any, work: Work, detailed: bool) -> str:
    metrics = "detailed" if detailed else "standard"
    config = tenant_config(metrics=metrics, destination=_PUT, orders=_PUT)
    bench = WorkBench(configs={"acme": config})
    run = bench.deliver if work is WEBHOOKS else bench.fulfil

    def bring(delivery: Delivery, receives: int = 1) -> None:
        bench.store.write(delivery)
        run(messages(delivery, receives=receives))

    bring(made(1))
    bring(made(1))
    _held_by_a_twin(bench, made(2), work)
    run(messages(made(2)))
    bench.answer = lambda *_: _overtaken(bench, work, made(3))
    bring(made(3))
    bench.answer = lambda *_: Answer(500, {}, b"")
    bring(made(4))
    bring(made(5), MAX_RECEIVES)
    bench.config_error = Unavailable("tenants", "AccessDeniedException")
    bring(made(6))
    return bench.log.getvalue()


def _held_by_a_twin(bench: WorkBench, delivery: Delivery, work: Work) -> None:
    bench.store.write(delivery)
    bench.store.claim(WorkClaim(work, WorkMessage.of(delivery), "twin", NOW_MS, NOW_MS + 60_000))


def _overtaken(bench: WorkBench, work: Work, delivery: Delivery) -> Answer:
    """A destination so slow that a successor has the work when it answers."""
    bench.now += 600_000
    claim = WorkClaim(work, WorkMessage.of(delivery), "successor", bench.now, bench.now + 60_000)
    bench.store.claim(claim)
    return Answer(200, {}, b"")


def _text(lines: list[dict[str, Any]]) -> str:
    return "\n".join(json.dumps(line) for line in lines)


class _Parked:
    """A retry queue whose messages wait for as long as they are told to."""

    def park(self, image: Mapping[str, Any], error: str, parked_at_ms: int) -> None:
        raise AssertionError("a message of the queue is parked already")

    def back_off(self, messages: Sequence[Mapping[str, Any]]) -> None:
        pass


class _Topics:
    """Takes what is published, or does not."""

    def __init__(self, error: Exception | None) -> None:
        self._error = error

    def publish(self, announced: Announced, event: str, /) -> None:
        if self._error is not None:
            raise self._error
