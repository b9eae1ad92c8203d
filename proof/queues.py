"""What `dispatch` sends to: the tenants' topics, the queues of work, and the retry queue."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from handlers.adapters import parking
from handlers.adapters.receipt_item import from_item, to_item
from proof.aws import AwsPort
from proof.ports import Applied

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from handlers.domain.outbox import Announced
    from handlers.domain.receipt import Receipt
    from handlers.domain.work_message import WorkMessage
    from proof.programs import Ask, Call


@dataclass(frozen=True)
class Published:
    """An event on a topic. `topic`: whose; the rest is what the event's text says (`data`: as JSON text)."""

    topic: str
    source: str
    event_id: str
    record_id: str
    type: str = ""
    data: str = ""


@dataclass(frozen=True)
class Waiting:
    """A message of the retry queue. `republish`: see `Parked`."""

    image: Receipt
    republish: bool


class AskingTopics:
    """`dispatch.Topics` for a program."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def publish(self, announced: Announced, event: str) -> None:
        """See `dispatch.Topics`."""
        told = json.loads(event)
        source, event_id, record_id, kind = (told[name] for name in ("source", "id", "subject", "type"))
        data = json.dumps(told["data"])
        published = Published(announced.tenant_id, source, event_id, record_id, kind, data)
        self._ask("topics", "publish", published)


class Topics(AwsPort):
    """The port; its state is what was published, each event once however often it was."""

    name = "topics"

    def initial(self) -> frozenset[Published]:
        """See `Port`."""
        return frozenset()

    def apply(self, state: frozenset[Published], call: Call, now: int) -> Applied:
        """See `Port`."""
        del now
        return Applied(state | {call.arguments[0]}, None)


class AskingWorkQueues:
    """`WorkQueues` of `dispatch` for a program."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def send(self, message: WorkMessage) -> None:
        """See `WorkQueues`."""
        self._ask("work queue", "send", message)


class SentWork(AwsPort):
    """The port, where nobody works: its state is what was sent, each message once however often it was."""

    name = "work queue"

    def initial(self) -> frozenset[WorkMessage]:
        """See `Port`."""
        return frozenset()

    def apply(self, state: frozenset[WorkMessage], call: Call, now: int) -> Applied:
        """See `Port`."""
        del now
        return Applied(state | {call.arguments[0]}, None)


class AskingParking:
    """`dispatch.Parking`, and what an operator parks, for a program."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def park(
        self, image: Mapping[str, Any], error: str, parked_at_ms: int, *, republish: bool = False
    ) -> None:
        """See `RetryQueue.park`."""
        receipt = from_item(image)
        assert to_item(receipt) == image, "an image that is not a receipt's would be parked as another"
        message = parking.to_body(image, error, parked_at_ms, republish=republish)
        assert parking.parked_in(message).image == image
        self._ask("retry queue", "park", Waiting(receipt, republish))

    def back_off(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """See `dispatch.Parking`. What is on the queue may come at any time."""


class RetryQueue(AwsPort):
    """The port; its state is the messages that wait, each once. A message stays until it is acknowledged."""

    name = "retry queue"
    certain = frozenset({"take", "acknowledge"})

    def initial(self) -> tuple[Waiting, ...]:
        """See `Port`."""
        return ()

    def apply(self, state: tuple[Waiting, ...], call: Call, now: int) -> Applied:
        """See `Port`."""
        del now
        if call.name == "take":
            return Applied(state, state[0] if state else None)
        message: Waiting = call.arguments[0]
        if call.name == "acknowledge":
            return Applied(tuple(one for one in state if one != message), None)
        return Applied(state if message in state else (*state, message), None)
