"""The tables' capacity, and what the bill is made of."""

from infra import metrics
from infra.alarms import FUNCTIONS, TABLES
from infra.dashboards.sections import section
from infra.naming import Names
from infra.widget_kinds import Graph, Widget
from infra.widget_rows import Line


def store(names: Names) -> tuple[Widget, ...]:
    """What the tables take, and what they refuse."""
    return (
        section(
            "Store", "Refused though little is used: one hot key or tenant. Callers get 503 and try again."
        ),
        *(
            Graph(
                f"Tables: {kind.lower()} units used and {kind.lower()}s refused",
                "units per {period}",
                (
                    *(
                        Line(metrics.table(names, each, f"Consumed{kind}CapacityUnits"), each)
                        for each in TABLES
                    ),
                    *(
                        Line(
                            metrics.table(names, each, f"{kind}ThrottleEvents"),
                            f"{each}: refused",
                            right=True,
                        )
                        for each in TABLES
                    ),
                ),
                right_unit="refused, per {period}",
                width=12,
            )
            for kind in ("Write", "Read")
        ),
    )


def cost_drivers(names: Names) -> tuple[Widget, ...]:
    """What is paid for beside requests and units: calls, their time, and what they log."""
    groups = {name: names.log_group(name) for name in FUNCTIONS} | {"access log": names.access_log_group}
    return (
        section(
            "Cost drivers",
            "With requests and table units above, most of the bill. `onceward cost` puts dollars on them.",
        ),
        Graph(
            "Calls of functions",
            "calls per {period}",
            tuple(Line(metrics.function(names, name, "Invocations"), name) for name in FUNCTIONS),
            stacked=True,
        ),
        Graph(
            "Time that functions run",
            "ms per {period}",
            tuple(Line(metrics.function(names, name, "Duration"), name) for name in FUNCTIONS),
            stacked=True,
        ),
        Graph(
            "Logs, metrics within",
            "bytes per {period}",
            tuple(Line(metrics.log_group(group, "IncomingBytes"), name) for name, group in groups.items()),
            stacked=True,
        ),
    )
