"""The questions that operators ask of the logs, as CloudWatch Logs Insights queries (pure: text from names).

A word in angle brackets is what the person who asks puts in.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from infra.naming import Names
from infra.timeouts import TIMEOUTS

_FUNCTIONS: Final = tuple(sorted(TIMEOUTS))
_TAKERS: Final = ("ingest", "execute", "webhooks", "read")
_WORKERS: Final = ("dispatch", "deliver", "fulfil", "notify", "reconcile")
# What people read of a list before they narrow it down.
_FIRST: Final = "limit 100"
_MOST: Final = "sort requests desc"
# Lines of metrics say the same once more, and have no `outcome`.
_LINES: Final = "filter ispresent(outcome)"
_EXAMPLE: Final = "stats count(*) as requests, latest(correlation_id) as example"
_WHO: Final = "fields @timestamp, service, outcome, tenant, operation"


@dataclass(frozen=True)
class LogQuery:
    """A saved query.

    Attributes:
        slug: what its resource is called by.
        title: for people; it is saved under the stage's name, as in a folder.
        log_groups: names.
        text: the query.
    """

    slug: str
    title: str
    log_groups: Sequence[str]
    text: str


def log_queries(names: Names) -> tuple[LogQuery, ...]:
    """The saved queries of a stage."""
    return (*_of_requests(names), *_of_trouble(names))


def saved_name(query: LogQuery, names: Names) -> str:
    """What CloudWatch keeps it under; it makes folders of the slashes."""
    return f"onceward/{names.stage}/{query.title}"


def _of_requests(names: Names) -> tuple[LogQuery, ...]:
    everywhere, takers = _groups(names, _FUNCTIONS), _groups(names, _TAKERS)
    return (
        _query(
            "correlation-id",
            "what became of a correlation id",
            everywhere,
            f"{_WHO}, status, reason, attempt, record_id, event_id, xray_trace_id",
            f"{_LINES} and correlation_id = '<correlation id>'",
            "sort @timestamp asc",
        ),
        _query(
            "failures-of-a-tenant",
            "a tenant's last failures",
            everywhere,
            f"{_WHO}, status, reason, correlation_id, record_id, xray_trace_id",
            f"{_LINES} and tenant = '<tenant id>' and level = 'ERROR'",
            "sort @timestamp desc",
        ),
        _query(
            "slowest-requests",
            "slowest requests",
            takers,
            f"{_WHO}, request_ms, correlation_id, xray_trace_id",
            f"{_LINES} and ispresent(request_ms)",
            "sort request_ms desc",
        ),
    )


def _of_trouble(names: Names) -> tuple[LogQuery, ...]:
    takers, workers = _groups(names, _TAKERS), _groups(names, _WORKERS)
    return (
        _query(
            "failures-by-reason",
            "5xx by reason",
            takers,
            f"{_LINES} and status >= 500",
            f"{_EXAMPLE} by tenant, service, outcome, reason",
            _MOST,
        ),
        _query(
            "conflicts-by-tenant",
            "409 and 422 by tenant",
            takers,
            f"{_LINES} and outcome in ['in_progress', 'mismatch']",
            f"{_EXAMPLE} by tenant, operation, outcome, key_name",
            _MOST,
        ),
        _query(
            "refused-at-the-gateway",
            "throttled and unauthorized by tenant",
            [names.access_log_group],
            # Text there, where every value is (infra.access_log).
            "filter status in ['401', '403', '429']",
            "stats count(*) as requests, latest(requestId) as example"
            " by tenant, key, status, gatewayError, resource",
            _MOST,
        ),
        _query(
            "waiting-for-people",
            "work and events that wait for a person",
            workers,
            f"{_WHO}, reason, record_id, event_id, correlation_id",
            f"{_LINES} and outcome in ['parked', 'still_parked', 'given_up']",
            "sort @timestamp desc",
        ),
    )


def _query(slug: str, title: str, log_groups: Sequence[str], *steps: str) -> LogQuery:
    return LogQuery(slug, title, log_groups, "\n| ".join((*steps, _FIRST)))


def _groups(names: Names, functions: Sequence[str]) -> list[str]:
    return [names.log_group(function) for function in functions]
