"""`fulfil`: from the queue `orders` to the tenant's destination, if it has one, and to the event bus."""

from __future__ import annotations

import time
import uuid
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol

from aws_lambda_powertools import Logger

from handlers.adapters import work_batch
from handlers.adapters.delivery import Destinations
from handlers.adapters.event_bus import EventBridgeBus
from handlers.adapters.outbound import OutboundHttp
from handlers.adapters.secrets import SsmSecrets
from handlers.adapters.tenant_config import DynamoDbTenantConfigs
from handlers.adapters.work_batch import Worker
from handlers.adapters.work_queue import SqsPauses
from handlers.adapters.work_store import DynamoDbWork
from handlers.adapters.work_trace import Words
from handlers.domain import bus_event, cloud_event
from handlers.domain.destination import addressee_of_order
from handlers.domain.work import ORDERS
from handlers.settings import MissingSettingError, WorkerSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from handlers.domain.outbox import Delivery

WORDS: Final = Words("fulfil", "Completed", "FulfilmentFailed", "CompletionLag")


class EventBus(Protocol):
    """The platform's event bus."""

    def put(self, delivery: Delivery, detail: str) -> None:
        """Put one event; raises EventRefused, Unavailable or Refused."""


def handler(event: Mapping[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Fulfil a batch of the queue; answers the messages to bring again."""
    return work_batch.run(event, _worker(), context.get_remaining_time_in_millis)


class Fulfil:
    """The work: the destination first, then the bus, so that who hears of an order finds it there."""

    def __init__(self, stage: str, destinations: Destinations, bus: EventBus) -> None:
        self._stage = stage
        self._destinations = destinations
        self._bus = bus

    def __call__(self, delivery: Delivery) -> None:
        """See `Destinations.send` and `EventBus.put`; the event is the same on every attempt."""
        # Made before anything is sent: an order that makes no event must not reach its destination each time.
        event = cloud_event.encode_done(delivery, ORDERS, self._stage)
        detailed = self._destinations.detailed(delivery.tenant_id)
        detail = bus_event.detail_of(delivery, event, detailed_metrics=detailed)
        self._destinations.send(delivery)
        self._bus.put(delivery, detail)


@cache
def _worker() -> Worker:
    settings = WorkerSettings.from_environment()
    if settings.event_bus is None:
        raise MissingSettingError("the environment variable EVENT_BUS_NAME is missing or empty")
    tenants = DynamoDbTenantConfigs(settings.tenants_table)
    destinations = Destinations(
        tenants,
        SsmSecrets(settings.secrets_prefix),
        OutboundHttp(settings.stand_in_url),
        addressee_of_order,
    )
    return Worker(
        work=ORDERS,
        stage=settings.stage,
        max_receives=settings.max_receives,
        store=DynamoDbWork(settings.records_table),
        act=Fulfil(settings.stage, destinations, EventBridgeBus(settings.event_bus, settings.stage)),
        pauses=SqsPauses(settings.queue_url),
        words=WORDS,
        logger=Logger(service=WORDS.function),
        clock_ms=lambda: time.time_ns() // 1_000_000,
        owner=lambda: uuid.uuid4().hex,
        detailed=tenants.detailed,
    )
