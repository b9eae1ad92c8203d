"""`ingest` as the tests call it: over a store of the test's choice, with a log that can be read."""

from __future__ import annotations

import io
import itertools
import json
import logging
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from aws_lambda_powertools import Logger

from handlers.ingest import Dependencies, ingest
from handlers.settings import IngestSettings
from tests.builders import NOW_MS, lead_event

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handlers.domain.ports import ReceiptStore

ORIGIN = "https://www.acme.example"
LOG = io.StringIO()
"""What the function logged for the store that was called last."""

_LOGGERS = itertools.count()
# A store is one function's process: its owners and generations go on from call to call.
_PROCESSES: WeakKeyDictionary[ReceiptStore, Dependencies] = WeakKeyDictionary()


def post(store: ReceiptStore, event: Mapping[str, Any]) -> dict[str, Any]:
    """Answer `event` over `store`, at NOW_MS by the worker's clock."""
    if store not in _PROCESSES:
        _PROCESSES[store] = _dependencies(store)
    answer = ingest(event, _PROCESSES[store])
    assert answer["headers"]["X-Correlation-Id"]
    return answer


def keyed(key: str, body: object = None, **more: Any) -> dict[str, Any]:
    """A lead with an idempotency key."""
    return lead_event(body, headers={"idempotency-key": [key]}, **more)


def rules(answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Field and rule of each fault in a problem."""
    return [(fault["field"], fault["rule"]) for fault in json.loads(answer["body"])["errors"]]


def _dependencies(store: ReceiptStore) -> Dependencies:
    number = next(_LOGGERS)
    numbers = itertools.count()
    LOG.seek(0)
    LOG.truncate()
    return Dependencies(
        settings=IngestSettings(stage="local", receipts_table="receipts", cors_origins=(ORIGIN,)),
        store=store,
        # Powertools keeps one handler a service name for the whole process: a name of our own each time.
        logger=Logger(service=f"ingest-{number}", level=logging.INFO, stream=LOG),
        clock_ms=lambda: NOW_MS,
        randomness=lambda: f"random-{number}-{next(numbers)}",
    )
