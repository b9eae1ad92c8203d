"""What became of a key, in the order of time: from its receipt, its record, the logs and the queues."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from handlers.domain.receipt import Status
from ops.dead_letters import Wanted
from ops.log_search import NoLogGroup
from ops.onward import places
from ops.receipts import Ids, ids_of, is_young, may_be_running, moment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from handlers.domain.receipt import Receipt
    from infra.naming import Names
    from ops.dead_letters import DeadLetters
    from ops.letters import Letter
    from ops.log_search import Line, Logs

ACCEPTING: Final = ("ingest", "execute", "webhooks")
"""Functions whose lines carry the record id of the request that holds the key, whichever request came."""
OUTWARD: Final = ("dispatch", "deliver", "fulfil", "notify", "reconcile")
"""Functions whose lines carry the event's id."""
# The clock of a function's log may be behind the gateway's, by which a receipt is dated.
_SKEW_MS: Final = 60_000
# What every line says, or what the heading says already.
_NOT_SHOWN: Final = frozenset(
    (
        *("level", "location", "message", "timestamp", "service", "outcome", "tenant", "operation"),
        *("record_id", "event_id", "xray_trace_id", "cold_start", "sampling_rate"),
        *("function_name", "function_memory_size", "function_arn", "function_request_id"),
    )
)
_LETTERS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened (or, at `at` None, is so now), where, and more about it."""

    at: int | None
    where: str
    what: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Timeline:
    """The moments in order, and what could not be looked at."""

    moments: list[Moment] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Subject:
    """What a timeline is about. `since`: when it was accepted, ms since the epoch."""

    ids: Ids
    correlation_id: str
    since: int


@dataclass(frozen=True)
class Sources:
    """What a timeline is made of.

    `receipt`: None where only the record's id is known; `record`: the item without its document, or None.
    """

    subject: Subject
    receipt: Receipt | None
    record: Mapping[str, Any] | None
    names: Names
    logs: Logs
    queues: Sequence[DeadLetters]


def subject_of(receipt: Receipt) -> Subject:
    """What a receipt's timeline is about."""
    return Subject(ids_of(receipt), receipt.correlation_id, receipt.created_at)


def subject_in(record: Mapping[str, Any]) -> Subject:
    """What the timeline of a record (an item of the records table) is about."""
    made = Ids(record["recordId"]["S"], record["eventId"]["S"])
    return Subject(made, record["correlationId"]["S"], int(record["createdAt"]["N"]))


def explain(sources: Sources, now_ms: int, tell: Callable[[str], None]) -> Timeline:
    """Everything that is known of its subject; `tell` is told what is being looked at."""
    timeline = Timeline()
    timeline.moments += _of_receipt(sources.receipt, now_ms) if sources.receipt else []
    lines: list[Line] = []
    for function in (*ACCEPTING, *OUTWARD):
        tell(f"Looking into the log of {function}")
        lines += _lines(sources.logs, function, sources.subject, timeline.notes)
    timeline.moments += [_of_line(line, sources.names) for line in lines]
    timeline.moments += _of_record(sources.receipt, sources.record, lines, now_ms)
    for queue in sources.queues:
        tell(f"Looking into {queue.name}")
        timeline.moments += _of_queue(queue, sources.subject.ids, now_ms, timeline.notes)
    # What is so now comes last.
    timeline.moments.sort(key=lambda one: (one.at is None, one.at or 0))
    return timeline


def _of_receipt(receipt: Receipt, now_ms: int) -> list[Moment]:
    moments = [
        Moment(receipt.created_at, "receipt", "first seen", {"correlation_id": receipt.correlation_id})
    ]
    if receipt.expires_at <= now_ms:
        moments.append(Moment(receipt.expires_at, "receipt", "window over"))
    if receipt.status is Status.IN_PROGRESS:
        what = (
            "in progress" if may_be_running(receipt, now_ms) else "unfinished; the next retry takes it over"
        )
        lease = moment(receipt.lease_until) if receipt.lease_until else "released"
        moments.append(Moment(None, "receipt", what, {"lease": lease}))
    elif receipt.response is not None:
        moments.append(Moment(None, "receipt", "answered", {"status": receipt.response.status}))
    return moments


def _of_record(
    receipt: Receipt | None, record: Mapping[str, Any] | None, lines: Sequence[Line], now_ms: int
) -> list[Moment]:
    if receipt is not None and receipt.outbox is None:
        return []  # nothing follows from it (yet)
    if record is None and receipt is not None and is_young(receipt.created_at, now_ms):
        return [Moment(None, "record", "not there yet", {"next": "dispatch writes it: look again"})]
    if record is None:
        return [Moment(None, "record", "missing", {"next": "onceward dispatch replay --since brings it"})]
    moments = _requeued(record, lines)
    if _number(record, "redrivenAt"):
        times = {"times": _number(record, "redrives")}
        sent_back = "sent back from a dead-letter queue"
        moments.append(Moment(_number(record, "redrivenAt"), "record", sent_back, times))
    status = record.get("status", {}).get("S")
    if status is None:
        return [*moments, Moment(None, "record", "written")]
    details = {"attempts": _number(record, "attempts")}
    at = {"since": moment(_number(record, "updatedAt"))} if _number(record, "updatedAt") else {}
    return [*moments, Moment(None, "record", status, details | at)]


def _requeued(record: Mapping[str, Any], lines: Sequence[Line]) -> list[Moment]:
    """The last requeue, unless the log tells of it: reconcile marks the record, sends, and says so then."""
    times, at = _number(record, "requeues"), _number(record, "requeuedAt")
    told = any(
        # By its time too: the count may begin anew.
        line.content.get("requeues") == times and line.at + _SKEW_MS >= at
        for line in lines
        if (line.function, line.content.get("outcome")) == ("reconcile", "requeued")
    )
    if told or not at:
        return []
    details = {"times": times, "sent": "no line of its log says so"}
    return [
        Moment(_number(record, "requeuedAt"), "record", "marked by reconcile to be queued again", details)
    ]


def _lines(logs: Logs, function: str, subject: Subject, notes: list[str]) -> list[Line]:
    made = subject.ids
    # An attempt that failed before it knew its record says only its correlation id.
    terms = (made.record_id, subject.correlation_id) if function in ACCEPTING else (made.event_id,)
    # Both searches find most lines. By what they say: the local AWS gives lines no id.
    found: dict[tuple[int, str], Line] = {}
    try:
        for term in terms:
            for line in logs.lines(function, term, subject.since - _SKEW_MS):
                if _is_about(line, made):
                    found.setdefault((line.at, json.dumps(line.content, sort_keys=True)), line)
    except NoLogGroup:
        notes.append(f"{function} has no log group")
    return list(found.values())


def _is_about(line: Line, made: Ids) -> bool:
    # A caller may use one correlation id for many requests: a line that names another record is not about us.
    named = {name: line.content.get(name) for name in ("record_id", "event_id")}
    expected = {"record_id": made.record_id, "event_id": made.event_id}
    said = {name: value for name, value in named.items() if value not in (None, "unknown")}
    return all(value == expected[name] for name, value in said.items())


def _of_line(line: Line, names: Names) -> Moment:
    content = line.content
    what = content.get("outcome") or content.get("message") or "said something"
    details = {name: value for name, value in content.items() if name not in _NOT_SHOWN and value is not None}
    if details.get("request_id") == details.get("correlation_id"):
        details.pop("request_id", None)
    return Moment(line.at, line.function, str(what), {**details, **places(line, names)})


def _of_queue(queue: DeadLetters, made: Ids, now_ms: int, notes: list[str]) -> list[Moment]:
    found: list[Moment] = []

    def each(one: Letter, _census: object) -> None:
        if made.record_id in one.body or made.event_id in one.body:
            # Of its arrival here SQS says nothing: a redrive policy leaves the time of sending as it was.
            details = {"sent_first_at": moment(one.sent_at), "message": one.message_id}
            why = {"reason": one.reason} if one.reason else {}
            found.append(Moment(None, queue.name, "waits there", details | why))

    census = queue.look(Wanted(), now_ms, limit=_LETTERS, each=each)
    if census.looked < census.approximate:
        notes.append(f"{queue.name}: looked at {census.looked:,} of about {census.approximate:,} messages")
    if census.hidden:
        notes.append(f"{queue.name}: {census.hidden:,} messages stay hidden by this look, for five minutes")
    return found


def _number(item: Mapping[str, Any], name: str) -> int:
    return int(item.get(name, {}).get("N", "0"))
