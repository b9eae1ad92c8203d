"""What accept and execute mode say alike: the claim of a request, and the refusal of one that came second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handlers.domain import ids, member_hashes
from handlers.domain.errors import Fault, KeyReused, RequestInProgress
from handlers.domain.protocol import Claim, InProgress

if TYPE_CHECKING:
    from handlers.domain.errors import OncewardError
    from handlers.domain.identity import Identity
    from handlers.domain.protocol import Mismatch
    from handlers.domain.receipt import Receipt
    from handlers.domain.request import Request

# The sentence is for people: so many names, and how many more there are. The list has them all.
_MAX_NAMED = 10


def claim_of(operation: str, request: Request) -> Claim:
    """What `request` brings to the write."""
    return Claim(
        tenant_id=request.tenant_id,
        key=request.identity.key,
        operation=operation,
        fingerprint=request.identity.fingerprint,
        owner=request.owner,
        arrival_ms=request.arrival_ms,
        clock_ms=request.clock_ms,
    )


def refusal(decision: InProgress | Mismatch, existing: Receipt, identity: Identity) -> OncewardError:
    """The error for a request whose key another one holds."""
    error = (
        RequestInProgress(decision.seconds_left)
        if isinstance(decision, InProgress)
        else _key_reused(decision, existing, identity)
    )
    error.record_id = ids.record_id_of(existing)
    return error


def _key_reused(decision: Mismatch, existing: Receipt, identity: Identity) -> KeyReused:
    names = member_hashes.differing(existing.fields, existing.generation, identity.members)
    return KeyReused(
        f"this key was used for another request ({decision.operation}{_listed(names)}); "
        + _advice(identity.key_fields),
        tuple(Fault(_pointer(name), "differs", "is not as in the first request") for name in names),
    )


def _advice(key_fields: tuple[str, ...]) -> str:
    if not key_fields:
        return "send a new key with a new request, or the same body with this one"
    verb, these = ("makes", "it") if len(key_fields) == 1 else ("make", "them")
    return (
        f"{', '.join(key_fields)} {verb} the key; a new request differs in {these}, "
        "and a repeated one has the same body"
    )


def _listed(names: tuple[str, ...]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    verb = "differs" if len(names) == 1 else "differ"
    return f"; {', '.join(names[:_MAX_NAMED])}{more} {verb}"


def _pointer(name: str) -> str:
    return "/" + name.replace("~", "~0").replace("/", "~1")
