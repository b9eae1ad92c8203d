"""Each tenant of a run asks for records of all of them: it must get its own, and a 404 for the others'."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import httpx

from loadtest.history import Attempt, HistoryWriter, Outcome, answer, conclusive
from loadtest.operations import BY_NAME, LEADS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from loadtest.operations import Operation
    from loadtest.target import Target, TargetTenant

# API Gateway's own limit is 29 s.
_ANSWER_SECONDS = 35.0
# A read that was throttled, failed or lost is made again: five times outlast a throttle of seconds.
_MOST_TRIES = 5
_FIRST_PAUSE_SECONDS = 0.2
# For all reads of a run: when the API does not answer, each would otherwise wait in full.
_ALL_SECONDS = 120.0
SCENARIO = "read"


def client_for(target: Target) -> httpx.Client:
    """A client for the stage's API. On the local AWS no proxy of the environment may come between."""
    return httpx.Client(
        base_url=target.api_url, timeout=_ANSWER_SECONDS, trust_env=target.endpoint_url is None
    )


def read_records(
    target: Target, tenants: Iterable[TargetTenant], ids: Iterable[tuple[str, str]], file: Path
) -> None:
    """GET each of `ids` (operation and record id) as each of `tenants`; the attempts go to `file`, anew.

    Those for which the time does not suffice are not made; the checker says what is missing.
    """
    writer = HistoryWriter(file, "w")
    deadline = time.monotonic() + _ALL_SECONDS
    pairs = [(tenant, one) for one in ids for tenant in tenants]
    with client_for(target) as client:
        for tenant, (operation, record_id) in pairs:
            if time.monotonic() < deadline:
                _read(client, tenant, BY_NAME[operation], record_id, writer)
    writer.close()


def _read(
    client: httpx.Client, tenant: TargetTenant, operation: Operation, record_id: str, writer: HistoryWriter
) -> None:
    for number in range(_MOST_TRIES):
        attempt_id = f"read-{tenant.tenant_id}-{record_id}-{number}"
        attempt = ask(client, tenant, record_id, attempt_id, operation)
        writer.append(attempt)
        if conclusive(attempt.status):
            return
        time.sleep(_FIRST_PAUSE_SECONDS * 2**number)


def ask(
    client: httpx.Client,
    tenant: TargetTenant,
    record_id: str,
    attempt_id: str,
    operation: Operation = LEADS,
) -> Attempt:
    """GET one record as one tenant."""
    headers = {"x-api-key": tenant.api_key, "X-Correlation-Id": attempt_id}
    start = time.time() * 1000
    try:
        response = client.get(f"{operation.read_path}/{record_id}", headers=headers)
        got, outcome = answer(response.status_code, dict(response.headers), response.content), Outcome.OK
    except httpx.ConnectError:
        got, outcome = None, Outcome.FAIL
    except httpx.TransportError:
        got, outcome = None, Outcome.UNKNOWN
    return Attempt(
        attempt_id=attempt_id,
        tenant=tenant.tenant_id,
        key=None,
        operation=operation.read_name,
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
