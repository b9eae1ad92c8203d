"""Queues as they are measured here; that messages are shown so is proved in tests/e2e/test_collecting.py."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from infra.naming import Names
from ops.observing import queues
from ops.observing.queues import Queues

if TYPE_CHECKING:
    from collections.abc import Mapping

NOW_S = 1_700_000_000
PREFIX = "http://sqs/000000000000/onceward-local_"


class FakeQueues:
    """Messages by queue, and how often is asked which queues there are."""

    def __init__(self) -> None:
        self.messages: dict[str, list[dict[str, Any]]] = {}
        self.asked = 0
        self.now = 0.0

    def list_queues(self, *, QueueNamePrefix: str) -> Mapping[str, Any]:  # noqa: N803
        assert QueueNamePrefix == "onceward-local_"
        self.asked += 1
        return {"QueueUrls": [PREFIX + name for name in self.messages]} if self.messages else {}

    def monotonic(self) -> float:
        return self.now

    def found(self, url: str) -> list[dict[str, Any]]:
        return self.messages[url.removeprefix(PREFIX)]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeQueues:
    made = FakeQueues()
    monkeypatch.setattr(queues, "time", made)
    monkeypatch.setattr(Queues, "_messages", lambda _self, url: made.found(url))
    return made


def looking(fake: FakeQueues) -> Queues:
    aws: Any = SimpleNamespace(sqs=fake)
    return Queues(aws, Names("local"))


def message(age_s: int = 0, received: int = 0, *, visible: bool = True) -> dict[str, Any]:
    return {"IsVisible": visible, "SentTimestamp": NOW_S - age_s, "ReceiveCount": received}


def told(looks: Queues, after_s: float = 0.0, *, sparing: bool = False) -> dict[str, tuple[float, ...]]:
    """(depth, hidden ones, age in seconds) by queue of a look at `NOW_S` and so many seconds."""
    found: dict[str, tuple[float, ...]] = {}
    for point in looks.look(int((NOW_S + after_s) * 1000), sparing=sparing):
        queue = dict(point.series.dimensions)["QueueName"].rpartition("_")[2]
        found[queue] = (*found.get(queue, ()), point.value)
    return found


def test_the_depth_is_of_what_can_be_received_and_the_age_is_the_oldests(fake: FakeQueues) -> None:
    fake.messages = {"orders": [message(30), message(90, visible=False)], "notify": []}
    assert told(looking(fake)) == {"orders": (1, 1, 90), "notify": (0, 0, 0)}


def test_what_was_received_often_has_no_age_but_where_it_stays(fake: FakeQueues) -> None:
    poisoned = [message(90, received=4), message(30)]
    fake.messages = {"orders": poisoned, "orders-dlq": poisoned}
    assert told(looking(fake)) == {"orders": (2, 0, 30), "orders-dlq": (2, 0, 90)}


def test_a_queue_whose_depth_stays_is_told_each_ten_seconds_and_another_at_once(fake: FakeQueues) -> None:
    looks = looking(fake)
    fake.messages = {"orders": [], "orders-dlq": [message()]}
    # In each ten seconds of the clock, though looks are no whole part of them.
    seen = [at for look in range(100) if told(looks, at := 2.6 * look, sparing=True)]
    assert [int(at // 10) for at in seen] == list(range(26))
    fake.messages["orders"].append(message())
    assert told(looks, 258, sparing=True) == {"orders": (1, 0, 258)}
    fake.messages["orders"].append(message(visible=False))
    assert told(looks, 258, sparing=True) == {"orders": (1, 1, 258)}
    assert told(looks, 258, sparing=True) == {}
    assert set(told(looks, 258)) == {"orders", "orders-dlq"}


def test_queues_that_come_and_go_with_an_update_are_seen_a_minute_later(fake: FakeQueues) -> None:
    looks = looking(fake)
    assert told(looks) == {}
    fake.messages = {"orders": []}
    assert set(told(looks)) == {"orders"}
    fake.messages = {"orders": [], "refunds": []}
    assert set(told(looks)) == {"orders"}
    fake.now = 60.0
    assert set(told(looks)) == {"orders", "refunds"}
    assert fake.asked == 3
