"""What the contract promises of each operation that a storm sends (DESIGN section 3).

Spelt out here and not imported from the platform: the checker must notice when the platform changes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

IN_PROGRESS: Final = "urn:onceward:problem:request-in-progress"
DECLINED: Final = "urn:onceward:problem:declined"
SLOT_TAKEN: Final = "urn:onceward:problem:slot-taken"
INTERNAL: Final = "urn:onceward:problem:internal-error"
# What a webhook is answered: word for word, and without an id (that is in its Location).
WEBHOOK_NEW: Final = {"accepted": True, "duplicate": False}
WEBHOOK_DUPLICATE: Final = {"accepted": True, "duplicate": True}


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """One operation as its callers know it.

    Attributes:
        name: in metrics, receipts and the history.
        function: the function that serves it; those that share one need one warm-up.
        path: where it is POSTed; `{tenant}` and `{source}` are filled in for webhooks.
        read_path: where its records are read, without the slash and the id.
        record_name: the member of a record that holds the body as it was sent.
        event_type: of its event on the tenant's topic.
        first: the status of a first answer.
        duplicate: the fixed status of a duplicate's answer; None where that is the first answer again.
        may_run: a first request may still be running (execute mode): then a duplicate is answered 409.
        finals: refusals that are answers, stored and replayed: the problem's type by status.
        one_body: the key belongs to one body, and another one is a 422.
        done: the status of a record whose queued work is done; None where there is no such work.
        weight: its part of a storm's keys, compared with the others'.
    """

    name: str
    function: str
    path: str
    read_path: str
    record_name: str
    event_type: str
    weight: int
    first: int = HTTPStatus.CREATED
    duplicate: int | None = None
    may_run: bool = False
    finals: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    one_body: bool = True
    done: str | None = None

    @property
    def read_name(self) -> str:
        """What a GET of one of its records is called in the history."""
        return f"{self.name}{READ_SUFFIX}"

    def is_final(self, status: int, problem: str | None) -> bool:
        """Whether an answer is a refusal that stands: stored, and replayed to every duplicate."""
        return status in self.finals and self.finals[status] == problem


READ_SUFFIX: Final = ":read"

LEADS: Final = Operation("leads", "ingest", "/v1/leads", "/v1/leads", "lead", "lead.created", weight=30)
ORDERS: Final = Operation(
    "orders",
    "ingest",
    "/v1/orders",
    "/v1/orders",
    "order",
    "order.completed",
    weight=20,
    first=HTTPStatus.ACCEPTED,
    done="COMPLETED",
)
WEBHOOKS: Final = Operation(
    "webhooks",
    "webhooks",
    "/v1/webhooks/{tenant}/{source}",
    "/v1/webhook-events",
    "event",
    "webhook.received",
    weight=20,
    first=HTTPStatus.ACCEPTED,
    duplicate=HTTPStatus.OK,
    one_body=False,
    done="DELIVERED",
)
PAYMENTS: Final = Operation(
    "payments",
    "execute",
    "/v1/payments",
    "/v1/payments",
    "payment",
    "payment.created",
    weight=15,
    may_run=True,
    finals=MappingProxyType({int(HTTPStatus.PAYMENT_REQUIRED): DECLINED}),
)
APPOINTMENTS: Final = Operation(
    "appointments",
    "execute",
    "/v1/appointments",
    "/v1/appointments",
    "appointment",
    "appointment.created",
    weight=15,
    may_run=True,
    finals=MappingProxyType({int(HTTPStatus.CONFLICT): SLOT_TAKEN}),
)

BY_NAME: Final[Mapping[str, Operation]] = MappingProxyType(
    {one.name: one for one in (LEADS, ORDERS, WEBHOOKS, PAYMENTS, APPOINTMENTS)}
)
# Where a stage has no stand-in, payments would reach a provider, orders the destination of the storm tenants'
# files (which nobody has), and webhooks need their senders' secrets.
ELSEWHERE: Final = (LEADS.name, APPOINTMENTS.name)


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """The named operations in the order of this module, each once.

    Raises:
        ValueError: there is no such operation (names it, and those that there are).
    """
    wanted = set(names)
    if unknown := sorted(wanted - set(BY_NAME)):
        raise ValueError(f"operations: {unknown[0]} is none of {', '.join(BY_NAME)}")
    return tuple(name for name in BY_NAME if name in wanted)
