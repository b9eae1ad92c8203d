"""`notify`: from the event bus to the tenant's topic. Called asynchronously: what fails is tried again."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol

from aws_lambda_powertools import Logger

from handlers.adapters import metrics, topics
from handlers.adapters.dispatch_trace import reason_of
from handlers.adapters.topics import SnsTopics
from handlers.domain.bus_event import notice_in
from handlers.settings import NotifySettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handlers.domain.bus_event import Notice
    from handlers.domain.outbox import Announced

FUNCTION: Final = "notify"
_OPERATION: Final = "orders"  # the one bus there is carries what became of orders


class Topics(Protocol):
    """The tenants' topics."""

    def publish(self, announced: Announced, event: str, /) -> None:
        """Publish on the tenant's topic; raises Refused or Unavailable."""


@dataclass(frozen=True)
class Dependencies:
    """What the handler works with; tests bring their own."""

    settings: NotifySettings
    topics: Topics
    logger: Logger


@cache
def _dependencies() -> Dependencies:
    settings = NotifySettings.from_environment()
    return Dependencies(settings, SnsTopics(settings.topic_arn_prefix), Logger(service=FUNCTION))


def handler(event: Mapping[str, Any], context: object) -> None:  # noqa: ARG001 - Lambda's signature
    """Publish one event of the bus; raises what went wrong, so that Lambda tries again and then keeps it."""
    notify(event, _dependencies())


def notify(event: Mapping[str, Any], dependencies: Dependencies) -> None:
    """Publish the notice in `event`. It may come twice: the event's id is the same each time.

    Raises:
        CorruptItem: it is no notice.
        Refused, Unavailable: the topic did not take it.
    """
    notice: Notice | None = None
    try:
        notice = notice_in(event)
        dependencies.topics.publish(notice, notice.event)
    except Exception as error:
        # One tenant's topic is no fault of ours: counted as that, it would roll a release of ours back.
        counts = {"TopicRefused": 1} if topics.refuses(error) else {"NotifyFailed": 1}
        _tell(dependencies, notice, "failed", counts, {"reason": reason_of(error)})
        raise
    _tell(dependencies, notice, "notified", {"Notified": 1}, {})


def _tell(
    dependencies: Dependencies,
    notice: Notice | None,
    outcome: str,
    counts: dict[str, int],
    more: dict[str, str],
) -> None:
    said: dict[str, str] = {"outcome": outcome, "operation": _OPERATION, **more}
    if notice is not None:
        said |= {"tenant": notice.tenant_id, "event_id": notice.event_id}
        said |= {"correlation_id": notice.correlation_id}
    log = dependencies.logger.info if outcome == "notified" else dependencies.logger.error
    # What was published stays published: nothing comes again because nobody could be told of it.
    with suppress(Exception):
        log(outcome, extra=said)
    with suppress(Exception):
        stage = dependencies.settings.stage
        whose = (notice.tenant_id, notice.detailed_metrics) if notice else (None, False)
        metrics.emit(metrics.About(stage, FUNCTION, _OPERATION, *whose), counts, {})
