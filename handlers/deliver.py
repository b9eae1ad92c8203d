"""`deliver`: from the queue `webhooks` to each event's destination, as an upsert by the event's own id."""

from __future__ import annotations

import time
import uuid
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from aws_lambda_powertools import Logger

from handlers.adapters import work_batch
from handlers.adapters.delivery import Destinations
from handlers.adapters.outbound import OutboundHttp
from handlers.adapters.secrets import SsmSecrets
from handlers.adapters.tenant_config import DynamoDbTenantConfigs
from handlers.adapters.work_batch import Worker
from handlers.adapters.work_queue import SqsPauses
from handlers.adapters.work_store import DynamoDbWork
from handlers.adapters.work_trace import Words
from handlers.domain.destination import addressee_of_webhook
from handlers.domain.work import WEBHOOKS
from handlers.settings import WorkerSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from handlers.domain.outbox import Delivery

WORDS: Final = Words("deliver", "Delivered", "DeliveryFailed", "DeliveryLag")


def handler(event: Mapping[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Deliver a batch of the queue; answers the messages to bring again."""
    return work_batch.run(event, _worker(), context.get_remaining_time_in_millis)


class Deliver:
    """The work: send the record where the event's source is configured to go."""

    def __init__(self, destinations: Destinations) -> None:
        self._destinations = destinations

    def __call__(self, delivery: Delivery) -> None:
        """See `Destinations.send`. With no destination there is nothing to do: `dispatch` tells the topic."""
        self._destinations.send(delivery)


@cache
def _worker() -> Worker:
    settings = WorkerSettings.from_environment()
    tenants = DynamoDbTenantConfigs(settings.tenants_table)
    destinations = Destinations(
        tenants,
        SsmSecrets(settings.secrets_prefix),
        OutboundHttp(settings.stand_in_url),
        addressee_of_webhook,
    )
    return Worker(
        work=WEBHOOKS,
        stage=settings.stage,
        max_receives=settings.max_receives,
        store=DynamoDbWork(settings.records_table),
        act=Deliver(destinations),
        pauses=SqsPauses(settings.queue_url),
        words=WORDS,
        logger=Logger(service=WORDS.function),
        clock_ms=lambda: time.time_ns() // 1_000_000,
        owner=lambda: uuid.uuid4().hex,
        detailed=tenants.detailed,
    )
