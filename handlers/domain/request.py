"""One request, checked: what accept and execute mode work from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from handlers.domain.identity import Identity
    from handlers.domain.operation import Document


@dataclass(frozen=True)
class Request:
    """Everything that the write needs.

    Attributes:
        body: the validated body; `body_text` is the same as JSON text, as it was sent, for the record.
        arrival_ms: when it reached the gateway; windows are judged by it.
        clock_ms: the worker's clock when it began; leases are judged by it.
        owner, generation: fresh randomness, made by the caller.
        success_status: the HTTP status of a first answer (only `handlers.http` knows statuses).
        described: members of the document that come before the body as it was sent, and from elsewhere (a
            webhook's source).
        answer: the first answer's body, where the operation's `answered` does not say it.
        detailed_metrics: whether the tenant has its metrics in detail.
    """

    tenant_id: str
    identity: Identity
    body: Document
    body_text: str
    correlation_id: str
    arrival_ms: int
    clock_ms: int
    owner: str
    generation: str
    success_status: int
    described: Document = field(default_factory=dict)
    answer: Document | None = None
    detailed_metrics: bool = False
