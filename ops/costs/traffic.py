"""From a month's requests to the units that AWS charges for them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from infra import prices
from ops.costs import assumed, counted
from ops.costs.counted import AUTHORIZE, DUPLICATE, FRESH, KEYED, RECONCILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from infra.prices import Price
    from ops.costs.counted import Step

Usage: TypeAlias = "defaultdict[Price, float]"
"""How much of each price's unit."""

# A month as AWS's calculator has it: 730 hours.
MONTH_SECONDS: Final = 730 * 3600
MINUTES: Final = MONTH_SECONDS / 60
_GB: Final = 1024.0**3
_MB: Final = 1024.0


@dataclass(frozen=True)
class Traffic:
    """A month.

    Attributes:
        requests: POSTs of all tenants together, duplicates with them.
        duplicates: which share of them is sent again, 0 to 1.
        mix: which share each operation has; they add up to 1.
        tenants: how many of them send.
    """

    requests: float
    duplicates: float
    mix: Mapping[str, float]
    tenants: int


@dataclass(frozen=True)
class Site:
    """What of a stage's settings makes a difference.

    Attributes:
        authorizer_cache_seconds: 0 for none.
        log_retention_days: how long log lines are kept.
    """

    authorizer_cache_seconds: int
    log_retention_days: int


def usage(traffic: Traffic, site: Site) -> Usage:
    """Everything that a month costs beside observability's fixed part (`infra.observability`).

    An upper bound where it depends on how requests meet: each record and message is taken for a batch of its
    own.
    """
    used: Usage = defaultdict(float)
    steps = tuple(_steps(traffic, site))
    for step, times in steps:
        _add_step(used, step, times)
    used[prices.TRACE] += _traces(steps)
    used[prices.API_CALL] += traffic.requests
    used[prices.ACCESS_LOGS] += traffic.requests * counted.ACCESS_LOG_BYTES / _GB
    _add_standing(used, traffic)
    logged = used[prices.FUNCTION_LOGS] + used[prices.ACCESS_LOGS]
    used[prices.STORED_LOGS] += logged * site.log_retention_days / (MONTH_SECONDS / 86_400)
    return used


def _steps(traffic: Traffic, site: Site) -> Iterator[tuple[Step, float]]:
    for operation, share in traffic.mix.items():
        sent = traffic.requests * share
        yield from ((step, sent * (1 - traffic.duplicates)) for step in FRESH[operation])
        yield DUPLICATE[operation], sent * traffic.duplicates
    yield AUTHORIZE, _looked_up(traffic, site)
    yield RECONCILE, MINUTES


def _looked_up(traffic: Traffic, site: Site) -> float:
    """How often the authorizer is called: once a key and cache time at the most."""
    keyed = traffic.requests * sum(share for name, share in traffic.mix.items() if name in KEYED)
    if site.authorizer_cache_seconds == 0:
        return keyed
    return min(keyed, traffic.tenants * MONTH_SECONDS / site.authorizer_cache_seconds)


def _add_step(used: Usage, step: Step, times: float) -> None:
    seconds = assumed.MILLISECONDS[step.function] / 1000
    used[prices.INVOCATION] += times
    used[prices.COMPUTE] += times * seconds * counted.MEMORY_MB / _MB
    used[prices.WRITE_UNIT] += times * step.writes
    used[prices.READ_UNIT] += times * step.reads
    used[prices.PUBLISH] += times * step.publishes
    used[prices.EVENT] += times * step.events
    # Sent, received, deleted.
    used[prices.QUEUE_REQUEST] += times * step.sends * 3
    used[prices.FAIR_REQUEST] += times * step.sends * 3
    used[prices.FUNCTION_LOGS] += times * (step.log_bytes + assumed.LAMBDA_LOG_BYTES) / _GB
    used[prices.TABLE_STORAGE] += times * step.stores / _GB
    used[prices.RECOVERY_STORAGE] += times * step.stores / _GB


def _traces(steps: Iterable[tuple[Step, float]]) -> float:
    """Traces recorded: each root is sampled once, over the calls of all operations."""
    calls: defaultdict[str, float] = defaultdict(float)
    for step, times in steps:
        if step.function in assumed.TRACE_ROOTS:
            calls[assumed.TRACE_ROOTS[step.function]] += times
    return sum(map(sampled, calls.values()))


def sampled(calls: float) -> float:
    """How many of a month's calls X-Ray records by its default rule: one a second, and 5 % of the rest."""
    first = min(calls, MONTH_SECONDS)
    return first + (calls - first) * assumed.SAMPLED_SHARE


def _add_standing(used: Usage, traffic: Traffic) -> None:
    """What is there without a request, and what is renewed every few minutes while there are some."""
    used[prices.KEY] += 1
    used[prices.QUEUE_REQUEST] += counted.TAKEN_QUEUES * assumed.POLLS_A_MINUTE * MINUTES
    used[prices.KEY_REQUEST] += assumed.PLATFORM_KEY_USERS * 2 * MONTH_SECONDS / assumed.DATA_KEY_SECONDS
    # A tenant that publishes seldom needs a data key each time, one that does often needs it each time it is
    # five minutes old.
    most = traffic.tenants * MONTH_SECONDS / assumed.DATA_KEY_SECONDS
    used[prices.KEY_REQUEST] += 2 * min(used[prices.PUBLISH], most * assumed.PUBLISHERS)
