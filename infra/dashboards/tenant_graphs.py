"""The numbers and graphs of one tenant."""

from dataclasses import replace
from typing import Final

from infra import metrics
from infra.dashboards.sections import DUPLICATE, FAILED, NEW, added, hidden, section, share, taken_in, total
from infra.metrics import TAKERS
from infra.naming import Names
from infra.tenant_alarms import ANSWERERS, API, HELD_UP
from infra.widget_kinds import Graph, Number, Widget
from infra.widget_rows import Line, Maths

_STUCK_LABELS: Final = {
    ("dispatch", "DispatchParked"): "events parked",
    ("dispatch", "StillParked"): "parked ones tried in vain",
    ("notify", "TopicRefused"): "events refused by its topic",
    ("deliver", "WorkGivenUp"): "webhooks given up",
    ("fulfil", "WorkGivenUp"): "orders given up",
    ("reconcile", "WorkGivenUp"): "given up by the reconciler",
}


def numbers(names: Names, tenant_id: str) -> tuple[Number, ...]:
    """Six numbers over all the time that is shown."""
    new, again = _taken_in(names, tenant_id)
    failed = _of_all(names, tenant_id, "failed", "Failed")
    counted = _counted("answered", failed)
    throttled = Line(_throttled(names, tenant_id, "Average"), "throttled", id="throttled", hidden=True)
    stuck = _stuck(names, tenant_id)
    failing = f"IF({added(counted)} > 0, 100 * ({added(failed)}) / ({added(counted)}), 0)"
    published = metrics.tenant_topic(names, tenant_id, "NumberOfMessagesPublished")
    return (
        Number("New requests", "requests", (*new, total(new, "taken in", colour=NEW)), whole_range=True),
        Number(
            "Duplicates suppressed",
            "% of requests",
            (*new, *again, share(again, new, "of what was taken in", DUPLICATE)),
            whole_range=True,
        ),
        Number(
            "Share failed (5xx)",
            "% of requests",
            (*failed, *counted, Maths(failing, "of what was answered", colour=FAILED)),
            whole_range=True,
        ),
        Number(
            "Share over its limits (429)",
            "% of requests",
            (throttled, Maths("100 * FILL(throttled, 0)", "of what had a key")),
            whole_range=True,
        ),
        Number("Events published", "events", (Line(published, "on its topic"),), whole_range=True),
        Number("Held up", "events, pieces of work", (*stuck, total(stuck, "for a person")), whole_range=True),
    )


def graphs(names: Names, tenant_id: str) -> tuple[Widget, ...]:
    """What it sends, what becomes of it, what holds it up."""
    return (
        section("What it sends", "New requests take effect; duplicates are answered as the first one was."),
        *_sent(names, tenant_id),
        section(
            "What fails, and what is refused",
            "Ours: 5xx. Its provider's: 5xx too. Its own: more than its tier lets through (429).",
        ),
        *_failing(names, tenant_id),
        section("What follows", "Events and work come once they can: late, not lost."),
        *_following(names, tenant_id),
    )


def _sent(names: Names, tenant_id: str) -> tuple[Graph, ...]:
    new, again = _taken_in(names, tenant_id)
    what = {"ingest": "leads, orders", "execute": "payments, appointments", "webhooks": "webhooks"}
    return (
        taken_in(new, again),
        Graph(
            "New requests, by function",
            "requests per {period}",
            tuple(
                Line(metrics.of_tenant(names, tenant_id, taker, "Accepted"), text)
                for taker, text in what.items()
            ),
        ),
        Graph(
            "Share of duplicates",
            "% of what was taken in",
            (*new, *again, share(again, new, "duplicates", DUPLICATE)),
        ),
    )


def _failing(names: Names, tenant_id: str) -> tuple[Graph, ...]:
    failed = _of_all(names, tenant_id, "failed", "Failed")
    trouble = metrics.of_tenant(names, tenant_id, "execute", "EffectTrouble")
    everything = Line(_throttled(names, tenant_id, "SampleCount"), "all with a key", right=True, colour=NEW)
    return (
        Graph(
            "Failed for what is ours",
            "requests per {period}",
            (
                *failed,
                total(failed, "5xx", colour=FAILED),
                Line(
                    metrics.of_tenant(names, tenant_id, "webhooks", "Unauthorized"),
                    "webhooks: sender not proved",
                ),
            ),
        ),
        Graph(
            "Answered with 5xx for its provider",
            "requests per {period}",
            (
                Line(trouble, "5xx", colour=FAILED),
                Line(
                    replace(trouble, statistic="SampleCount"),
                    "all payments, appointments",
                    right=True,
                    colour=NEW,
                ),
            ),
            right_unit="requests per {period}",
        ),
        Graph(
            "Share that failed, by function",
            "share (1 = all)",
            (
                *(
                    Line(metrics.of_tenant(names, tenant_id, each, "Failed", "Average"), each)
                    for each in ANSWERERS
                ),
                Line(replace(trouble, statistic="Average"), "for its provider"),
            ),
        ),
        Graph(
            "Over its limits (429)",
            "requests per {period}",
            (Line(_throttled(names, tenant_id, "Sum"), "throttled"), everything),
            right_unit="requests per {period}",
            width=12,
        ),
        Graph(
            "Share over its limits",
            "share (1 = all)",
            (Line(_throttled(names, tenant_id, "Average"), "throttled"),),
            width=12,
        ),
    )


def _following(names: Names, tenant_id: str) -> tuple[Graph, ...]:
    new, _ = _taken_in(names, tenant_id)
    stuck = _stuck(names, tenant_id)
    topic = {
        "NumberOfMessagesPublished": "published",
        "NumberOfNotificationsDelivered": "delivered to subscribers",
        "NumberOfNotificationsFailed": "did not reach a subscriber",
    }
    return (
        Graph(
            "Events on its topic",
            "events per {period}",
            tuple(Line(metrics.tenant_topic(names, tenant_id, name), text) for name, text in topic.items()),
            width=12,
        ),
        Graph(
            "Events and work held up",
            "held up, per {period}",
            (
                *(replace(line, hidden=False) for line in stuck),
                total(stuck, "together"),
                *new,
                total(new, "new requests", right=True, colour=NEW),
            ),
            right_unit="requests per {period}",
            width=12,
        ),
    )


def _taken_in(names: Names, tenant_id: str) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """New requests and duplicates of all functions, for maths."""
    return (
        hidden("new", [metrics.of_tenant(names, tenant_id, taker, "Accepted") for taker in TAKERS]),
        hidden("again", [metrics.of_tenant(names, tenant_id, taker, "Replayed") for taker in TAKERS]),
    )


def _of_all(names: Names, tenant_id: str, prefix: str, name: str) -> tuple[Line, ...]:
    return hidden(prefix, [metrics.of_tenant(names, tenant_id, each, name) for each in ANSWERERS])


def _counted(prefix: str, lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """How often each was emitted: of ones and zeros, how many requests there were."""
    return hidden(prefix, [replace(line.metric, statistic="SampleCount") for line in lines])


def _throttled(names: Names, tenant_id: str, statistic: str) -> metrics.Metric:
    return metrics.of_tenant(names, tenant_id, API, "Throttled", statistic)


def _stuck(names: Names, tenant_id: str) -> tuple[Line, ...]:
    lines = hidden("stuck", [metrics.of_tenant(names, tenant_id, each, name) for each, name in HELD_UP])
    return tuple(replace(line, label=_STUCK_LABELS[each]) for line, each in zip(lines, HELD_UP, strict=True))
