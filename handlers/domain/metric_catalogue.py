"""Every metric of our own: who emits it, its unit, what it means, and under which dimensions it is there.

The one list of them. Functions emit what is here (a test runs every outcome and holds them to it); whoever
draws, watches or prices metrics takes them from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMESPACE: Final = "Onceward"

Unit: TypeAlias = Literal["Count", "Milliseconds"]
Dimensions: TypeAlias = tuple[str, ...]
"""The names of one set of dimensions; CloudWatch keeps a series for each set and its values."""

OF_SERVICE: Final[Dimensions] = ("Service",)
OF_OPERATION: Final[Dimensions] = ("Service", "Operation")
OF_TENANT: Final[Dimensions] = ("Service", "TenantId")
IN_DETAIL: Final[Dimensions] = ("Service", "TenantId", "Operation")

ROLL_UPS: Final = (OF_SERVICE, OF_OPERATION)
"""The sets that everything which a function emits is there under, for all tenants together."""


class Emitted(NamedTuple):
    """One metric. `meaning`: what one of it is (Count), or what is timed (Milliseconds), for people."""

    name: str
    unit: Unit
    meaning: str


def service_name(stage: str, function: str) -> str:
    """The value of `Service`: the function's name on AWS, such as `onceward-dev_ingest`.

    It carries the stage, since stages of one account share the namespace: with `ingest` alone the alarms of
    one would count the other's failures.
    """
    return f"onceward-{stage}_{function}"


def _count(name: str, meaning: str) -> Emitted:
    return Emitted(name, "Count", meaning)


def _time(name: str, meaning: str) -> Emitted:
    return Emitted(name, "Milliseconds", meaning)


# One on a request that took effect, was answered again, and so on; `Failed` is 1 or 0 on every request that
# is answered, so that its average is the share of failures.
_REQUEST: Final = (
    _count("Rejected", "a request that is at fault itself (4xx)"),
    _count("Failed", "1 for a request answered with 5xx for what is ours to mend, 0 for any other"),
    _time("RequestLatency", "the whole request, as the function sees it"),
)
_TAKEN_IN: Final = (
    _count("Accepted", "a request that took effect"),
    _count("Replayed", "a duplicate, answered as the first one was"),
    *_REQUEST,
    _time("StoreLatency", "the calls of the receipts table within a request"),
)
_KEYED: Final = (
    *_TAKEN_IN,
    _count("Mismatch", "a key that was used for another request (422)"),
    _count("Abandoned", "a new request in the place of one that nobody finished"),
    _count("ResponseTooLarge", "an answer too large to keep: its replays come without a body"),
)
_EFFECTS: Final = (
    _count("InProgress", "a duplicate whose first one still runs (409)"),
    _count("Takeover", "a request that resumed an earlier attempt's claim"),
    _count("FinalRefusal", "a final no of the effect's own (declined, slot taken), stored and replayed"),
    _count("EffectTrouble", "1 for a request answered with 5xx for its provider's sake, 0 for any other"),
    _count("EffectFailed", "an effect that certainly did not happen, for its destination's sake"),
    _count("EffectUnknown", "an effect of which nobody can say whether it happened (504)"),
    _count("LookupImpossible", "an effect too old to be sent again that cannot be looked up (503)"),
    _count("LeaseLost", "an attempt that was overtaken by its successor"),
    _count("EffectOrphaned", "an effect that happened though something else is stored under its key"),
    _count("SeveralCharges", "more than one charge under one key"),
)
_WORK: Final = (
    _count("DoneBefore", "a message for work that was done already"),
    _count("TwinInProgress", "a message for work that another attempt is at"),
    _count("LeaseLost", "an attempt that was overtaken by its successor"),
    _count("WorkBroke", "a failed attempt whose fault is ours, or the code's"),
    _count("WorkGivenUp", "work that failed as often as its queue allows: it waits for a person"),
)

BY_FUNCTION: Final[Mapping[str, tuple[Emitted, ...]]] = {
    "authorizer": (_count("Failed", "an API key that could not be checked (503)"),),
    "ingest": _KEYED,
    "execute": (*_KEYED, *_EFFECTS),
    "webhooks": (
        *_TAKEN_IN,
        _count("BodyChanged", "a duplicate event whose body is another"),
        _count("Unauthorized", "a webhook whose sender did not prove who it is (401)"),
    ),
    "read": _REQUEST,
    "dispatch": (
        _count("Dispatched", "a receipt whose record was written and whose event was published"),
        _time("DispatchLag", "from acceptance to published"),
        _count("DispatchParked", "a receipt that failed for its tenant's topic or its data, and waits"),
        _count("DispatchConflict", "a record that is there with another event"),
        _count("StillParked", "an attempt at a parked receipt that failed too: it waits on"),
        _count("DispatchFailed", "a receipt that failed for what is ours: an outage, or the code"),
    ),
    "deliver": (
        _count("Delivered", "a webhook that reached its destination"),
        _count("DeliveryFailed", "an attempt to deliver a webhook that failed"),
        _time("DeliveryLag", "from acceptance to delivered"),
        *_WORK,
    ),
    "fulfil": (
        _count("Completed", "an order that was worked off"),
        _count("FulfilmentFailed", "an attempt at an order that failed"),
        _time("CompletionLag", "from acceptance to worked off"),
        *_WORK,
    ),
    "notify": (
        _count("Notified", "an event of the bus that was published on its tenant's topic"),
        _count("TopicRefused", "an attempt to publish one that its tenant's topic refused"),
        _count("NotifyFailed", "an attempt to publish one that failed, for no topic's sake"),
    ),
    "reconcile": (
        _count("Requeued", "work that was queued again"),
        _count("WorkGivenUp", "work that queueing again has not helped: it waits for a person"),
        _count("ReconcileFailed", "part of a run that failed"),
        _count("PendingWork", "work pending for longer than a period, at one look"),
        _time("PendingOldestAge", "the age of the oldest pending work, at one look"),
    ),
}
"""By function: what it emits under `ROLL_UPS`, and for a tenant with `metrics: detailed` `IN_DETAIL` too."""

PER_TENANT: Final[Mapping[str, frozenset[str]]] = {
    "ingest": frozenset({"Accepted", "Replayed", "Failed"}),
    "execute": frozenset({"Accepted", "Replayed", "Failed", "EffectTrouble"}),
    # Only of tenants that exist: strangers cannot make series.
    "webhooks": frozenset({"Accepted", "Replayed", "Failed", "Unauthorized"}),
    "read": frozenset({"Failed"}),
    # Series that are there in trouble only: whose work or event waits for a person.
    "dispatch": frozenset({"DispatchParked", "StillParked"}),
    "deliver": frozenset({"WorkGivenUp"}),
    "fulfil": frozenset({"WorkGivenUp"}),
    "notify": frozenset({"TopicRefused"}),
    "reconcile": frozenset({"WorkGivenUp"}),
}
"""By function: what it emits `OF_TENANT` too, for every tenant, since every series costs."""

NEVER_IN_DETAIL: Final = frozenset({"authorizer", "reconcile"})
"""Functions that work for all tenants at once, or do not know for whom."""

DETAILED: Final = "detailed"
"""The word, in a tenant's file and wherever it is handed on, for metrics `IN_DETAIL`."""


class FromAccessLog(NamedTuple):
    """A metric that CloudWatch makes of the API's access log: what it counts never reaches a function."""

    name: str
    unit: Unit
    meaning: str
    dimensions: tuple[Dimensions, ...]


API: Final = "api"
"""The `Service` of these is `service_name(stage, API)`."""
ACCESS_LOG: Final = (
    FromAccessLog(
        "Throttled",
        "Count",
        "1 for a request over its key's rate or quota (429); of a tenant, 0 for any other of its requests",
        (OF_SERVICE, OF_TENANT),
    ),
    FromAccessLog(
        "Unauthorized",
        "Count",
        "a request without a key (401), or with one that is unknown, revoked or suspended (403)",
        (OF_SERVICE,),
    ),
)
