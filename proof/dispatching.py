"""`dispatch` under the scheduler: the real handler, on one record of the stream or of the retry queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from handlers import dispatch
from handlers.adapters import parking
from handlers.adapters.receipt_item import to_item
from handlers.settings import DispatchSettings
from ops.replay import Replay, Window
from proof.asking_client import AskingReceiptsClient
from proof.queues import AskingParking, AskingTopics, AskingWorkQueues, Waiting
from proof.records import AskingRecords
from proof.requests import silent
from proof.scenario import Actor
from tests import stream_events

if TYPE_CHECKING:
    from collections.abc import Callable

    from proof.programs import Life
    from proof.stream import Change

# What Lambda has left for an invocation when it begins: `dispatch`'s timeout (infra.timeouts).
_REMAINING_MS: Final = 45_000
STAGE: Final = "local"
_REPUBLISHES: Final = "R2"


def dispatchers(names: str, tenant: str | None = None) -> tuple[Actor, ...]:
    """Invocations by the stream, each for the first record of a shard: `tenant`'s, or the only one."""
    kind = f"dispatch {tenant}"
    return tuple(
        Actor(name, kind, _from_stream(tenant), lives_ms=_REMAINING_MS, takes=True) for name in names
    )


def retrier(name: str) -> Actor:
    """An invocation by the retry queue."""
    return Actor(name, "retry", _from_retry_queue, lives_ms=_REMAINING_MS, takes=True)


def drains() -> tuple[Actor, ...]:
    """All that comes when every attempt has ended, one after the other.

    `D1` empties stream and retry queue; `R1` is an operator's replay, `D2` empties again; `R2` is a replay
    with `--republish`, `D3` empties again.
    """
    programs = [
        ("D1", _drained),
        ("R1", _replayed),
        ("D2", _drained),
        (_REPUBLISHES, _replayed),
        ("D3", _drained),
    ]
    return tuple(Actor(name, name, program) for name, program in programs)


def _from_stream(tenant: str | None) -> Callable[[Life], str]:
    def program(life: Life) -> str:
        taken: tuple[int, Change] | None = life.ask("receipts", "take change", tenant)
        if taken is None:
            return "nothing to do"
        number, change = taken
        response = dispatch.dispatch(
            _stream_event(number, change), _dependencies(life), lambda: _REMAINING_MS
        )
        if response["batchItemFailures"]:
            return "failed"
        life.ask("receipts", "acknowledge", number)
        return "done"

    return program


def _from_retry_queue(life: Life) -> str:
    waiting: Waiting | None = life.ask("retry queue", "take")
    if waiting is None:
        return "nothing to do"
    body = parking.to_body(to_item(waiting.image), "", 0, republish=waiting.republish)
    event = stream_events.queue_batch([body])
    if dispatch.dispatch(event, _dependencies(life), lambda: _REMAINING_MS)["batchItemFailures"]:
        return "failed"
    life.ask("retry queue", "acknowledge", waiting)
    return "done"


def _drained(life: Life) -> str:
    from_stream, rounds = _from_stream(None), 0
    # Without a fault none fails; one that does would be tried here for ever.
    while (said := (from_stream(life), _from_retry_queue(life))) != ("nothing to do",) * 2:
        rounds += 1
        if "failed" in said:
            return "failed"
    return f"empty after {rounds}"


def _replayed(life: Life) -> str:
    replay = Replay(AskingReceiptsClient(life.ask), "receipts", "records", AskingParking(life.ask))  # type: ignore[arg-type]
    found = replay.look(Window(), lambda _: None, republish=life.name == _REPUBLISHES)
    for due in found.due:
        replay.queue(due, life.clock_ms())
    return f"queued {len(found.due)}"


def _stream_event(number: int, change: Change) -> dict[str, Any]:
    if change.new is None:
        assert change.old is not None
        record = stream_events.removed_by_ttl(number, change.old)
    elif change.old is None:
        record = stream_events.inserted(number, change.new)
    else:
        record = stream_events.modified(number, change.new, change.old)
    return stream_events.stream_batch(record)


def _dependencies(life: Life) -> dispatch.Dependencies:
    return dispatch.Dependencies(
        settings=DispatchSettings(STAGE, "records", "arn:aws:sns:::onceward-local-", "retry", {}, True),
        records=AskingRecords(life.ask),
        work_queues=AskingWorkQueues(life.ask),
        topics=AskingTopics(life.ask),
        parking=AskingParking(life.ask),
        logger=silent(),
        clock_ms=life.clock_ms,
    )
