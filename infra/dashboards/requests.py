"""Requests: how many, how many of them duplicates, how long they take."""

from typing import Final

from infra import metrics
from infra.dashboards.sections import DUPLICATE, FAILED, NEW, hidden, present, section, share, taken_in, total
from infra.metrics import TAKERS
from infra.naming import WORK_QUEUES, Names
from infra.widget_kinds import Graph, Number, Widget
from infra.widget_rows import Line, Maths

DEAD_LETTERS: Final = (
    *("dispatch-dlq", "delivery-dlq", "notify-dlq"),
    *(f"{queue}-dlq" for queue in WORK_QUEUES),
)
"""The queues whose messages wait for a person."""


def at_a_glance(names: Names) -> tuple[Widget, ...]:
    """Six numbers: is anything wrong at all?"""
    new, duplicates = _taken_in(names)
    requests = Line(metrics.api(names, "Count"), "requests", id="requests", hidden=True)
    errors = Line(metrics.api(names, "5XXError"), "errors", id="errors", hidden=True)
    waiting = hidden(
        "q", [metrics.queue(names, name, "ApproximateNumberOfMessagesVisible") for name in DEAD_LETTERS]
    )
    lag = metrics.onceward(names, "dispatch", "DispatchLag", "p99")
    return (
        Number("Requests", "requests", (Line(metrics.api(names, "Count"), "at the API"),), whole_range=True),
        Number(
            "Duplicates suppressed",
            "% of requests",
            (*new, *duplicates, share(duplicates, new, "of what was taken in", DUPLICATE)),
            whole_range=True,
        ),
        Number(
            "Answered with 5xx",
            "% of requests",
            (
                requests,
                errors,
                Maths("IF(requests > 0, 100 * errors / requests, 0)", "of all", colour=FAILED),
            ),
            whole_range=True,
        ),
        Number(
            "Latency", "ms", (Line(metrics.api(names, "Latency", "p95"), "95 % below"),), whole_range=True
        ),
        Number("Accepted to published", "ms", (Line(lag, "99 % below"),), whole_range=True),
        # Not filled with zeros: the latest period would be one, until its data has come.
        Number("Dead letters now", "messages", (*waiting, Maths(present(waiting), "for a person"))),
    )


def traffic(names: Names) -> tuple[Widget, ...]:
    """Who comes, and what is taken in."""
    new, duplicates = _taken_in(names)
    return (
        section(
            "Traffic", "A fall to nothing is as bad as a flood: callers, DNS and keys come before functions."
        ),
        Graph(
            "Requests at the API",
            "requests per {period}",
            (
                Line(metrics.api(names, "Count"), "all", colour=NEW),
                Line(metrics.api(names, "4XXError"), "refused (4xx)"),
            ),
        ),
        taken_in(new, duplicates),
        Graph(
            "Turned away before any function",
            "requests per {period}",
            (
                Line(metrics.onceward(names, "api", "Throttled"), "over a key's rate or quota (429)"),
                Line(metrics.onceward(names, "api", "Unauthorized"), "no valid key (401, 403)"),
                Line(metrics.api(names, "Count"), "all requests", right=True, colour=NEW),
            ),
            right_unit="requests per {period}",
        ),
    )


def duplicates(names: Names) -> tuple[Widget, ...]:
    """What the product is for: how often a request came again, and what became of it."""
    new, again = _taken_in(names)
    odd = (
        ("execute", "InProgress", "first one still runs (409)"),
        ("ingest", "Mismatch", "other lead or order (422)"),
        ("execute", "Mismatch", "other payment or appointment (422)"),
        ("webhooks", "BodyChanged", "webhook, other body"),
    )
    return (
        section(
            "Duplicates", "Many are no fault of ours: a caller retries. Its 409s last as long as a lease."
        ),
        Graph(
            "Share of duplicates",
            "% of what was taken in",
            (*new, *again, share(again, new, "duplicates", DUPLICATE)),
        ),
        Graph(
            "Duplicates answered, effect suppressed",
            "requests per {period}",
            tuple(Line(metrics.onceward(names, taker, "Replayed"), taker) for taker in TAKERS),
            stacked=True,
        ),
        Graph(
            "Duplicates that were not answered the same",
            "answered the same, per {period}",
            (
                *again,
                total(again, "answered the same", colour=DUPLICATE),
                *(Line(metrics.onceward(names, each, name), text, right=True) for each, name, text in odd),
            ),
            right_unit="not the same, per {period}",
        ),
    )


def latency(names: Names) -> tuple[Widget, ...]:
    """How long callers wait, and for what."""
    functions = (*TAKERS, "read")
    return (
        section("Latency", "API slow, functions fast: cold starts. Functions slow, store fast: providers."),
        Graph(
            "Time of a request, as callers see it",
            "ms",
            tuple(
                Line(metrics.api(names, "Latency", each), f"{each[1:]} % below")
                for each in ("p50", "p95", "p99")
            ),
        ),
        Graph(
            "Time in each function (99 % below)",
            "ms",
            (
                *(Line(metrics.onceward(names, each, "RequestLatency", "p99"), each) for each in functions),
                Line(metrics.function(names, "authorizer", "Duration", "p99"), "authorizer"),
            ),
        ),
        Graph(
            "Time in the receipts table",
            "ms",
            tuple(
                Line(
                    metrics.onceward(names, each, "StoreLatency", statistic),
                    f"{each}, {statistic[1:]} % below",
                )
                for each in TAKERS
                for statistic in ("p50", "p99")
            ),
        ),
    )


def _taken_in(names: Names) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """New requests and duplicates of all functions, for maths."""
    return (
        hidden("new", [metrics.onceward(names, taker, "Accepted") for taker in TAKERS]),
        hidden("again", [metrics.onceward(names, taker, "Replayed") for taker in TAKERS]),
    )
