"""The collector: it never disturbs what it watches, and loses nothing of what it has read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from infra.naming import Names
from loadtest.target import Target
from ops.local.emulator import Endpoint, free_port
from ops.observing import collecting, keeping
from ops.observing.collecting import Collector, Sources, endpoint_at
from ops.observing.keeping import METRICS, observed
from ops.observing.logs_seen import LogsSeen
from ops.observing.queues import Queues
from ops.observing.series import Point, Unit
from tests.unit.observing.builders import END, START, accepted
from tests.unit.observing.test_answered import invocation

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


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is looked at, instead of a platform: each look at the logs takes a second."""
    made: list[str] = []
    clock = Clock()

    def queues(_self: Queues, _now_ms: int) -> Iterator[Point]:
        made.append("queues")
        clock.now += 2.5
        yield POINT

    def logs(_self: LogsSeen) -> list[Point]:
        made.append("logs")
        clock.now += 1
        return [POINT]

    monkeypatch.setattr(Queues, "look", queues)
    monkeypatch.setattr(LogsSeen, "new", logs)
    monkeypatch.setattr(collecting, "time", clock)
    return made


def test_a_platform_that_is_gone_is_nothing_to_see_and_no_trouble(store: MetricStore) -> None:
    collector = Collector(nobody(), store)
    assert collector.collect() == 0
    assert collector.trouble is None


def test_what_goes_wrong_is_kept_to_be_told_and_the_next_look_goes_on(
    store: MetricStore, looks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_self: LogsSeen) -> list[Point]:
        raise ValueError("not in the embedded metric format")

    collector = Collector(nobody(), store)
    with monkeypatch.context() as patched:
        patched.setattr(LogsSeen, "new", broken)
        assert collector.collect() == 0
    assert collector.trouble == "ValueError: not in the embedded metric format"
    assert collector.collect() == 2
    assert store.read(accepted(), "Sum", 60, START, END) == [(START, 2.0)]
    assert looks == ["queues", "queues", "logs"]


def test_logs_are_looked_through_the_less_often_the_longer_it_takes(
    store: MetricStore, looks: list[str]
) -> None:
    collector = Collector(nobody(), store)
    for _ in range(40):
        collector._look(whole=False)
    # A second in fifty: 40 looks at the queues are 100 s.
    assert (looks.count("queues"), looks.count("logs")) == (40, 2)


def test_a_look_that_is_asked_for_is_at_everything(store: MetricStore, looks: list[str]) -> None:
    collector = Collector(nobody(), store)
    for _ in range(3):
        collector.collect()
    assert looks == ["queues", "logs"] * 3


def test_the_last_look_is_at_everything(store: MetricStore, looks: list[str]) -> None:
    with Collector(nobody(), store):
        pass
    assert looks[-2:] == ["queues", "logs"]


def test_what_was_read_before_an_error_comes_with_the_next_look(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[list[Any]] = [[invocation("ingest"), ConnectionError("gone")], [invocation("execute")]]

    def invocations(_self: LogsSeen) -> Iterator[Any]:
        for one in reads.pop(0):
            if isinstance(one, Exception):
                raise one
            yield one

    monkeypatch.setattr(LogsSeen, "_invocations", invocations)
    monkeypatch.setattr(LogsSeen, "_filters", lambda _self: [])
    aws: Any = None
    logs = LogsSeen(aws, Names("local"), None, 0)
    with pytest.raises(ConnectionError):
        logs.new()
    functions = {dict(point.series.dimensions).get("FunctionName") for point in logs.new()} - {None}
    assert functions == {"onceward-local_ingest", "onceward-local_execute"}


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
    tmp_path: Path, looks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_self: LogsSeen) -> list[Point]:
        raise ValueError("no such thing")

    monkeypatch.setattr(LogsSeen, "new", broken)
    monkeypatch.setattr(keeping, "_keep", lambda *_: None)
    said: list[str] = []
    with observed(target(f"http://127.0.0.1:{free_port()}"), tmp_path, tmp_path, said.append):
        pass
    assert said == ["Not all metrics could be collected: ValueError: no such thing"]
    assert looks
