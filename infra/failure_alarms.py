"""The alarm of each function on what it says itself when it fails, which Lambda's own count does not show.

A function behind the API answers with 5xx, and one behind a stream or a queue hands back what failed: Lambda
counts neither as an error. Canaries are rolled back by these alarms (`infra.components.canary`), so what is
at fault outside, a provider or a tenant's destination or topic, is no part of any of these metrics. A bad
receipt counts once: what the retry queue brings again and again is counted apart (`StillParked`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from infra import metrics
from infra.alarm import Alarm
from infra.naming import Names
from infra.settings import FunctionName

# One or two are a throttle or a lost answer of AWS's, which the next try mends; three in five minutes are a
# fault. More would let a version that fails everything pass on a quiet stage: a canary gets a tenth of it.
_A_FEW: Final = 3


@dataclass(frozen=True)
class _Failure:
    metric: str
    description: str
    threshold: int = _A_FEW


_WORK: Final = "Work on {queue} fails for what is ours: records, registry, secrets, the bus, or the code."
FAILURES: Final[Mapping[FunctionName, _Failure]] = {
    # Nobody's key can be checked then, so the first one rings.
    "authorizer": _Failure(
        "Failed",
        "API keys cannot be checked (registry out of reach, or an entry malformed): callers get 503.",
        threshold=1,
    ),
    "ingest": _Failure("Failed", "Leads and orders are answered with 5xx."),
    # Not a provider's faults (EffectFailed, EffectUnknown, LookupImpossible): those are a tenant's trouble.
    "execute": _Failure("Failed", "Payments and appointments are answered with 5xx, for no provider's sake."),
    "webhooks": _Failure("Failed", "Webhooks are answered with 5xx."),
    "read": _Failure("Failed", "Reads are answered with 5xx."),
    "dispatch": _Failure(
        "DispatchFailed", "Receipts are not dispatched, for what is ours. The log says why."
    ),
    "deliver": _Failure("WorkBroke", _WORK.format(queue="webhooks")),
    "fulfil": _Failure("WorkBroke", _WORK.format(queue="orders")),
    "notify": _Failure("NotifyFailed", "Events of completed orders are not published, for what is ours."),
    # Called once a minute: a single failure is a minute in which nobody looked.
    "reconcile": _Failure("ReconcileFailed", "Pending work could not be looked through.", threshold=1),
}
"""What each function counts when it fails, and from how many in five minutes on it rings."""


def failure_alarms(names: Names) -> tuple[Alarm, ...]:
    """`<function>-failed` of every function."""
    return tuple(
        Alarm(
            f"{function}-failed",
            failure.description,
            metrics.onceward(names, function, failure.metric),
            failure.threshold,
            runbook="function-failed",
        )
        for function, failure in FAILURES.items()
    )
