"""Dashboard bodies as data: the platform's, and one for a tenant that has its own."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from infra import metrics
from infra.alarms import FUNCTIONS, QUEUES, TABLES
from infra.metrics import Metric
from infra.naming import NOTIFY_RULE, WORK_QUEUES, Names

# CloudWatch's grid is 24 columns wide: two graphs a row.
_WIDTH: Final = 12
_HEIGHT: Final = 6
_PERIOD_SECONDS: Final = 60


@dataclass(frozen=True)
class Graph:
    """One line graph: title and metrics."""

    title: str
    metrics: Sequence[Metric]


def platform_body(names: Names, region: str) -> str:
    """The platform's dashboard as JSON text, the same text for the same names."""
    return _body(_platform_graphs(names), region)


def tenant_body(tenant_id: str, names: Names, region: str) -> str:
    """A tenant's dashboard as JSON text, the same text for the same names."""
    return _body(_tenant_graphs(tenant_id, names), region)


def _platform_graphs(names: Names) -> list[Graph]:
    return [
        *_request_graphs(names),
        *_effect_graphs(names),
        *_dispatch_graphs(names),
        *_work_graphs(names),
        *_resource_graphs(names),
    ]


def _request_graphs(names: Names) -> list[Graph]:
    outcomes = ("Accepted", "Replayed", "InProgress", "Mismatch", "Rejected", "Failed")
    api = ("Count", "4XXError", "5XXError")
    slowness = ("RequestLatency", "StoreLatency")
    return [
        Graph("Requests by outcome", [metrics.onceward(names, "ingest", name) for name in outcomes]),
        Graph("API requests and errors", [metrics.api(names, name) for name in api]),
        Graph("API latency (ms)", [metrics.api(names, "Latency", each) for each in ("p50", "p95", "p99")]),
        Graph(
            "Ingest and its store (ms, p99)",
            [metrics.onceward(names, "ingest", name, "p99") for name in slowness],
        ),
    ]


def _effect_graphs(names: Names) -> list[Graph]:
    # `Accepted` is what each of them took on; the others are what became of the rest.
    payments = ("Accepted", "Replayed", "InProgress", "Failed", "EffectUnknown", "LeaseLost")
    webhooks = ("Accepted", "Replayed", "Rejected", "Failed")
    return [
        Graph("Payments and appointments", [metrics.onceward(names, "execute", name) for name in payments]),
        Graph("Webhooks received", [metrics.onceward(names, "webhooks", name) for name in webhooks]),
    ]


def _work_graphs(names: Names) -> list[Graph]:
    age = "ApproximateAgeOfOldestMessage"
    done = {
        "deliver": ("Delivered", "DeliveryFailed", "WorkBroke", "WorkGivenUp"),
        "fulfil": ("Completed", "FulfilmentFailed", "WorkBroke", "WorkGivenUp"),
        "reconcile": ("PendingWork", "Requeued", "ReconcileFailed", "WorkGivenUp"),
        "notify": ("Notified", "NotifyFailed"),
    }
    bus = ("Invocations", "FailedInvocations", "InvocationsSentToDlq")
    return [
        Graph(
            "Work",
            [metrics.onceward(names, worker, name) for worker, each in done.items() for name in each],
        ),
        Graph("Work: age of the oldest (s)", [metrics.queue(names, name, age) for name in WORK_QUEUES]),
        Graph(
            "Work pending longest (ms)",
            [metrics.onceward(names, "reconcile", "PendingOldestAge", "Maximum")],
        ),
        Graph("Event bus to notify", [metrics.rule(names, NOTIFY_RULE, name, bus="orders") for name in bus]),
    ]


def _dispatch_graphs(names: Names) -> list[Graph]:
    outcomes = ("Dispatched", "DispatchParked", "DispatchConflict", "DispatchFailed")
    waiting = "ApproximateNumberOfMessagesVisible"
    behind = [
        metrics.onceward(names, "dispatch", "DispatchLag", "p99"),
        metrics.function(names, "dispatch", "IteratorAge", "Maximum"),
    ]
    return [
        Graph("Dispatch", [metrics.onceward(names, "dispatch", name) for name in outcomes]),
        Graph("Dispatch behind receipts (ms)", behind),
        Graph("Queues: messages waiting", [metrics.queue(names, name, waiting) for name in QUEUES]),
    ]


def _resource_graphs(names: Names) -> list[Graph]:
    throttles = ("ReadThrottleEvents", "WriteThrottleEvents")
    return [
        Graph("Function errors", [metrics.function(names, name, "Errors") for name in FUNCTIONS]),
        Graph("Function throttles", [metrics.function(names, name, "Throttles") for name in FUNCTIONS]),
        Graph("Table throttles", [metrics.table(names, name, kind) for name in TABLES for kind in throttles]),
    ]


def _tenant_graphs(tenant_id: str, names: Names) -> list[Graph]:
    deliveries = (
        "NumberOfMessagesPublished",
        "NumberOfNotificationsDelivered",
        "NumberOfNotificationsFailed",
    )
    return [
        Graph(
            "Requests by outcome",
            [
                metrics.of_tenant(names, tenant_id, taker, name)
                for taker in metrics.TAKERS
                for name in ("Accepted", "Replayed", "Failed")
            ],
        ),
        Graph("Events", [metrics.tenant_topic(names, tenant_id, name) for name in deliveries]),
    ]


def _body(graphs: Sequence[Graph], region: str) -> str:
    widgets = [_widget(graph, place, region) for place, graph in enumerate(graphs)]
    return json.dumps({"widgets": widgets}, sort_keys=True, separators=(",", ":"))


def _widget(graph: Graph, place: int, region: str) -> dict[str, object]:
    row, column = divmod(place, 24 // _WIDTH)
    return {
        "type": "metric",
        "x": column * _WIDTH,
        "y": row * _HEIGHT,
        "width": _WIDTH,
        "height": _HEIGHT,
        "properties": {
            "title": graph.title,
            "region": region,
            "view": "timeSeries",
            "period": _PERIOD_SECONDS,
            "metrics": [_line(metric) for metric in graph.metrics],
        },
    }


def _line(metric: Metric) -> list[object]:
    dimensions = [part for pair in metric.dimensions for part in pair]
    return [metric.namespace, metric.name, *dimensions, {"stat": metric.statistic}]
