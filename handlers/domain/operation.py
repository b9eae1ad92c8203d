"""What an operation is: the data that the one accept path works from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from handlers.domain.caller import KeySource
    from handlers.domain.json_text import JsonValue

Document: TypeAlias = "dict[str, JsonValue]"


class Schema(Protocol):
    """A validator of a parsed body: raises InvalidBody with every fault, else returns the object."""

    def __call__(self, body: JsonValue, /) -> Document:
        """Return `body`, unchanged, when it fits."""


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
        answered: the members of the document that the first answer carries, besides ``id`` and ``createdAt``.
        key_source: where the key comes from, unless the tenant says otherwise.
        window_seconds: how long a key stands for its request, unless the tenant says otherwise.
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
    window_seconds: int = 24 * 60 * 60
