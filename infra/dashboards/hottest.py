"""Whom does it hit: the tenants that send most, fail most, wait most.

Metrics Insights has no OR, so each list is about one function; one query a widget is CloudWatch's limit too.
"""

from dataclasses import replace
from typing import Final

from infra import metrics
from infra.dashboards.sections import FAILED, NEW, section
from infra.expressions import Function, Select
from infra.metrics import ONCEWARD
from infra.naming import Names
from infra.tenant_alarms import ANSWERERS, API, STUCK
from infra.widget_kinds import Graph, Widget
from infra.widget_rows import Line, Ranked

# As many as a legend shows.
_MOST: Final = 10


def hottest(names: Names) -> tuple[Widget, ...]:
    """Tenants by name, at most ten a graph; which they are is asked anew each time."""
    return (
        section(
            "Tenants: whom does it hit?",
            "One line high: one tenant's trouble, open the any-tenant dashboard. All: ours.",
        ),
        *_busiest(names),
        *_failing(names),
        *_stuck(names),
    )


def _busiest(names: Names) -> tuple[Graph, ...]:
    counted = "requests per {period}"
    return (
        # `Throttled` is there for each request with a key, 0 or 1, and `Failed` for each that a function
        # answers: so many as there are, so many requests.
        Graph("Hottest: requests with a key", counted, (_ranked(names, "COUNT", API, "Throttled"),)),
        Graph("Hottest: webhooks", counted, (_ranked(names, "COUNT", "webhooks", "Failed"),)),
        Graph(
            "Over its limits most: share (429)", "share (1 = all)", (_ranked(names, "AVG", API, "Throttled"),)
        ),
        Graph("Most new leads and orders", counted, (_ranked(names, "SUM", "ingest", "Accepted"),)),
        Graph("Most duplicates: leads, orders", counted, (_ranked(names, "SUM", "ingest", "Replayed"),)),
        Graph(
            "Most duplicates: payments, appointments",
            counted,
            (_ranked(names, "SUM", "execute", "Replayed"),),
        ),
    )


def _failing(names: Names) -> tuple[Graph, ...]:
    failing = tuple(
        Graph(
            f"Failing most: share, {answerer}",
            "share (1 = all)",
            (_ranked(names, "AVG", answerer, "Failed"),),
            width=6,
        )
        for answerer in ANSWERERS
    )
    down = _ranked(names, "AVG", "execute", "EffectTrouble")
    trouble = metrics.onceward(names, "execute", "EffectTrouble")
    return (
        *failing,
        Graph("Answered with 5xx for its provider: share", "share (1 = all)", (down,), width=12),
        Graph(
            "The same, of all tenants",
            "requests per {period}",
            (
                Line(trouble, "5xx for a provider", colour=FAILED),
                Line(replace(trouble, statistic="SampleCount"), "all requests", right=True, colour=NEW),
            ),
            right_unit="requests per {period}",
            width=12,
        ),
    )


def _stuck(names: Names) -> tuple[Graph, ...]:
    """What is stuck is rare: what is done stands beside it, so that an empty graph means no data."""
    beside = {
        "dispatch": ("Events parked", "Dispatched", "dispatched"),
        "notify": ("Events refused by their topic", "Notified", "published"),
        "deliver": ("Webhooks given up", "Delivered", "delivered"),
        "fulfil": ("Orders given up", "Completed", "worked off"),
        "reconcile": ("Work given up by the reconciler", "Requeued", "queued again"),
    }
    held_up = {function: (name, *beside[function]) for function, name in STUCK.items()}
    again = ("StillParked", "Parked events tried in vain", "Dispatched", "dispatched")
    return tuple(
        Graph(
            f"{title}, by tenant",
            "stuck, per {period}",
            (
                _ranked(names, "SUM", function, name),
                Line(
                    metrics.onceward(names, function, done), f"{label} (all tenants)", right=True, colour=NEW
                ),
            ),
            right_unit="done, per {period}",
        )
        for function, (name, title, done, label) in (("dispatch", again), *held_up.items())
    )


def _ranked(names: Names, function: Function, service: str, name: str) -> Ranked:
    select = Select(
        function,
        name,
        ONCEWARD,
        ("Service", "TenantId"),
        where=(("Service", names.platform(service)),),
        group_by="TenantId",
        limit=_MOST,
    )
    return Ranked(select.expression)
