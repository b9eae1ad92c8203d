"""What CloudWatch's Metrics Insights bears, checked before anything is made."""

from collections.abc import Iterable
from typing import Final

from infra.alarm import QueryAlarm

# CloudWatch's guide, "Metrics Insights quotas" and "Limits" of alarms (read on 30 November 2026): of more
# metrics than these a query takes the first that it finds, and of more lines it returns those that ORDER BY
# puts first.
MOST_METRICS: Final = 10_000
MOST_LINES: Final = 500
# MetricDataQuery's `Expression` (CloudWatch's API reference).
LONGEST_QUERY: Final = 2_048


class QueryLimitError(Exception):
    """Tenants that the alarms on all tenants cannot watch; the message says which limit, and what to do."""


def check(rules: Iterable[QueryAlarm], tenants: int, silenced: int) -> str | None:
    """A warning if `tenants` are more than are told one by one, or None; raises `QueryLimitError`.

    Args:
        rules: the queries over all tenants.
        tenants: how many there are on the stage. Each is one metric of each query, and one line.
        silenced: how many of them have their alarms turned off; each is spelt out in the queries.
    """
    if tenants > MOST_METRICS:
        raise QueryLimitError(
            f"{tenants:,} tenants: an alarm on all tenants looks at {MOST_METRICS:,} of them at most, and "
            "the others would be watched by nobody. Put the rest on a stage of their own, in another account."
        )
    longest = max(rules, key=lambda rule: len(rule.query))
    if len(longest.query) > LONGEST_QUERY:
        raise QueryLimitError(
            f"{silenced} tenants have `alarms.enabled: false`, and each is spelt out in the alarms on all "
            f"tenants: the query of {longest.name} would be {len(longest.query):,} characters long, and "
            f"CloudWatch takes {LONGEST_QUERY:,}. Turn the alarms of some of them on again."
        )
    if tenants > MOST_LINES:
        return (
            f"{tenants:,} tenants: an alarm on all tenants looks at the {MOST_LINES} that are worst off, and "
            "CloudWatch calls its state PARTIAL_DATA"
        )
    return None
