"""`make bench`: request counts and times, ours and the peer's, over one local DynamoDB in one run."""

from __future__ import annotations

import io
import json
import tempfile
import uuid
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from bench.comparison import CALLS_A_ROUND, JOBS, ROUNDS, compare
from bench.contenders import bench_authorizer
from bench.counts import Meter, count_operations
from bench.local_aws import REGION, connect
from bench.requests import body_of
from bench.wire import tapped
from ops.local.emulator import Emulator

if TYPE_CHECKING:
    from bench.comparison import Measured
    from bench.counts import Counted
    from ops.local.emulator import Endpoint

# What the peer does once as well: the accept mode's job, and the execute mode's.
_COMPARED = {"leads": "lead", "payments": "payment"}


@dataclass(frozen=True)
class Results:
    """Everything that was measured.

    Attributes:
        compared: operation -> contender and job -> figures.
        operations: operation and job -> what one call asks.
        authorizer: what it asks for an API key that is new to it.
    """

    compared: dict[str, dict[tuple[str, str], Measured]]
    operations: dict[tuple[str, str], Counted]
    authorizer: Counted


def measure() -> Results:
    """Start a local AWS, and measure on it: under a minute on two idle cores."""
    with tempfile.TemporaryDirectory() as home:
        emulator = Emulator(Path(home), REGION)
        endpoint = emulator.start()
        try:
            return _measure(endpoint)
        finally:
            emulator.stop()


def _measure(endpoint: Endpoint) -> Results:
    identity = (endpoint.access_key_id, endpoint.secret_access_key)
    direct = connect(endpoint.url, *identity)
    with tapped(endpoint.url) as wire:
        clients = connect(wire.url, *identity)
        meter = Meter(wire, clients)
        compared = {operation: compare(operation, direct, clients, meter) for operation in _COMPARED}
        operations = count_operations(meter, clients)
        _, authorizer = meter.count(bench_authorizer(clients.dynamodb))
    return Results(compared, operations, authorizer)


def _comparison(operation: str, figures: dict[tuple[str, str], Measured]) -> Table:
    title = f"One {_COMPARED[operation]}, {ROUNDS} rounds of {CALLS_A_ROUND} calls, local DynamoDB"
    table = _table(title, "", "job", "ms a call (median)", "requests at the wire", "capacity units")
    for (name, job), each in figures.items():
        table.add_row(name, job, f"{each.milliseconds:.2f}", *_asked(each.counted))
    return table


def _per_operation(results: Results) -> Table:
    title = "One call of each operation, counted at the wire (SSM's GetParameter has no capacity units)"
    table = _table(title, "operation", "body, bytes", "job", "requests at the wire", "capacity units")
    for (name, job), each in results.operations.items():
        # `payments with checkpoint` are payments.
        size = len(json.dumps(body_of(name.partition(" ")[0], str(uuid.uuid4()))))
        shown = "first of an environment" if job == "first" else job
        table.add_row(name, str(size), shown, *_asked(each))
    table.add_row("authorizer", "", "a key and cache time", *_asked(results.authorizer))
    return table


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title)
    for heading in headings:
        table.add_column(heading)
    return table


def _asked(counted: Counted) -> tuple[str, str]:
    return f"{len(counted.requests)}: {', '.join(counted.requests)}", str(counted.units)


def main() -> None:
    """Print the tables."""
    with redirect_stdout(io.StringIO()):  # EMF lines of thousands of calls
        results = measure()
    # Wide enough for every row: a wrapped table is of no use in a file either.
    console = Console(width=max(Console().width, 140))
    for operation, figures in results.compared.items():
        console.print(_comparison(operation, figures))
        for job in JOBS:
            peer, ours = figures["Powertools", job].milliseconds, figures["Onceward", job].milliseconds
            console.print(f"{operation}, {job}: the peer takes {peer / ours:.2f} times as long as Onceward")
    console.print(_per_operation(results))
    console.print(
        "Onceward's record and event follow from the receipt by `dispatch`, off the caller's path: one put "
        "and one publish more. The peer's lead handler puts its record itself and has no event; its payment "
        "handler has neither. The provider answers both at once, in this process. A tenant's config and "
        "secrets are kept for a minute an environment. Times are this machine's, not AWS's."
    )


if __name__ == "__main__":
    main()
