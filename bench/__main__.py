"""`make bench`: request counts and times, ours and the peer's, over one local DynamoDB in one run."""

from __future__ import annotations

import io
import json
import statistics
import tempfile
import time
import uuid
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from bench.contenders import bench_authorizer, connect, onceward, powertools
from bench.units import Units
from bench.wire import tapped
from ops.local.emulator import Emulator

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.contenders import Contender

_REGION = "us-east-1"
# Medians of medians: a round is long enough to be past the first calls, and there are enough of them for one
# disturbed round not to count.
_ROUNDS = 7
_CALLS_A_ROUND = 150
_BODY = {"name": "Ada Lovelace", "email": "ada@analytical.example", "message": "m" * 500}


@dataclass(frozen=True)
class Measured:
    """One contender at one job: ms a call (median of the rounds' medians), requests and units at the wire."""

    milliseconds: float
    operations: tuple[str, ...]
    units: float


def event(key: str) -> dict[str, Any]:
    """A REST API proxy event with a 600-byte lead."""
    return {
        "resource": "/v1/leads",
        "headers": {"idempotency-key": key, "content-type": "application/json"},
        "body": json.dumps(_BODY),
        "isBase64Encoded": False,
        "requestContext": {
            "requestId": uuid.uuid4().hex,
            "requestTimeEpoch": time.time_ns() // 1_000_000,
            "authorizer": {
                "tenantId": "bench",
                "tier": "bench",
                "keyName": "bench",
                "operations": "*",
                "origins": "",
                "bodyLimitBytes": "131072",
                "operationSettings": "{}",
            },
        },
    }


def time_calls(contenders: dict[str, Contender], key: Callable[[], str]) -> dict[str, float]:
    """Median ms a call of each contender; they take turns by rounds, so that a slow moment hits all."""
    medians: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(_ROUNDS):
        for name, contender in contenders.items():
            took = []
            for _ in range(_CALLS_A_ROUND):
                sent = event(key())
                started = time.perf_counter()
                answer = contender(sent)
                took.append((time.perf_counter() - started) * 1000)
                if answer["statusCode"] != 201:
                    raise RuntimeError(f"{name} answered {answer['statusCode']}: {answer['body']}")
            medians[name].append(statistics.median(took))
    return {name: statistics.median(values) for name, values in medians.items()}


def measure() -> tuple[dict[str, dict[str, Measured]], Counted]:
    """Run everything; returns contender -> job -> figures, and the authorizer's requests."""
    with tempfile.TemporaryDirectory() as home:
        emulator = Emulator(Path(home), _REGION)
        endpoint = emulator.start()
        credentials = (endpoint.access_key_id, endpoint.secret_access_key, _REGION)
        try:
            direct = connect(endpoint.url, *credentials)
            timed = {"Onceward": onceward(direct), "Powertools": powertools(direct)}
            fresh = time_calls(timed, lambda: uuid.uuid4().hex)
            for contender in timed.values():
                contender(event("same"))
            duplicate = time_calls(timed, lambda: "same")
            counts, authorizer = _count_all(endpoint.url, credentials)
        finally:
            emulator.stop()
    jobs = {name: {"fresh": fresh[name], "duplicate": duplicate[name]} for name in timed}
    measured = {
        name: {job: Measured(ms, *counts[name][job]) for job, ms in each.items()}
        for name, each in jobs.items()
    }
    return measured, authorizer


Counted = tuple[tuple[str, ...], float]


def _count_all(url: str, credentials: tuple[str, str, str]) -> tuple[dict[str, dict[str, Counted]], Counted]:
    """Each contender's requests and units at each job, and the authorizer's for a key new to it."""
    with tapped(url) as wire:
        client = connect(wire.url, *credentials)
        units = Units(client)

        def counted(call: Callable[[], object]) -> Counted:
            wire.take(), units.take()
            call()
            return tuple(wire.take()), units.take()

        contenders = {"Onceward": onceward(client), "Powertools": powertools(client)}
        counts = {
            name: {job: counted(partial(each, event("counted"))) for job in ("fresh", "duplicate")}
            for name, each in contenders.items()
        }
        return counts, counted(bench_authorizer(client))


def main() -> None:
    """Print the table."""
    silence = io.StringIO()
    with redirect_stdout(silence):  # EMF lines of thousands of calls
        results, authorizer = measure()
    table = Table(title=f"One lead, {_ROUNDS} rounds of {_CALLS_A_ROUND} calls, local DynamoDB")
    for heading in ("", "job", "ms a call (median)", "requests at the wire", "capacity units"):
        table.add_column(heading)
    for name, jobs in results.items():
        for job, figures in jobs.items():
            requests = f"{len(figures.operations)}: {', '.join(figures.operations)}"
            table.add_row(name, job, f"{figures.milliseconds:.2f}", requests, f"{figures.units:g} write")
    operations, units = authorizer
    reads = f"{len(operations)}: {', '.join(operations)}"
    table.add_row("Onceward", "authorizer, a key and cache time", "", reads, f"{units:g} read")
    console = Console()
    console.print(table)
    for job in ("fresh", "duplicate"):
        ratio = results["Powertools"][job].milliseconds / results["Onceward"][job].milliseconds
        console.print(f"{job}: the peer takes {ratio:.2f} times as long as Onceward")
    console.print(
        "Onceward's record and event follow from the receipt by `dispatch`, off the caller's path: one put "
        "and one publish more, which the peer's handler does not have. Figures are this machine's, not AWS's."
    )


if __name__ == "__main__":
    main()
