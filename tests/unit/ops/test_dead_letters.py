"""Looking at a dead-letter queue: every letter once, and all of them visible again, whatever SQS refuses."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

from ops import dead_letters
from ops.dead_letters import Wanted
from ops.redrive import Pace, redrive
from tests.unit.ops.fake_queue import FakeQueue, throttled

if TYPE_CHECKING:
    from ops.letters import Letter


def use_clock_of(monkeypatch: pytest.MonkeyPatch, queue: FakeQueue) -> None:
    """The command's clock is the queue's, and its pauses pass at once."""

    class Clock:
        @staticmethod
        def monotonic() -> float:
            return queue.now

        @staticmethod
        def sleep(seconds: float) -> None:
            queue.now += seconds

    monkeypatch.setattr(dead_letters, "time", Clock)


def everything(queue: FakeQueue) -> set[str]:
    return {str(number) for number in range(queue.count)}


def test_a_refused_batch_keeps_no_other_hidden_and_is_released_after_a_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queue = FakeQueue(25, refusals=iter([throttled()]))
    use_clock_of(monkeypatch, queue)
    census = queue.letters.look(Wanted(), 2)
    assert (census.looked, census.hidden) == (25, 0)
    assert queue.visible == everything(queue)
    assert queue.now == 1.0


def test_a_batch_that_is_refused_again_and_again_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    # The first of three batches, and then the one that is left of them, twice.
    queue = FakeQueue(25, refusals=iter([throttled(), None, None, throttled(), throttled()]))
    use_clock_of(monkeypatch, queue)
    assert queue.letters.look(Wanted(), 2).hidden == 10
    assert queue.visible == everything(queue) - {str(number) for number in range(10)}


@pytest.mark.parametrize(("code", "hidden"), [("InternalError", 1), ("ReceiptHandleIsInvalid", 0)])
def test_what_one_entry_of_a_batch_was_answered_is_read(
    monkeypatch: pytest.MonkeyPatch, code: str, hidden: int
) -> None:
    queue = FakeQueue(12, failing={"11": code})
    use_clock_of(monkeypatch, queue)
    assert queue.letters.look(Wanted(), 2).hidden == hidden


def test_a_receive_that_brings_only_what_is_known_is_not_the_end_and_each_comes_once() -> None:
    queue = FakeQueue(12, again=iter([["0", "1"], ["0", "1"], ["1", "2"]]))
    with queue.letters.held() as held:
        assert sorted(int(one.message_id) for one in held.letters()) == list(range(12))
    assert queue.received["1"] == 3


def test_a_queue_that_brings_only_what_is_known_for_ever_has_an_end() -> None:
    queue = FakeQueue(1, again=itertools.repeat(["0"]))
    with queue.letters.held() as held:
        assert [one.message_id for one in held.letters()] == ["0"]


def test_in_a_long_run_what_was_seen_stays_hidden_until_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = FakeQueue(40)
    use_clock_of(monkeypatch, queue)

    def slowly(_one: Letter, _census: object) -> None:
        queue.now += 20

    assert queue.letters.look(Wanted(), 2, each=slowly).looked == 40
    assert set(queue.received.values()) == {1}
    assert queue.visible == everything(queue)


def test_a_redrive_keeps_its_rate() -> None:
    queue = FakeQueue(4)
    sent_at: list[float] = []

    class Destination:
        def takes(self, _one: Letter) -> bool:
            return True

        def send(self, _one: Letter) -> None:
            sent_at.append(queue.now)
            queue.now += 0.1

    class NoMarks:
        def mark(self, one: Letter, now_ms: int) -> None: ...

    def sleep(seconds: float) -> None:
        queue.now += seconds

    marks: Any = NoMarks()
    pace = Pace(2, lambda: queue.now, sleep)
    done = redrive(queue.letters, everything(queue), Destination(), marks, pace, lambda _sent: None)
    assert done.sent == 4
    assert sent_at == [0.0, 0.5, 1.0, 1.5]
