"""Planted in the window: how long a key stands for its request, and when its item may go."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

from handlers.domain import acquire, execute
from handlers.domain.receipt import MIN_KEPT_SECONDS, Status
from proof.accepting import accepted, lead
from proof.payments import payments, two_bodies
from proof.planted.plant import Planted

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from handlers.domain.acquire import Wanted
    from handlers.domain.execute import Outcome
    from handlers.domain.protocol import Claim
    from handlers.domain.receipt import Receipt, StoredResponse
    from handlers.domain.request import Request

_HOUR: Final = 3_600
# Longer than any item is kept at the least.
_NINE_DAYS: Final = 9 * 86_400
_fresh, _run_complete = acquire._fresh, execute._Run._complete


def _window_over(existing: Receipt, claim: Claim) -> bool:
    return existing.expires_at <= claim.arrival_ms


def _free_when_gone(existing: Receipt, claim: Claim) -> bool:
    del existing, claim
    return False


def _free_by_the_workers_clock(existing: Receipt, claim: Claim) -> bool:
    return existing.expires_at <= claim.clock_ms and existing.status is Status.COMPLETED


def _free_of_its_own(existing: Receipt, claim: Claim) -> bool:
    lapsed = existing.lease_until < claim.clock_ms
    return _window_over(existing, claim) and (existing.status is Status.COMPLETED or lapsed)


def _free_while_it_runs(existing: Receipt, claim: Claim) -> bool:
    another = existing.fingerprint != claim.fingerprint
    return _window_over(existing, claim) and (existing.status is Status.COMPLETED or another)


def _opened_by_the_workers_clock(wanted: Wanted, request: Request) -> Receipt:
    return _fresh(wanted, replace(request, arrival_ms=request.clock_ms))


def _as_if_first(run: execute._Run, response: StoredResponse, answered: Receipt) -> Outcome:
    first = replace(run.acquired, taken_over=False)
    return _run_complete(replace(run, acquired=first), response, answered)


def _of_ten_windows(run: execute._Run, response: StoredResponse, answered: Receipt) -> Outcome:
    longer = replace(run.settings, window_seconds=10 * run.settings.window_seconds)
    return _run_complete(replace(run, settings=longer), response, answered)


def _at_the_windows_end(created_at_ms: int, expires_at_ms: int) -> int:
    del created_at_ms
    return -(-expires_at_ms // 1000)


def _whatever_the_window(created_at_ms: int, expires_at_ms: int) -> int:
    del expires_at_ms
    return created_at_ms // 1000 + MIN_KEPT_SECONDS


def _claim_if(free: object) -> AbstractContextManager[object]:
    return patch("tests.fakes.receipts._free", free)


PLANTED: Final = (
    Planted(
        "expiry-by-absence",
        "A key is free only when TTL has deleted its item, however long ago its window was over.",
        "Y came when the window was over, and was given its answer",
        5,
        1,
        partial(payments, 1, 1),
        partial(_claim_if, _free_when_gone),
    ),
    Planted(
        "window-over-by-the-workers-clock",
        "Whether the window is over is judged by the worker's clock, not by the arrival.",
        "B opened a second window inside the first",
        7,
        1,
        partial(payments, 2, 1, skews_ms=(0, 2_000)),
        partial(_claim_if, _free_by_the_workers_clock),
    ),
    Planted(
        "window-opened-by-the-workers-clock",
        "The window begins when the worker's clock says, not with the arrival.",
        "A opened a window that is over before its time",
        4,
        0,
        partial(payments, 1, 0, skews_ms=(-2_000,)),
        partial(patch, "handlers.domain.acquire._fresh", _opened_by_the_workers_clock),
    ),
    Planted(
        "own-unfinished-claim-overwritten",
        "A lapsed claim of the same request is overwritten when its window is over.",
        "Y overwrote an unfinished claim of its own request, which may have acted",
        3,
        1,
        partial(payments, 1, 1),
        partial(_claim_if, _free_of_its_own),
    ),
    Planted(
        "running-claim-overwritten",
        "A claim of another request is overwritten when its window is over, lease or no lease.",
        "B overwrote a claim whose owner was running",
        5,
        1,
        partial(two_bodies, 2, 1, skews_ms=(2_000, -2_000), window_seconds=10),
        partial(_claim_if, _free_while_it_runs),
    ),
    Planted(
        "resumed-in-a-window-that-is-over",
        "The answer of a request that was resumed late is stored with its first window.",
        "Y stored the answer of a resumed request in a window that is over: a retry acts again",
        3,
        1,
        partial(payments, 1, 1, window_seconds=_HOUR),
        partial(patch, "handlers.domain.execute._Run._complete", _as_if_first),
    ),
    Planted(
        "ttl-at-the-windows-end-of-claims",
        "TTL may delete a claim as soon as its window is over.",
        "an unfinished claim was swept away by TTL within 8 days",
        4,
        2,
        partial(payments, 1, 2),
        partial(patch, "handlers.domain.acquire.purge_at", _at_the_windows_end),
    ),
    Planted(
        "ttl-at-the-windows-end-of-answers",
        "TTL may delete an answer, and its outbox, as soon as its window is over.",
        "an outbox was swept away by TTL within 8 days",
        6,
        2,
        partial(payments, 1, 2),
        partial(patch, "handlers.domain.execute.purge_at", _at_the_windows_end),
    ),
    Planted(
        "ttl-inside-the-window",
        "TTL may delete an answer after 8 days, also inside a longer window.",
        "the answer that A stored is gone inside its window",
        6,
        2,
        partial(payments, 1, 2, window_seconds=_NINE_DAYS),
        partial(patch, "handlers.domain.execute.purge_at", _whatever_the_window),
    ),
    Planted(
        "window-too-long",
        "An answer stands ten times as long as was promised.",
        "A met a window that is longer than was promised",
        4,
        0,
        partial(payments, 2, 0),
        partial(patch, "handlers.domain.execute._Run._complete", _of_ten_windows),
    ),
    Planted(
        "lease-too-long",
        "A lease lasts an hour longer than the invocation may run.",
        "A claimed with a lease that is longer than it may run",
        2,
        0,
        partial(payments, 2, 0),
        partial(patch, "handlers.execute.LEASE_MARGIN_MS", _HOUR * 1000),
    ),
    Planted(
        "kept-for-ten-seconds",
        "The least time that an item is kept is ten seconds.",
        "an outbox was swept away by TTL within 8 days",
        4,
        2,
        partial(accepted, [lead()], 2),
        partial(patch, "handlers.domain.receipt.MIN_KEPT_SECONDS", 10),
    ),
)
