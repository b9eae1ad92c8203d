"""The same by operation: of all tenants, or of one that has `metrics: detailed`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from handlers.domain.metric_catalogue import BY_FUNCTION, IN_DETAIL, NEVER_IN_DETAIL, OF_OPERATION
from infra.expressions import Search
from infra.metrics import ONCEWARD
from infra.naming import Names
from infra.widget_kinds import Graph
from infra.widget_rows import Found

_OPERATION: Final = "${PROP('Dim.Operation')}"
_AND_NAME: Final = f"{_OPERATION}: ${{PROP('MetricName')}}"
# They count under the names of the functions whose requests and work they look at.
_ALSO: Final = {"read": " (read)", "reconcile": " (reconcile)"}


@dataclass(frozen=True)
class _Group:
    """What is on one graph: the names of metrics, whichever function emits them."""

    title: str
    names: frozenset[str]
    statistic: str = "Sum"
    unit: str = "per {period}"
    stacked: bool = False
    width: int = 8


# `Failed` is a zero where nothing fails, and `Accepted` and `Dispatched` stand beside what fails: they are
# there wherever something is taken in or done afterwards, so that an empty graph means no data.
_GROUPS: Final = (
    _Group("New requests", frozenset({"Accepted"}), stacked=True),
    _Group("Duplicates", frozenset({"Replayed"}), stacked=True),
    _Group(
        "Not taken in",
        frozenset({"Failed", "Rejected", "InProgress", "Mismatch", "Unauthorized", "BodyChanged"}),
    ),
    _Group("Time in the function (99 % below)", frozenset({"RequestLatency"}), "p99", "ms"),
    _Group("Time in the receipts table (99 % below)", frozenset({"StoreLatency"}), "p99", "ms"),
    _Group(
        "From accepted to done (99 % below)",
        frozenset({"DispatchLag", "DeliveryLag", "CompletionLag"}),
        "p99",
        "ms",
    ),
    _Group(
        "New, and what became of their effects",
        frozenset(
            {
                *("Accepted", "FinalRefusal", "EffectFailed", "EffectUnknown", "LookupImpossible"),
                *(
                    "EffectTrouble",
                    "EffectOrphaned",
                    "SeveralCharges",
                    "Takeover",
                    "Abandoned",
                    "ResponseTooLarge",
                ),
            }
        ),
    ),
    _Group(
        "Done afterwards",
        frozenset({"Dispatched", "Delivered", "Completed", "Notified", "DoneBefore", "TwinInProgress"}),
    ),
    _Group(
        "Dispatched, and what failed afterwards",
        frozenset(
            {
                *("Dispatched", "DispatchParked", "DispatchConflict", "DispatchFailed", "DeliveryFailed"),
                *("FulfilmentFailed", "WorkBroke", "WorkGivenUp", "LeaseLost", "NotifyFailed", "Requeued"),
                *("StillParked", "TopicRefused"),
            }
        ),
    ),
    _Group(
        "Work pending too long",
        frozenset({"PendingWork", "ReconcileFailed"}),
        "Maximum",
        "pieces of work",
        width=12,
    ),
    _Group("Age of the oldest pending work", frozenset({"PendingOldestAge"}), "Maximum", "ms", width=12),
)


def by_operation(names: Names, tenant_id: str | None = None) -> tuple[Graph, ...]:
    """Graphs that find their lines: an operation that is added is on them. Of one tenant there are fewer."""
    graphs = (_graph(group, names, tenant_id) for group in _GROUPS)
    return tuple(graph for graph in graphs if graph.rows)


def _graph(group: _Group, names: Names, tenant_id: str | None) -> Graph:
    rows = tuple(_found(group, names, tenant_id))
    return Graph(f"{group.title}, by operation", group.unit, rows, stacked=group.stacked, width=group.width)


def _found(group: _Group, names: Names, tenant_id: str | None) -> Iterator[Found]:
    """One search for each function: together they would look for what a function does not emit."""
    of_tenant = () if tenant_id is None else (("TenantId", (tenant_id,)),)
    dimensions = OF_OPERATION if tenant_id is None else IN_DETAIL
    unseen = frozenset() if tenant_id is None else NEVER_IN_DETAIL
    label = _OPERATION if len(group.names) == 1 else _AND_NAME
    for function, emitted in BY_FUNCTION.items():
        here = tuple(each.name for each in emitted if each.name in group.names)
        if here and function not in unseen:
            where = (("Service", (names.platform(function),)), *of_tenant)
            search = Search(ONCEWARD, dimensions, here, where)
            yield Found(search, group.statistic, label + _ALSO.get(function, ""))
