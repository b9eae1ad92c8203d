"""Overtaking is counted where it happens, and nowhere else."""

from __future__ import annotations

from chaos.sends import Sends

QUEUE = "onceward-local_orders"


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_what_is_sent_after_a_delay_overtakes_what_was_delayed() -> None:
    clock = Clock()
    sends = Sends([QUEUE], clock)
    sends.delay = 5
    assert not sends.overtakes(QUEUE, 5)
    sends.delay = 0
    clock.now += 4.9
    assert sends.overtakes(QUEUE, 0)


def test_nothing_overtakes_a_message_that_is_to_be_seen_already() -> None:
    clock = Clock()
    sends = Sends([QUEUE], clock)
    sends.delay = 5
    sends.overtakes(QUEUE, 5)
    sends.delay = 0
    clock.now += 5.1
    assert not sends.overtakes(QUEUE, 0)


def test_messages_that_are_all_delayed_keep_their_order() -> None:
    sends = Sends([QUEUE], Clock())
    sends.delay = 5
    assert not sends.overtakes(QUEUE, 5)
    assert not sends.overtakes(QUEUE, 5)


def test_a_message_that_was_sent_while_the_delay_changed_says_nothing() -> None:
    sends = Sends([QUEUE], Clock())
    sends.delay = 5
    sends.overtakes(QUEUE, 5)
    sends.delay = None
    assert not sends.overtakes(QUEUE, None)
    sends.delay = 0
    assert not sends.overtakes(QUEUE, 5)


def test_another_queue_has_an_order_of_its_own_or_none() -> None:
    sends = Sends([QUEUE, "onceward-local_webhooks"], Clock())
    sends.delay = 5
    sends.overtakes(QUEUE, 5)
    sends.delay = 0
    assert not sends.overtakes("onceward-local_webhooks", 0)
    assert not sends.overtakes("dispatch-retry", 0)
