"""Contenders at the same job in the same run: ms a call, requests, capacity units."""

from __future__ import annotations

import statistics
import time
import uuid
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from bench.contenders import Contest

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.counts import Counted, Meter
    from bench.local_aws import Clients

# Medians of medians: a round is long enough to be past the first calls, and there are enough of them for one
# disturbed round not to count. All of `make bench` is to take less than a minute.
ROUNDS: Final = 7
CALLS_A_ROUND: Final = 100

JOBS: Final = ("fresh", "duplicate")
_CREATED: Final = 201


@dataclass(frozen=True)
class Measured:
    """One contender at one job: ms a call (median of the rounds' medians), and what it asked at the wire."""

    milliseconds: float
    counted: Counted


def compare(
    operation: str, direct: Clients, tapped: Clients, meter: Meter
) -> dict[tuple[str, str], Measured]:
    """Contender and job -> figures. Timed over `direct`, counted over `tapped`, which `meter` listens to.

    Raises RuntimeError when a contender does not answer 201.
    """
    timed = Contest(operation, direct)
    same = str(uuid.uuid4())
    milliseconds = {"fresh": _time_calls(timed, lambda: str(uuid.uuid4()))}
    for name, contender in timed.contenders.items():
        _created(name, contender(timed.event(same)))
    milliseconds["duplicate"] = _time_calls(timed, lambda: same)
    counts = count_contest(Contest(operation, tapped), meter)
    return {(name, job): Measured(milliseconds[job][name], each) for (name, job), each in counts.items()}


def _time_calls(contest: Contest, key: Callable[[], str]) -> dict[str, float]:
    """Median ms a call of each contender; they take turns by rounds, so that a slow moment hits all."""
    medians: dict[str, list[float]] = {name: [] for name in contest.contenders}
    for _ in range(ROUNDS):
        for name, contender in contest.contenders.items():
            took = []
            for _ in range(CALLS_A_ROUND):
                sent = contest.event(key())
                started = time.perf_counter()
                answer = contender(sent)
                took.append((time.perf_counter() - started) * 1000)
                _created(name, answer)
            medians[name].append(statistics.median(took))
    return {name: statistics.median(values) for name, values in medians.items()}


def count_contest(contest: Contest, meter: Meter) -> dict[tuple[str, str], Counted]:
    """Contender and job -> what one call asks, once its environment has read what it keeps for a minute."""
    counts = {}
    for name, contender in contest.contenders.items():
        _created(name, contender(contest.event(str(uuid.uuid4()))))
        same = str(uuid.uuid4())
        for job in JOBS:
            answer, counts[name, job] = meter.count(partial(contender, contest.event(same)))
            _created(name, answer)
    return counts


def _created(name: str, answer: dict[str, Any]) -> None:
    if answer["statusCode"] != _CREATED:
        raise RuntimeError(f"{name} answered {answer['statusCode']}: {answer['body']}")
