"""The alarms of what follows from an acceptance or runs an effect: work, the event bus, payments."""

from typing import Final

from infra import metrics
from infra.alarm import MINUTE, Alarm
from infra.naming import NOTIFY_RULE, WORK_QUEUES, WORKERS, Names

# The reconciler queues work again that has been pending for minutes; a quarter of an hour is work that this
# does not help. A destination that is down rings here too: its tenant's orders or webhooks are late.
_TOO_OLD_SECONDS: Final = 15 * MINUTE
# A provider loses an answer now and then, and the caller's retry resumes the charge. Five are an outage.
_ANSWERS_LOST: Final = 5
# No alarm on DeliveryFailed and FulfilmentFailed: a tenant's destination may be down for hours and is tried
# again meanwhile. The dashboard shows it; what is given up, or late, rings here.


def work_alarms(names: Names) -> tuple[Alarm, ...]:
    """The alarms; their number does not depend on the tenants."""
    return (
        *(alarm for queue in WORK_QUEUES for alarm in _queue(names, queue)),
        *_bus(names),
        *_pending(names),
        *_effects(names),
    )


def _queue(names: Names, queue: str) -> tuple[Alarm, ...]:
    return (
        Alarm(
            f"{queue}-dlq-depth",
            f"Work on {queue} failed each time it was tried. Fix the cause, then run `onceward dlq redrive`.",
            metrics.queue(names, f"{queue}-dlq", "ApproximateNumberOfMessagesVisible"),
            1,
            MINUTE,
            runbook="work-dlq-depth",
        ),
        # SQS leaves a message that was received more than three times out of this metric, so this is not for
        # work that fails again and again (`pending-too-old` rings for that).
        Alarm(
            f"{queue}-age",
            f"Nothing takes work off {queue}: its mapping is off, or its worker is throttled.",
            metrics.queue(names, queue, "ApproximateAgeOfOldestMessage"),
            _TOO_OLD_SECONDS,
            MINUTE,
            runbook="work-age",
        ),
        Alarm(
            f"{WORKERS[queue]}-given-up",
            f"{WORKERS[queue]} gave work up for good: its record is FAILED. `onceward dlq list` says whose.",
            metrics.onceward(names, WORKERS[queue], "WorkGivenUp"),
            1,
            runbook="work-given-up",
        ),
    )


def _bus(names: Names) -> tuple[Alarm, ...]:
    return (
        Alarm(
            "notify-dlq-depth",
            "Events of completed orders did not reach their topics. Fix the cause, then redrive the queue.",
            metrics.queue(names, "notify-dlq", "ApproximateNumberOfMessagesVisible"),
            1,
            MINUTE,
        ),
        Alarm(
            "bus-failed-deliveries",
            "The event bus could not call notify, for good. The events are on notify-dlq.",
            metrics.rule(names, NOTIFY_RULE, "FailedInvocations", bus="orders"),
            1,
        ),
        Alarm(
            "bus-sent-to-dlq",
            "The event bus gave events up to notify-dlq.",
            metrics.rule(names, NOTIFY_RULE, "InvocationsSentToDlq", bus="orders"),
            1,
        ),
        Alarm(
            "bus-events-lost",
            "The event bus could not even put events on notify-dlq: they are lost. Mend the queue's policy, "
            "then run `onceward dispatch replay --since --republish`.",
            metrics.rule(names, NOTIFY_RULE, "InvocationsFailedToBeSentToDlq", bus="orders"),
            1,
        ),
    )


def _pending(names: Names) -> tuple[Alarm, ...]:
    return (
        Alarm(
            "pending-too-old",
            "Work that was accepted has not been done for a quarter of an hour, though it is queued again.",
            metrics.onceward(names, "reconcile", "PendingOldestAge", "Maximum"),
            # Milliseconds, like every duration that the functions emit.
            _TOO_OLD_SECONDS * 1000,
            MINUTE,
        ),
        Alarm(
            "reconcile-given-up",
            "Work was queued again for a day in vain (it may kill its function each time): its record is "
            "FAILED. The log says whose. Mend it; `onceward dlq redrive` or `dispatch replay --republish`.",
            metrics.onceward(names, "reconcile", "WorkGivenUp"),
            1,
        ),
        Alarm(
            "reconcile-not-called",
            "The schedule could not call reconcile: work whose message was lost stays undone.",
            metrics.rule(names, "reconcile", "FailedInvocations"),
            1,
        ),
        # Of a schedule that is switched off nobody counts a failure, and `pending-too-old` is measured by the
        # very function that is not called. It should be once a minute: a quarter of an hour is no blip.
        Alarm(
            "reconcile-silent",
            "Reconcile has not run for a quarter of an hour: nobody looks for work that waits too long.",
            metrics.function(names, "reconcile", "Invocations"),
            1,
            periods=3,
            wanted=True,
        ),
    )


def _effects(names: Names) -> tuple[Alarm, ...]:
    return (
        Alarm(
            "effect-unknown",
            "A provider does not answer: callers get 504, and it is not known whether they were charged.",
            metrics.onceward(names, "execute", "EffectUnknown"),
            _ANSWERS_LOST,
        ),
        Alarm(
            "lookup-impossible",
            "A charge is too old to be sent again, and its provider cannot be asked for it: callers get 503 "
            "until a person has looked it up (`onceward receipts show`).",
            metrics.onceward(names, "execute", "LookupImpossible"),
            1,
        ),
        Alarm(
            "effect-orphaned",
            "An effect happened (a charge was made), and what is stored under its key is a refusal, another "
            "request, or nothing. Somebody has to undo it, or tell its caller: the log line has the record.",
            metrics.onceward(names, "execute", "EffectOrphaned"),
            1,
        ),
        Alarm(
            "several-charges",
            "A provider knows several charges under one key: it did not honour it. The first one was "
            "answered; somebody has to pay the others back.",
            metrics.onceward(names, "execute", "SeveralCharges"),
            1,
        ),
    )
