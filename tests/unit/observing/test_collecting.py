"""The collector: it never disturbs what it watches, and loses nothing of what it has read."""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING

import pytest

from loadtest.target import Target
from ops.local.emulator import Endpoint, free_port
from ops.observing import collecting, keeping
from ops.observing.collecting import Collector, Sources, endpoint_at
from ops.observing.keeping import observed
from ops.observing.kept_files import METRICS
from ops.observing.logs_seen import LogsSeen
from ops.observing.queues import Queues
from ops.observing.series import Point, Unit
from tests.unit.observing.builders import END, START, accepted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ops.observing.store import MetricStore

POINT = Point(accepted(), Unit.COUNT, START, 1)


def nobody() -> Sources:
    """A platform that is not there."""
    return Sources(Endpoint(free_port(), "id", "secret"), "us-east-1", "local")


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def time_ns(self) -> int:
        return int(self.now * 1e9)


class Looks(list[str]):
    """What was looked at, by name, in order; `seconds`: how long each of the next looks at the logs takes."""

    seconds: Iterator[float] = repeat(1.0)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    """What is looked at, instead of a platform, on a clock of its own."""
    made = Looks()
    clock = Clock()

    def queues(_self: Queues, _now_ms: int, *, sparing: bool) -> Iterator[Point]:
        made.append("queues, sparingly" if sparing else "queues")
        clock.now += 2.5
        yield POINT

    def logs(_self: LogsSeen) -> Iterator[list[Point]]:
        made.append("logs")
        clock.now += next(made.seconds)
        yield [POINT]

    monkeypatch.setattr(Queues, "look", queues)
    monkeypatch.setattr(LogsSeen, "new", logs)
    monkeypatch.setattr(collecting, "time", clock)
    return made


def broken(*_args: object, **_options: object) -> Iterator[list[Point]]:
    raise ValueError("no such thing")


def test_a_platform_that_is_gone_is_nothing_to_see_and_no_trouble(store: MetricStore) -> None:
    collector = Collector(nobody(), store)
    assert collector.collect() == 0
    assert collector.trouble is None
    assert collector.gone


def test_what_goes_wrong_is_kept_to_be_told_and_the_next_look_goes_on(
    store: MetricStore, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector = Collector(nobody(), store)
    with monkeypatch.context() as patched:
        patched.setattr(LogsSeen, "new", broken)
        assert collector.collect() == 1  # the queue's
    assert collector.trouble == "ValueError: no such thing"
    assert not collector.gone
    assert collector.collect() == 2
    assert store.read(accepted(), "Sum", 60, START, END) == [(START, 3.0)]
    assert looks == ["queues", "queues", "logs"]


def test_queues_that_cannot_be_looked_at_keep_nobody_from_the_logs(
    store: MetricStore, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Queues, "look", broken)
    collector = Collector(nobody(), store)
    assert collector.collect() == 1
    assert collector.trouble == "ValueError: no such thing"
    assert looks == ["logs"]


def test_a_file_that_cannot_be_read_is_trouble_and_no_platform_that_is_gone(
    store: MetricStore, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(_self: LogsSeen) -> Iterator[list[Point]]:
        raise PermissionError("history-1.jsonl")

    monkeypatch.setattr(LogsSeen, "new", unreadable)
    collector = Collector(nobody(), store)
    collector.collect()
    assert (collector.trouble, collector.gone) == ("PermissionError: history-1.jsonl", False)
    assert looks == ["queues"]


def logs_among(collector: Collector, looks: Looks, count: int) -> list[int]:
    """In which of so many looks, 2.5 s after each other, the logs were looked through."""
    for _ in range(count):
        collector._look(whole=False)
    queues = [place for place, look in enumerate(looks) if look != "logs"]
    return [queues.index(place - 1) for place, look in enumerate(looks) if look == "logs"]


def test_logs_are_looked_through_the_less_often_the_longer_it_takes(store: MetricStore, looks: Looks) -> None:
    looks.seconds = repeat(0.19)
    # A fiftieth of the time: 9.5 s, four looks at the queues, after each but the first.
    assert logs_among(Collector(nobody(), store), looks, 14) == [0, 1, 5, 9, 13]


def test_however_long_a_look_takes_the_next_is_soon(store: MetricStore, looks: Looks) -> None:
    looks.seconds = repeat(60.0)
    assert logs_among(Collector(nobody(), store), looks, 14) == [0, 1, 7, 13]


def test_the_first_look_at_all_that_there_is_puts_off_no_other(store: MetricStore, looks: Looks) -> None:
    looks.seconds = chain([5.0], repeat(0.01))
    assert logs_among(Collector(nobody(), store), looks, 4) == [0, 1, 2, 3]


def test_queues_are_told_sparingly_unless_a_look_is_asked_for(store: MetricStore, looks: Looks) -> None:
    collector = Collector(nobody(), store)
    collector._look(whole=False)
    collector.collect()
    assert looks == ["queues, sparingly", "logs", "queues", "logs"]


def test_what_was_measured_more_than_a_day_ago_is_dropped(
    store: MetricStore, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(collecting, "time", clock)
    collector = Collector(nobody(), store)
    day = 86_400
    store.put_all([Point(accepted(), Unit.COUNT, at * 1000, 1) for at in (0, 100 + 600, day)])
    clock.now = 100 + 600 + day
    collector.collect()
    assert store.span() == (700_000, START)
    assert looks == ["queues", "logs"]


def test_a_look_that_is_asked_for_is_at_everything(store: MetricStore, looks: Looks) -> None:
    collector = Collector(nobody(), store)
    for _ in range(3):
        collector.collect()
    assert looks == ["queues", "logs"] * 3


def test_the_last_look_is_at_everything(store: MetricStore, looks: Looks) -> None:
    with Collector(nobody(), store):
        pass
    assert looks[-2:] == ["queues", "logs"]


def test_a_url_without_a_port_is_not_the_local_aws() -> None:
    assert endpoint_at("http://127.0.0.1:4566", "id", "secret") == Endpoint(4566, "id", "secret")
    with pytest.raises(ValueError, match="has no port"):
        endpoint_at("https://dynamodb.us-east-1.amazonaws.com", "id", "secret")


def target(endpoint_url: str | None) -> Target:
    return Target(
        api_url="http://api",
        region="us-east-1",
        stage="local",
        receipts_table="r",
        records_table="r",
        tenants_table="t",
        tenants={},
        audit_queues={},
        tenant_ids=frozenset(),
        endpoint_url=endpoint_url,
        credentials=None if endpoint_url is None else ("id", "secret"),
    )


def test_a_stage_on_aws_has_cloudwatch_and_nothing_is_collected(tmp_path: Path) -> None:
    with observed(target(None), tmp_path, tmp_path, pytest.fail):
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_kept_is_told_and_the_block_ends_as_it_would(tmp_path: Path) -> None:
    said: list[str] = []
    gone = target(f"http://127.0.0.1:{free_port()}")
    with pytest.raises(KeyError, match="of the block"), observed(gone, tmp_path, tmp_path, said.append):
        raise KeyError("of the block")
    assert len(said) == 1
    assert said[0].startswith("No dashboards of this run")
    assert (tmp_path / METRICS).exists()


def test_trouble_is_told_when_the_block_has_ended(
    tmp_path: Path, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LogsSeen, "new", broken)
    monkeypatch.setattr(keeping, "_keep", lambda *_: None)
    said: list[str] = []
    with observed(target(f"http://127.0.0.1:{free_port()}"), tmp_path, tmp_path, said.append):
        pass
    assert said == ["Not all metrics could be collected: ValueError: no such thing"]
    assert looks
