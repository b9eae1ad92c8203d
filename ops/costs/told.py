"""The bill in words and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import typer

from infra import prices
from ops.costs.assumed import NOT_COUNTED
from ops.output import print_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infra.observability import Observability
    from ops.costs.bill import Bill, Line

THOUSAND: Final = 1_000
_HEAD: Final = ("service", "whatever there is", "tenants", "requests", "in all")
_ROWS: Final[Mapping[str, str]] = {
    "metric series": "series",
    "dashboards": "dashboards",
    "metrics of alarms": "alarm_metrics",
    "metrics of query alarms": "analysed",
    "composite alarms": "composites",
}
"""What is shown of one tenant's observability."""


def tell(made: Bill, of_one: Mapping[str, Observability], what: str) -> None:
    """Print the bill, then what one tenant's observability is and costs, a column for each kind of tenant.

    `of_one`: by the kind's name; `what`: the tenants and requests in words.
    """
    typer.echo(f"US dollars a month at {prices.REGION}'s list prices, read {prices.READ_ON}: {what}\n")
    print_columns(_aligned([_HEAD, *map(_cells, (*made.lines, made.total))]))
    for label, usd in (
        ("per million requests", made.usd_per_million_requests),
        ("per tenant, before its requests", made.usd_per_tenant),
    ):
        if usd is not None:
            typer.echo(f"{label}: ${usd:,.2f}")
    typer.echo("\nobservability of one tenant, at the most")
    print_columns(_aligned(_of_one(made.plan.platform, of_one)))
    typer.echo(
        "\nAn estimate: requests are counted, milliseconds are assumed (ops/costs/assumed.py), and nobody has"
        "\nrun this on AWS. A series costs only for the hours in which it has data. Left out:"
    )
    for each in NOT_COUNTED:
        typer.echo(f"  {each}")
    typer.echo("Each price and its source: --json")


def for_tenants(platform: Observability, one: Observability, tenants: int) -> float:
    """Dollars a month that so many tenants add to the platform's own."""
    return (platform + one.times(tenants)).usd - platform.usd


def _of_one(platform: Observability, kinds: Mapping[str, Observability]) -> list[tuple[str, ...]]:
    rows = [("", *kinds)]
    for label, field in _ROWS.items():
        rows.append((label, *(f"{getattr(each, field):,}" for each in kinds.values())))
    for tenants in (1, THOUSAND):
        costs = (f"${for_tenants(platform, each, tenants):,.2f}" for each in kinds.values())
        rows.append((f"{tenants:,} tenant{'s' if tenants > 1 else ''}", *costs))
    return rows


def _cells(line: Line) -> tuple[str, ...]:
    parts = (line.standing, line.tenants, line.requests, line.usd)
    return (line.service, *(f"{each:,.2f}" for each in parts))


def _aligned(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Figures to the right, below their headings."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        (row[0], *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)))
        for row in rows
    ]
