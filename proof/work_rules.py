"""The promises of work: done once at a time, done in the end, and no message gone before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from handlers.domain.work import BY_OPERATION
from handlers.domain.work_item import Claimed
from proof.ports import Applied
from proof.programs import name_in
from proof.records import Records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from proof.programs import Call
    from proof.records import Kept
    from proof.scenario import Seen
    from proof.work_queue import Queue
    from tests.fakes.work import Stored


RECONCILER_LIVES_MS: Final = 50_000
"""How long a run of the reconciler may last (infra.timeouts)."""
# Not what the code has: a message that nobody touched for five minutes is sent again, later after twice as
# long each time, up to an hour (DESIGN, section 8).
_PERIOD_MS: Final = 300_000
_LONGEST_PERIOD_MS: Final = 3_600_000


class WorkingRecords(Records):
    """The records table, where workers and reconcilers are at it, and what its rows may never do."""

    certain = frozenset({"overdue"})

    def __init__(self, kept: Kept, skew_ms: int = 0) -> None:
        """`kept`: what stands in the beginning. `skew_ms`: how far the workers' clocks may be off."""
        super().__init__(kept)
        self._skew_ms = skew_ms

    def apply(self, state: Kept, call: Call, now: int) -> Applied:
        """See `Port`."""
        if call.name == "overdue":  # the schedule's: whether a reconciler would have anything to do
            return Applied(state, True if any(_is_due(one, now) for _, one in state.working) else None)
        applied = super().apply(state, call, now)
        before, after = dict(state.working), dict(applied.state.working)
        broken = [
            told
            for place, stored in after.items()
            for told in self._broken(before.get(place), stored, call, now)
        ]
        if isinstance(applied.result, Claimed) and not after:
            broken.append("work of a record that is not there was claimed")
        return Applied(applied.state, applied.result, tuple(broken))

    def _broken(self, before: Stored | None, after: Stored, call: Call, now: int) -> Iterator[str]:
        if before is None or before == after:
            return
        work = BY_OPERATION[after.item.delivery.operation]
        if before.item.status == work.done:
            yield f"what was done was changed ({call.name})"
        if call.name == "claim" and before.item.lease_until >= now + self._skew_ms:
            owner, other = name_in(after.item.owner or ""), name_in(before.item.owner or "")
            yield f"{owner} claimed work that {other} is at"
        if call.name in ("finish", "fail") and call.arguments[0].owner != before.item.owner:
            yield f"{name_in(call.arguments[0].owner)} wrote ({call.name}) to what is another's"
        if call.name == "mark_requeued":
            last = before.since if before.requeued_at is None else before.requeued_at
            if last is None or now + self._skew_ms < last + _PERIOD_MS:
                yield "work was queued again twice in one period"

    def instants(self, state: Kept) -> Iterable[int]:
        """See `Port`. The last ms of a lease and the first after it; when work is overdue."""
        for _, stored in state.working:
            if stored.item.lease_until:
                yield from (stored.item.lease_until, stored.item.lease_until + 1)
            yield from due_at(stored)


def due_at(stored: Stored) -> Iterator[int]:
    """From when on a reconciler sends this work again, if nobody touches it, ms since the epoch."""
    if stored.since is not None:
        waits = min(_PERIOD_MS << stored.requeues, _LONGEST_PERIOD_MS)
        last = stored.since if stored.requeued_at is None else stored.requeued_at
        yield max(last, stored.updated_at) + waits


@dataclass(frozen=True)
class WorkRules:
    """Rules for workers and reconcilers of one record."""

    drains: tuple[str, ...] = ()
    judged_before: frozenset[str] = frozenset({"upsert", "announce", "finish", "acknowledge", "send"})

    def before(self, seen: Seen, actor: str, call: Call) -> Iterable[str]:
        """See `Rules`."""
        records: Kept = seen.ports["records"]
        stored = {one.item.delivery.event_id: one for _, one in records.working}
        told = call.arguments[0]
        if call.name == "upsert" and told.key not in stored:
            yield f"{actor} works for a record that is not there"
        elif call.name == "announce" and told.event_id not in _upserted(seen):
            yield f"{actor} announces what its destination does not have"
        elif call.name == "finish":
            yield from _finishes(seen, actor, told.message.event_id)
        elif call.name == "acknowledge":
            queue: Queue = seen.ports["work queue"]
            text = next((one.text for one in queue.messages if one.number == told), None)
            work = None if text is None else stored.get(text.event_id)
            if text is not None and (work is None or not _is_done(work)):
                yield f"{actor} acknowledges the message of work that is not done"
        elif call.name == "send":
            work = stored.get(told.event_id)
            # The mark of this very run: an older one says nothing of the message that is being sent.
            if work is None or work.requeued_at is None or seen.now - work.requeued_at > RECONCILER_LIVES_MS:
                yield f"{actor} queues work again that is not marked"

    def finished(self, seen: Seen, actor: str, started_ms: int, answer: Any) -> Iterable[str]:  # noqa: ANN401
        """See `Rules`. `D2` comes when a reconciler had its time, `D3` after a person's redrive."""
        del started_ms
        if actor in self.drains and answer == "failed":
            yield f"{actor} failed although nothing was wrong"
        records, queue = seen.ports["records"], seen.ports["work queue"]
        for _, stored in records.working if actor in ("D2", "D3") else ():
            work = BY_OPERATION[stored.item.delivery.operation]
            # Given up: the record says so, and a person has to bring it back.
            waits = stored.item.status == work.failed and (queue.dead or queue.lost)
            if not _is_done(stored) and (actor == "D3" or not waits):
                yield f"the work of {stored.item.delivery.record_id} is never done ({stored.item.status})"

    def settled(self, seen: Seen) -> Iterable[str]:
        """See `Rules`."""
        for _, stored in seen.ports["records"].working:
            if _is_done(stored):
                yield from _finishes(seen, "nobody", stored.item.delivery.event_id)


def _finishes(seen: Seen, actor: str, event_id: str) -> Iterator[str]:
    if event_id not in _upserted(seen):
        yield f"{actor} marks as done what its destination never got"
    if "bus" in seen.ports and event_id not in {one.event_id for one in seen.ports["bus"]}:
        yield f"{actor} marks as done what was never announced"


def _upserted(seen: Seen) -> set[str]:
    return {one.key for one in seen.ports["destination"]}


def _is_due(stored: Stored, now: int) -> bool:
    """Whether it waits for its period, whoever touched it: what the index says to whoever looks."""
    if stored.since is None:
        return False
    last = stored.since if stored.requeued_at is None else stored.requeued_at
    return now - last >= min(_PERIOD_MS << stored.requeues, _LONGEST_PERIOD_MS)


def _is_done(stored: Stored) -> bool:
    return stored.item.status == BY_OPERATION[stored.item.delivery.operation].done
