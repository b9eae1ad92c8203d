"""Section 3 of the contract: what the caller sees of the store's own state, planted here as administrator."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from handlers.adapters.receipt_item import to_item
from handlers.domain.canonical_json import canonical
from handlers.domain.fingerprint import fingerprint
from tests.builders import LEAD, in_progress, receipt
from tests.e2e.api import Api, assert_problem, eventually, fresh_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from handlers.domain.receipt import Receipt
    from tests.platform_fixture import RunningPlatform

pytestmark = pytest.mark.platform

# In the year 2100: a window or lease that no test outlives.
FAR_MS = 4_102_444_800_000


def plant(platform: RunningPlatform, item: Receipt) -> None:
    """Put a receipt of tenant alpha into the table."""
    planted = replace(item, tenant_id="alpha", expires_at=FAR_MS, purge_at=FAR_MS // 1000)
    platform.client("dynamodb").put_item(TableName=platform.outputs.tables["receipts"], Item=to_item(planted))


@pytest.mark.parametrize("operation", ["payments", "orders", "appointments"])
@pytest.mark.parametrize("running", [True, False])
def test_a_key_of_another_operation_is_422_also_while_that_runs(
    platform: RunningPlatform, alpha: Api, operation: str, running: bool
) -> None:
    key = fresh_key()
    theirs = fingerprint(operation, canonical(dict(LEAD)))
    item = in_progress(lease_until=FAR_MS) if running else receipt()
    plant(platform, replace(item, key=key, operation=operation, fingerprint=theirs))
    assert_problem(alpha.post(idempotency_key=key), 422, "key-reused")


@pytest.mark.parametrize("left_ms", [FAR_MS, FAR_MS - 1, FAR_MS + 999])
def test_a_request_whose_first_attempt_still_runs_is_409_with_retry_after(
    platform: RunningPlatform, alpha: Api, left_ms: int
) -> None:
    key = fresh_key()
    ours = fingerprint("leads", canonical(dict(LEAD)))
    plant(platform, in_progress(key=key, fingerprint=ours, lease_until=left_ms))
    answer = alpha.post(idempotency_key=key)
    assert_problem(answer, 409, "request-in-progress")
    assert int(answer.headers["Retry-After"]) >= 1


@contextmanager
def without_rights(platform: RunningPlatform, function: str) -> Iterator[None]:
    """Take the function's role every right for the length of the block: its table cannot be reached."""
    iam, role = platform.client("iam"), f"onceward-local_{function}"
    kept = iam.get_role_policy(RoleName=role, PolicyName="calls")["PolicyDocument"]
    document = json.loads(kept) if isinstance(kept, str) else kept
    iam.delete_role_policy(RoleName=role, PolicyName="calls")
    try:
        yield
    finally:
        iam.put_role_policy(RoleName=role, PolicyName="calls", PolicyDocument=json.dumps(document))


def test_a_store_that_cannot_be_reached_is_503_with_retry_after_and_the_retry_takes_effect(
    platform: RunningPlatform, alpha: Api
) -> None:
    sent: dict[str, dict[str, object]] = {
        fresh_key(): {**LEAD, **extra} for extra in ({}, {"n": 1}, {"company": "Analytical Engines"})
    }
    with without_rights(platform, "ingest"):
        for key, body in sent.items():
            answer = alpha.post(body, idempotency_key=key)
            assert_problem(answer, 503, "store-unavailable")
            assert int(answer.headers["Retry-After"]) >= 1
    for key, body in sent.items():
        again = eventually(partial(_created, alpha, key, body))
        assert "Idempotent-Replayed" not in again.headers


def _created(alpha: Api, key: str, body: dict[str, object]) -> httpx.Response | None:
    answer = alpha.post(body, idempotency_key=key)
    assert answer.status_code in (201, 503)
    return answer if answer.status_code == 201 else None


def test_a_read_of_a_store_that_cannot_be_reached_is_503_and_never_404(
    platform: RunningPlatform, alpha: Api
) -> None:
    key = fresh_key()
    location = alpha.post(idempotency_key=key).headers["Location"]
    assert alpha.get(location).status_code == 200
    with without_rights(platform, "read"):
        for path in (location, f"/v1/receipts/{key}", "/v1/leads/01ARZ3NDEKTSV4RRFFQ69G5FAV"):
            assert_problem(alpha.get(path), 503, "store-unavailable")
    assert eventually(lambda: alpha.get(location).status_code == 200)
