"""What waits, and for whom: queues, dead letters, events without a subscriber that takes them."""

from typing import Final

from infra import metrics
from infra.dashboards.requests import DEAD_LETTERS
from infra.dashboards.sections import section, total
from infra.expressions import Select
from infra.naming import WORK_QUEUES, Names
from infra.widget_kinds import Graph, Widget
from infra.widget_rows import Line, Ranked

# As many as a legend shows.
_MOST_TOPICS: Final = 10


def queues(names: Names, *, topics: bool) -> tuple[Widget, ...]:
    """What waits, and for whom. `topics`: whether the account's SNS topics are all this stage's."""
    width = 6 if topics else 8
    taken = ("dispatch-retry", *WORK_QUEUES)
    waiting, age = "ApproximateNumberOfMessagesVisible", "ApproximateAgeOfOldestMessage"
    hidden = "ApproximateNumberOfMessagesNotVisible"
    # Between its attempts a parked receipt is hidden: with what can be received alone, nothing would show it.
    parked = (
        Line(metrics.queue(names, "dispatch-retry", waiting), "dispatch-retry: due", id="due"),
        Line(metrics.queue(names, "dispatch-retry", hidden), "dispatch-retry: later, or tried", id="later"),
    )
    return (
        section(
            "Queues and dead letters",
            "Nothing here is lost. Mend the cause first, then `onceward dlq redrive`. Never purge.",
        ),
        Graph(
            "Dead letters: wait for a person",
            "messages",
            tuple(Line(metrics.queue(names, name, waiting), name) for name in DEAD_LETTERS),
            width=width,
        ),
        Graph(
            "Queues: messages that wait for a function",
            "messages",
            (
                *(Line(metrics.queue(names, name, waiting), name) for name in WORK_QUEUES),
                *parked,
                total(parked, "dispatch-retry: all"),
            ),
            width=width,
        ),
        Graph(
            "Queues: age of the oldest message",
            "seconds",
            tuple(Line(metrics.queue(names, name, age), name) for name in taken),
            width=width,
        ),
        *((_subscribers(names, width),) if topics else ()),
    )


def _subscribers(names: Names, width: int) -> Graph:
    """Whose events do not arrive: a topic is called after its tenant. What comes of it stands beside it."""
    failed = Select(
        "SUM",
        "NumberOfNotificationsFailed",
        "AWS/SNS",
        ("TopicName",),
        where=(),
        group_by="TopicName",
        unless=(("TopicName", names.platform("alarms")),),
        limit=_MOST_TOPICS,
    )
    dead = metrics.queue(names, "delivery-dlq", "ApproximateNumberOfMessagesVisible")
    return Graph(
        "Events that reach no subscriber, by topic",
        "failed, per {period}",
        (Ranked(failed.expression), Line(dead, "waiting on delivery-dlq", right=True)),
        right_unit="messages",
        width=width,
    )
