"""Every operation and outcome through the real functions, once for a tenant like most and once in detail."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from functools import cache
from typing import TYPE_CHECKING

from tests.emitting.heard import Heard
from tests.emitting.outward import run_deliver, run_dispatch, run_fulfil, run_notify, run_reconcile
from tests.emitting.requests import run_authorizer, run_execute, run_ingest, run_read, run_webhooks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

RUNS: Mapping[str, Callable[[bool], str]] = {
    "authorizer": run_authorizer,
    "ingest": run_ingest,
    "execute": run_execute,
    "webhooks": run_webhooks,
    "read": run_read,
    "dispatch": run_dispatch,
    "deliver": run_deliver,
    "fulfil": run_fulfil,
    "notify": run_notify,
    "reconcile": run_reconcile,
}
"""By function: runs it through all that can become of a request, record or message; answers its log."""


@cache
def everything() -> Mapping[str, Heard]:
    """What each function says. Run once, so do not change it."""
    return {function: _heard(run, (False, True)) for function, run in RUNS.items()}


def said_by(function: str, *, detailed: bool) -> Heard:
    """What a function says of a tenant that has its metrics in detail, or has not."""
    return _heard(RUNS[function], (detailed,))


def _heard(run: Callable[[bool], str], tenants: tuple[bool, ...]) -> Heard:
    heard, printed = Heard(), io.StringIO()
    for detailed in tenants:
        with redirect_stdout(printed):
            log = run(detailed)
        heard.take(log)
    heard.take(printed.getvalue())
    return heard
