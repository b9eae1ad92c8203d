"""The platform's event bus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import boto3

from handlers.adapters.aws import CLIENT_CONFIG, translated
from handlers.domain.errors import OncewardError, Unavailable

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

    from handlers.domain.outbox import Delivery

_SERVICE: Final = "event bus"
# Error codes of single entries that are about the entry (EventBridge API reference, PutEventsResultEntry);
# whatever else an entry fails for would fail the next one too.
_ABOUT_THE_ENTRY: Final = frozenset({"InvalidArgument", "MalformedDetail"})


class EventRefused(OncewardError):
    """The bus does not take this event."""


class EventBridgeBus:
    """One event bus, by its name."""

    def __init__(self, name: str, stage: str, client: EventBridgeClient | None = None) -> None:
        self._name = name
        self._source = f"onceward.{stage}"
        self._client: EventBridgeClient = client or boto3.client("events", config=CLIENT_CONFIG)

    def put(self, delivery: Delivery, detail: str) -> None:
        """Put one event; `detail` is a JSON object as text.

        Raises:
            EventRefused: the bus does not take this one.
            Unavailable: whether it was taken is unknown.
            Refused: the bus takes none from us.
        """
        with translated(_SERVICE):
            answer = self._client.put_events(
                Entries=[
                    {
                        "EventBusName": self._name,
                        "Source": self._source,
                        "DetailType": delivery.type,
                        "Detail": detail,
                    }
                ]
            )
        # PutEvents answers 200 whatever became of its entries.
        if answer["FailedEntryCount"]:
            code = answer["Entries"][0].get("ErrorCode", "Unknown")
            if code in _ABOUT_THE_ENTRY:
                raise EventRefused(f"{_SERVICE}: {code}")
            raise Unavailable(_SERVICE, code)
