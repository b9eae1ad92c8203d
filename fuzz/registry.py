"""Every target by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from fuzz import (
    batches,
    http_handlers,
    identities,
    json_bodies,
    keys,
    pending,
    requests,
    stored,
    tenant_files,
    webhook_proofs,
    workers,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fuzz.target import Target

_ALL: Final = (
    *(keys.TARGET, requests.TARGET, json_bodies.CANONICAL, json_bodies.SCHEMA),
    *(http_handlers.INGEST, http_handlers.EXECUTE, http_handlers.PROVIDER, http_handlers.READ),
    *(http_handlers.AUTHORIZER, webhook_proofs.RECEIVER, webhook_proofs.PROOF),
    *(stored.IMAGE, stored.BODY, batches.STREAM, batches.RETRIES, batches.BUS, pending.TARGET),
    *(workers.TARGET, tenant_files.TARGET, identities.ID, identities.ADDRESS),
)
TARGETS: Final[Mapping[str, Target]] = {target.name: target for target in _ALL}

FOUND: Final = Path(__file__).resolve().parent / "found"
"""Inputs that once broke a promise, by target: never removed, and run by every test and every fuzzing."""


def inputs(target: Target) -> list[bytes]:
    """What a target is started with: its seeds, and all that it ever found."""
    return [*target.seeds(), *(path.read_bytes() for path in sorted((FOUND / target.name).glob("*")))]
