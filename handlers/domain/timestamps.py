"""Times as answers and events spell them."""

from __future__ import annotations

from datetime import UTC, datetime


def rfc3339(epoch_ms: int) -> str:
    """`2026-11-30T09:00:00.000Z` for ms since the epoch."""
    moment = datetime.fromtimestamp(epoch_ms / 1000, tz=UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
