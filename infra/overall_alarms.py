"""The alarms that mean everybody, which make `platform-down` ring (`infra.composites`).

Shares of all requests and of all work: one tenant's fault, or its provider's, is not half of what all of them
do. Nobody is told of them but by the composite.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from infra import metrics
from infra.alarm import Alarm, Share
from infra.metrics import Metric
from infra.naming import Names
from infra.tenant_alarms import ANSWERERS

# Half of all that comes, and no less than ten of it: on a quiet stage two failures of three are no outage.
_HALF: Final = 50
_SOME: Final = 10
# 502, 504 and 503 for a provider's sake, one for each call. It comes through a log: where that is later than
# the API's own count, they look like ours for so long.
_OF_PROVIDERS: Final = ("execute", "EffectTrouble")
_WORKERS_DONE: Final = {"deliver": "Delivered", "fulfil": "Completed"}


def overall_alarms(names: Names) -> tuple[Alarm, ...]:
    """`calls-failing`, `requests-failing`, `dispatch-failing`, `work-failing`."""
    failed = [metrics.onceward(names, function, "Failed") for function in ANSWERERS]
    broke = [metrics.onceward(names, worker, "WorkBroke") for worker in _WORKERS_DONE]
    done = [metrics.onceward(names, worker, name) for worker, name in _WORKERS_DONE.items()]
    parked = metrics.onceward(names, "dispatch", "DispatchParked")
    dispatched = metrics.onceward(names, "dispatch", "Dispatched")
    return (
        # What no function sees: an authorizer that fails, code that cannot be imported.
        _half(
            "calls-failing",
            "Half of all calls of the API are answered with 5xx, for no provider's sake.",
            [metrics.api(names, "5XXError")],
            [metrics.api(names, "Count")],
            less=[metrics.onceward(names, *_OF_PROVIDERS)],
        ),
        # Without what is a provider's fault. `Failed` is 1 or 0 on every request, so counting it counts them.
        _half(
            "requests-failing",
            "Half of all requests are answered with 5xx, for what is ours to mend.",
            failed,
            [replace(metric, statistic="SampleCount") for metric in failed],
        ),
        # One tenant's topic parks one tenant's receipts; half of all are SNS itself, or the right to publish.
        _half(
            "dispatch-failing",
            "Half of all receipts are parked: their events do not go out.",
            [parked],
            [parked, dispatched],
        ),
        # Without what is a destination's fault.
        _half("work-failing", "Half of all work fails, for what is ours to mend.", broke, [*broke, *done]),
    )


def _half(
    name: str, description: str, part: list[Metric], of: list[Metric], less: Sequence[Metric] = ()
) -> Alarm:
    return Alarm(
        name,
        description,
        part[0],
        _SOME,
        plus=tuple(part[1:]),
        minus=tuple(less),
        share=Share(tuple(of), _HALF),
        runbook="platform-down",
    )
