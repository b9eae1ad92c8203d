"""Looks before a storm is sent whether it can be sent and judged: API, tables and audit queues."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from loadtest import secrets, stand_in
from loadtest.collect import AuditQueues, Tables
from loadtest.history import conclusive
from loadtest.operations import WEBHOOKS
from loadtest.reads import ask, client_for
from loadtest.target import LOCAL_STAGE, TargetError

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from loadtest.history import Attempt
    from loadtest.target import Target, TargetTenant

# A record that nobody has: the least ULID.
_NO_RECORD = "0" * 26
# A stage that was just brought up may answer its first requests with a 5xx.
_MOST_TRIES, _PAUSE_SECONDS = 3, 1.0


def check(
    target: Target,
    tenants: tuple[TargetTenant, ...],
    mark: str,
    events_file: Path,
    operations: tuple[str, ...] = (),
) -> None:
    """Make one of each call that sending and judging need.

    Args:
        target, tenants, operations: what is to be stormed.
        mark, events_file: of the run, as for `AuditQueues`; there is nothing of it in the queues yet.

    Raises:
        TargetError: one of them cannot be reached or used (names it, and what to do).
    """
    with client_for(target) as client:
        for tenant in tenants:
            _check_api(target, client, tenant)
    try:
        Tables(target).touch()
        if WEBHOOKS.name in operations:
            secrets.with_webhooks(target, tenants)
        if outside := stand_in.read(target, [tenant.tenant_id for tenant in tenants], mark):
            outside.check()
        queues = AuditQueues(target, tenants, mark, events_file)
        queues.drain(0)
        queues.in_flight()
    except (BotoCoreError, ClientError) as error:
        raise TargetError(f"the storm could not be judged: {error}") from error


def _check_api(target: Target, client: httpx.Client, tenant: TargetTenant) -> None:
    attempt = _ask(client, tenant)
    if attempt.status is None:
        again = " (`onceward local up` starts it)" if target.stage == LOCAL_STAGE else ""
        raise TargetError(f"{target.api_url} does not answer: stage {target.stage} is not up{again}")
    if attempt.status != HTTPStatus.NOT_FOUND:
        raise TargetError(
            f"tenant {tenant.tenant_id}: {target.api_url} answers {attempt.status} to a read of a lead that "
            "is not there, instead of 404: its API key is not in force, or the stage is not in order"
        )


def _ask(client: httpx.Client, tenant: TargetTenant) -> Attempt:
    for number in range(_MOST_TRIES):
        attempt = ask(client, tenant, _NO_RECORD, f"preflight-{tenant.tenant_id}-{number}")
        if conclusive(attempt.status) or number == _MOST_TRIES - 1:
            return attempt
        time.sleep(_PAUSE_SECONDS)
    raise AssertionError("the last try returns")
