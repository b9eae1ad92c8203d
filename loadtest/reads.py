"""Each tenant of a run asks for leads of all of them: it must get its own, and a 404 for the others'."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import httpx

from loadtest.history import LEADS_READ, Attempt, HistoryWriter, Outcome, answer

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from loadtest.target import Target, TargetTenant

# API Gateway's own limit is 29 s.
_ANSWER_SECONDS = 35.0
SCENARIO = "read"


def read_leads(target: Target, tenants: Iterable[TargetTenant], ids: Iterable[str], file: Path) -> None:
    """GET every one of `ids` as every one of `tenants`, and write the attempts to `file` (anew)."""
    writer = HistoryWriter(file, "w")
    with httpx.Client(base_url=target.api_url, timeout=_ANSWER_SECONDS) as client:
        for record_id in ids:
            for tenant in tenants:
                writer.append(_read(client, tenant, record_id))
    writer.close()


def _read(client: httpx.Client, tenant: TargetTenant, record_id: str) -> Attempt:
    attempt_id = f"read-{tenant.tenant_id}-{record_id}"
    headers = {"x-api-key": tenant.api_key, "X-Correlation-Id": attempt_id}
    start = time.time() * 1000
    try:
        response = client.get(f"/v1/leads/{record_id}", headers=headers)
        got, outcome = answer(response.status_code, dict(response.headers), response.content), Outcome.OK
    except httpx.TransportError:
        got, outcome = None, Outcome.UNKNOWN
    return Attempt(
        attempt_id=attempt_id,
        tenant=tenant.tenant_id,
        key=None,
        operation=LEADS_READ,
        scenario=SCENARIO,
        body_hash=record_id,
        intended_start_ms=start,
        start_ms=start,
        end_ms=time.time() * 1000,
        outcome=outcome,
        status=got.status if got else None,
        response_hash=got.response_hash if got else None,
        response_body=got.response_body if got else None,
        headers=got.headers if got else (),
        correlation_id=got.correlation_id if got else None,
    )
