"""The index of pending work: what is sent again or given up, over the same three stores."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handlers.domain.pending import PERIOD_MS, PendingWork
from handlers.domain.work_item import Claimed, NoSuchWork
from tests.builders import NOW_MS
from tests.contract.work_world import LEASE_MS, MESSAGE, ORDER, State, World, claim, item


@pytest.fixture
def world(work_world: World) -> World:
    return work_world


DUE = NOW_MS + PERIOD_MS


def test_pending_work_is_marked_once_and_counted(world: World) -> None:
    world.records.write(ORDER)
    [seen] = world.pending_work()
    assert seen == PendingWork(MESSAGE, NOW_MS, None, 0)

    assert world.pending.mark_requeued(seen, DUE, NOW_MS)
    # Another reconciler, which saw the same, and one that saw the mark.
    assert not world.pending.mark_requeued(seen, DUE + 1, NOW_MS + 1)
    [marked] = world.pending_work()
    assert marked == PendingWork(MESSAGE, NOW_MS, DUE, 1)
    assert world.pending.mark_requeued(marked, DUE + 9, NOW_MS + 9)


def test_work_that_somebody_is_at_or_was_a_moment_ago_is_left_alone(world: World) -> None:
    world.records.write(ORDER)
    [seen] = world.pending_work()
    world.work.claim(claim("one", now_ms=DUE - 10, lease_until=DUE))
    assert not world.pending.mark_requeued(seen, DUE, DUE)  # at it
    world.work.fail(claim("one"), DUE - 1, final=False)
    assert not world.pending.mark_requeued(seen, DUE, NOW_MS)  # a moment ago: its message waits for its turn
    assert world.pending.mark_requeued(seen, DUE, DUE - 1)


def test_what_was_written_long_after_it_was_accepted_is_not_lost_yet(world: World) -> None:
    # As after an outage of the stream: `dispatch` writes it and sends its message at once.
    world.records.write(replace(ORDER, created_at=NOW_MS - 3 * PERIOD_MS))
    [seen] = world.pending_work()
    assert seen.since == NOW_MS - 3 * PERIOD_MS
    assert not world.pending.mark_requeued(seen, NOW_MS + 1, NOW_MS + 1 - PERIOD_MS)
    assert world.pending.mark_requeued(seen, DUE, DUE - PERIOD_MS)


def test_a_record_that_is_there_is_left_as_it_is_and_its_status_told(world: World) -> None:
    assert world.records.write(ORDER) is None
    world.clock.now += 7
    assert world.records.write(ORDER) == "ACCEPTED"
    world.work.claim(claim("one"))
    world.work.finish(claim("one"), NOW_MS + 5)
    assert world.records.write(ORDER) == "COMPLETED"
    assert world.state() == State("COMPLETED", NOW_MS + 5, None, 0, 0)


def test_what_is_given_up_has_failed_until_a_message_brings_it_back(world: World) -> None:
    world.records.write(ORDER)
    world.work.claim(claim("killed"))
    [seen] = world.pending_work()
    world.pending.mark_requeued(seen, DUE, NOW_MS)
    assert not world.pending.give_up(seen, DUE + 5, DUE)  # another reconciler's mark came between
    [seen] = world.pending_work()
    for _ in range(2):  # sent twice, it is the same
        assert world.pending.give_up(seen, DUE + 5, DUE)
    assert world.state() == State("FAILED", DUE + 5, "killed", NOW_MS + LEASE_MS, 0)
    assert world.pending_work() == []

    redriven = claim("two", now_ms=DUE + 9, lease_until=DUE + 9 + LEASE_MS)
    assert world.work.claim(redriven) == Claimed(
        item(owner="two", attempts=2, lease_until=redriven.lease_until)
    )
    # From the beginning: it may be sent again as often as the first time.
    assert world.pending_work() == [PendingWork(MESSAGE, DUE + 9, None, 0)]


def test_what_somebody_is_at_or_was_a_moment_ago_is_not_given_up(world: World) -> None:
    world.records.write(ORDER)
    [seen] = world.pending_work()
    world.work.claim(claim("one", now_ms=DUE - 10, lease_until=DUE))
    assert not world.pending.give_up(seen, DUE, DUE)
    world.work.fail(claim("one"), DUE - 1, final=False)
    assert not world.pending.give_up(seen, DUE, NOW_MS)
    world.work.claim(claim("two", now_ms=DUE, lease_until=DUE + 1))
    world.work.finish(claim("two"), DUE)
    assert not world.pending.give_up(seen, DUE + 9, DUE + 9)
    assert world.state().status == "COMPLETED"


@pytest.mark.parametrize("ended", ["finished", "failed"])
def test_work_that_has_ended_is_not_sent_again_by_who_saw_it_pending(world: World, ended: str) -> None:
    world.records.write(ORDER)
    [seen] = world.pending_work()
    world.work.claim(claim("one"))
    if ended == "finished":
        world.work.finish(claim("one"), NOW_MS)
    else:
        world.work.fail(claim("one"), NOW_MS, final=True)
    assert not world.pending.mark_requeued(seen, DUE + LEASE_MS, DUE)


def test_work_whose_record_is_gone_is_not_made_anew(world: World) -> None:
    assert not world.pending.mark_requeued(PendingWork(MESSAGE, NOW_MS, None, 0), DUE, NOW_MS)
    assert world.work.claim(claim("one")) == NoSuchWork()
