"""What an operation is: the data that the one accept path works from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from handlers.domain.caller import KeySource, OperationSettings
    from handlers.domain.effect import Effect
    from handlers.domain.json_text import JsonValue
    from handlers.domain.outbound import Outbound

Document: TypeAlias = "dict[str, JsonValue]"


class Schema(Protocol):
    """A validator of a parsed body: raises InvalidBody with every fault, else returns the object."""

    def __call__(self, body: JsonValue, /) -> Document:
        """Return `body`, unchanged, when it fits."""


@dataclass(frozen=True)
class Booking:
    """Who has a slot.

    Attributes:
        generation: of the claim that took it.
        record_id: of the record that follows.
        holder: a hash of whom it is for, salted with the generation; None where nobody is named, and in the
            bookings of earlier releases.
    """

    generation: str
    record_id: str
    holder: str | None


class SlotStore(Protocol):
    """What can be taken once: a doctor's time."""

    def take(self, tenant_id: str, slot: str, booking: Booking) -> Booking | None:
        """Take `slot` unless another generation has it: one conditional write, and no read.

        None when it is `booking`'s, now or from before; else the one that has it.

        Raises Unavailable, Refused or CorruptItem.
        """


class SecretStore(Protocol):
    """Tenants' secrets, cached for a minute."""

    def find(self, tenant_id: str, name: str) -> tuple[str, ...]:
        """The secrets under `name` (`payments/provider`), newest first; empty when there is none.

        Raises Unavailable or Refused.
        """


@dataclass(frozen=True)
class AcceptOperation:
    """An operation in accept mode: claim, result and outbox are one write.

    Attributes:
        name: as in keys, metrics and settings, such as ``leads``.
        permission: what a key must be allowed, such as ``leads:create``.
        record_name: the member of the document that holds the request as it was sent.
        event_type: of the event on the tenant's topic.
        path: where a record can be read; ``{id}`` stands for its id.
        schema: validates the body.
        derive: what the platform adds to the document (a lead's score); a pure function of the body.
        answered: what the first answer carries besides ``id`` and ``createdAt``: members that the platform
            adds, or the ``status`` of queued work (`domain.work`), or members of the body.
        key_source: where the key comes from, unless the tenant says otherwise.
        key_fields: JMESPath expressions over the body, for the key source `fields`.
        window_seconds: how long a key stands for its request, unless the tenant says otherwise.
        answer: what a first answer says: `created` (201), or `accepted` (202: `domain.work` follows).
    """

    name: str
    permission: str
    record_name: str
    event_type: str
    path: str
    schema: Schema
    derive: Callable[[Mapping[str, JsonValue]], Document]
    answered: tuple[str, ...] = field(default=())
    key_source: KeySource = "header"
    key_fields: tuple[str, ...] = field(default=())
    window_seconds: int = 24 * 60 * 60
    answer: Literal["created", "accepted"] = "created"


@dataclass(frozen=True)
class Ports:
    """What effects may use of the outside world; each takes what it needs."""

    outbound: Outbound
    slots: SlotStore
    secrets: SecretStore


@dataclass(frozen=True)
class ExecuteOperation:
    """An operation in execute mode: claim with a lease, effect, fenced complete.

    Attributes:
        name, permission, record_name, event_type, path, schema: as of `AcceptOperation`.
        bind: makes the effect from the ports.
        answered: what the first answer carries besides id and createdAt: members that the effect adds, or of
            the body.
        key_source: `header` (required) or `fields`.
        key_fields: JMESPath expressions over the body, for `fields`.
        require: raises Forbidden where a tenant's settings lack what the effect cannot do without.
        pin: a short text of the settings that may not change between two attempts of one window; the claim
            keeps it, and the effect compares.
    """

    name: str
    permission: str
    record_name: str
    event_type: str
    path: str
    schema: Schema
    bind: Callable[[Ports], Effect]
    answered: tuple[str, ...] = field(default=())
    key_source: KeySource = "header"
    key_fields: tuple[str, ...] = field(default=())
    window_seconds: int = 24 * 60 * 60
    require: Callable[[OperationSettings], None] = lambda _: None
    pin: Callable[[OperationSettings], str | None] = lambda _: None
    answer: Literal["created"] = "created"
