"""Where work goes, under the scheduler: a tenant's destination, which takes upserts, and the event bus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from handlers.domain.outbound import Answer, AnswerLost, NotSent
from proof.aws import AwsPort
from proof.ports import Applied
from proof.programs import Raised

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from handlers.domain.outbox import Delivery
    from proof.programs import Ask, Call


@dataclass(frozen=True)
class Upsert:
    """A request that a destination took. `key`: its Idempotency-Key, the event's id."""

    method: str
    url: str
    key: str
    body: str


@dataclass(frozen=True)
class Put:
    """An event on the bus."""

    event_id: str
    type: str
    detail: str


class AskingDestination:
    """`Outbound` for a program."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def call(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, *, timeout_seconds: float
    ) -> Answer:
        """See `Outbound`."""
        assert timeout_seconds > 0
        sent = Upsert(method, url, headers["Idempotency-Key"], body.decode())
        answer: Answer = self._ask("destination", "upsert", sent)
        return answer


class Destination:
    """The port; its state is the different upserts that arrived, however often each did."""

    name = "destination"
    resends = False  # it is no AWS service

    def initial(self) -> frozenset[Upsert]:
        """See `Port`."""
        return frozenset()

    def apply(self, state: frozenset[Upsert], call: Call, now: int) -> Applied:
        """See `Port`."""
        del now
        sent: Upsert = call.arguments[0]
        other = [one for one in state if one.key == sent.key and one != sent]
        broken = (f"{sent.key} arrives as another request than before",) if other else ()
        return Applied(state | {sent}, Answer(200, {}, b"{}"), broken)

    def unreached(self, call: Call) -> Raised:
        """See `Port`."""
        del call
        return Raised(NotSent, ("the destination: no connection",))

    def unanswered(self, call: Call) -> Raised:
        """See `Port`."""
        del call
        return Raised(AnswerLost, ("the destination: no answer",))

    def instants(self, state: Any) -> Iterable[int]:  # noqa: ANN401 - see `Port`
        """See `Port`."""
        del state
        return ()

    def lapses(self, state: Any, now: int) -> Iterable[tuple[str, Any, tuple[str, ...]]]:  # noqa: ANN401
        """See `Port`."""
        del state, now
        return ()


class AskingBus:
    """`fulfil.EventBus` for a program."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def put(self, delivery: Delivery, detail: str) -> None:
        """See `EventBus`."""
        self._ask("bus", "announce", Put(delivery.event_id, delivery.type, detail))


class Bus(AwsPort):
    """The port; its state is the different events that were put, however often each was."""

    name = "bus"

    def initial(self) -> frozenset[Put]:
        """See `Port`."""
        return frozenset()

    def apply(self, state: frozenset[Put], call: Call, now: int) -> Applied:
        """See `Port`."""
        del now
        told: Put = call.arguments[0]
        other = [one for one in state if one.event_id == told.event_id and one != told]
        broken = (f"{told.event_id} is announced in other words than before",) if other else ()
        return Applied(state | {told}, None, broken)
