"""What follows from an acceptance: dispatch, workers, the event bus."""

from infra import metrics
from infra.dashboards.sections import NEW, section
from infra.naming import NOTIFY_RULE, Names
from infra.widget_kinds import Graph, Widget
from infra.widget_rows import Line


def workers(names: Names) -> tuple[Widget, ...]:
    """Work on orders and webhooks, and the bus behind it."""
    bus = {
        "FailedInvocations": "rule could not call notify",
        "InvocationsSentToDlq": "given up to notify-dlq",
        "InvocationsFailedToBeSentToDlq": "lost",
    }
    return (
        _worker(
            names, "deliver", "Webhooks delivered", ("Delivered", "DeliveryFailed"), "a destination's or ours"
        ),
        _worker(
            names, "fulfil", "Orders worked off", ("Completed", "FulfilmentFailed"), "a destination's or ours"
        ),
        Graph(
            "Events of orders: bus, then notify",
            "events per {period}",
            (
                Line(metrics.rule(names, NOTIFY_RULE, "Invocations", bus="orders"), "rule called notify"),
                Line(metrics.onceward(names, "notify", "Notified"), "published", colour=NEW),
                *(
                    Line(metrics.rule(names, NOTIFY_RULE, name, bus="orders"), text, right=True)
                    for name, text in bus.items()
                ),
                Line(metrics.onceward(names, "notify", "NotifyFailed"), "notify failed", right=True),
                Line(metrics.onceward(names, "notify", "TopicRefused"), "topic refused", right=True),
            ),
            right_unit="failures per {period}",
        ),
        *_reconciler(names),
    )


def dispatch(names: Names) -> tuple[Widget, ...]:
    """The stream of receipts, and how late what follows is."""
    failures = {
        "DispatchFailed": "failed, ours to mend",
        "DispatchParked": "parked",
        "StillParked": "parked, tried again in vain",
        "DispatchConflict": "other event",
    }
    behind = metrics.function(names, "dispatch", "IteratorAge", "Maximum")
    lost = metrics.function(names, "dispatch", "DestinationDeliveryFailures")
    lags = {
        "DispatchLag": ("dispatch", "published"),
        "DeliveryLag": ("deliver", "webhook delivered"),
        "CompletionLag": ("fulfil", "order worked off"),
    }
    return (
        section(
            "Stream lag",
            "Late, not lost: receipts wait in the stream for 24 hours. Parked ones wait on dispatch-retry.",
        ),
        Graph(
            "Receipts dispatched",
            "receipts per {period}",
            (
                Line(
                    metrics.onceward(names, "dispatch", "Dispatched"),
                    "record written, event published",
                    colour=NEW,
                ),
                *(
                    Line(metrics.onceward(names, "dispatch", name), text, right=True)
                    for name, text in failures.items()
                ),
            ),
            right_unit="failures per {period}",
        ),
        Graph(
            "Dispatch behind the stream",
            "ms",
            (
                Line(behind, "age of the oldest batch"),
                Line(lost, "batches that not even the bucket took", right=True),
            ),
            right_unit="batches per {period}",
        ),
        Graph(
            "From accepted to done (99 % below)",
            "ms",
            tuple(
                Line(metrics.onceward(names, each, name, "p99"), text) for name, (each, text) in lags.items()
            ),
        ),
    )


def _worker(names: Names, worker: str, title: str, words: tuple[str, str], whose: str) -> Graph:
    done, failed = words
    quiet = {"DoneBefore": "was done before", "TwinInProgress": "another attempt is at it"}
    bad = {
        failed: f"attempt failed ({whose})",
        "WorkBroke": "of these ours",
        "WorkGivenUp": "given up",
        "LeaseLost": "overtaken",
    }
    return Graph(
        title,
        "done, per {period}",
        (
            Line(metrics.onceward(names, worker, done), "done", colour=NEW),
            *(Line(metrics.onceward(names, worker, name), text) for name, text in quiet.items()),
            *(Line(metrics.onceward(names, worker, name), text, right=True) for name, text in bad.items()),
        ),
        right_unit="not done, per {period}",
    )


def _reconciler(names: Names) -> tuple[Graph, ...]:
    # Told once a look and operation: their sum would depend on how often somebody looks.
    pending = metrics.onceward(names, "reconcile", "PendingWork", "Maximum")
    oldest = metrics.onceward(names, "reconcile", "PendingOldestAge", "Maximum")
    bad = {"WorkGivenUp": "given up", "ReconcileFailed": "look failed"}
    return (
        Graph(
            "Work pending for too long",
            "pieces of work",
            (Line(pending, "pending for minutes"), Line(oldest, "age of the oldest", right=True)),
            right_unit="ms",
            width=12,
        ),
        Graph(
            "Pending work queued again",
            "looks and pieces, per {period}",
            (
                Line(metrics.onceward(names, "reconcile", "Requeued"), "queued again"),
                Line(metrics.function(names, "reconcile", "Invocations"), "looks at all pending work"),
                Line(
                    metrics.rule(names, "reconcile", "FailedInvocations"),
                    "schedule could not call",
                    right=True,
                ),
                *(
                    Line(metrics.onceward(names, "reconcile", name), text, right=True)
                    for name, text in bad.items()
                ),
            ),
            right_unit="failures per {period}",
            width=12,
        ),
    )
