"""What the conductor waits for before it takes a fault back, or stops the local AWS."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from chaos import conduct
from chaos.conduct import Conductor
from chaos.disorder import DELAY_SECONDS
from chaos.faults import Kind, Schedule
from chaos.script import Act, Occasion
from chaos.tally import Tally
from chaos.wires import Wires

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from chaos.conduct import Stage


@pytest.fixture
def wires(tmp_path: Path) -> Iterator[Wires]:
    tally = Tally(tmp_path / "faults.log")
    yield Wires(Schedule(7), tally, "127.0.0.1:9", lambda port: False)
    tally.close()


def _conductor(wires: Wires, **parts: Any) -> Conductor:
    stage = SimpleNamespace(wires=wires, platform=None, emulator=None, disorder=None, losses=None)
    stage.__dict__.update(parts)
    return Conductor(cast("Stage", stage), lambda line: None)


def _at_each_look(monkeypatch: pytest.MonkeyPatch, *steps: Callable[[], object]) -> list[object]:
    """What happens meanwhile: a step at each look that found it not so yet."""
    left, done = list(steps), []

    def sleep(seconds: float) -> None:
        done.append(left.pop(0)())

    monkeypatch.setattr(conduct, "time", SimpleNamespace(sleep=sleep))
    return done


def test_an_outage_ends_only_when_dispatch_has_met_it(wires: Wires, monkeypatch: pytest.MonkeyPatch) -> None:
    wires.tally.add(Kind.HELD)  # of an earlier one
    conductor = _conductor(wires)
    conductor._act(Occasion(1, Act.OUTAGE))
    assert wires.held == {"dispatch"}

    def meet() -> set[str]:
        wires.tally.add(Kind.HELD)
        return wires.held.copy()

    looks = _at_each_look(monkeypatch, meet, meet, meet, meet)
    conductor._act(Occasion(2, Act.RECOVER))
    assert looks == [{"dispatch"}] * 4
    assert wires.held == set()


def test_the_local_aws_is_stopped_only_when_its_stream_holds_a_record(
    wires: Wires, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing: set[str] = {"a#1"}
    losses = SimpleNamespace(unrecorded=lambda: frozenset(missing))
    conductor = _conductor(wires, losses=losses, disorder=SimpleNamespace(parked=lambda: 1))
    begun: list[int] = []
    monkeypatch.setattr(conductor, "_restart", lambda: begun.append(len(missing)))
    conductor._act(Occasion(1, Act.HOLD_DISPATCH))
    met = partial(wires.tally.add, Kind.HELD, times=4)
    looks = _at_each_look(monkeypatch, met, lambda: missing.add("a#2"))
    conductor._act(Occasion(2, Act.RESTART))
    for thread in conductor._threads:
        thread.join()
    assert len(looks) == 2
    assert begun == [2]


def test_nothing_is_waited_for_once_the_storm_is_over(wires: Wires) -> None:
    conductor = _conductor(wires)
    conductor._storms = lambda: False
    conductor._act(Occasion(1, Act.OUTAGE))
    conductor._act(Occasion(2, Act.RECOVER))
    assert wires.held == set()


def test_what_is_sent_while_the_delay_of_the_queues_changes_is_not_compared(wires: Wires) -> None:
    seen: list[tuple[int, int | None]] = []
    disorder = SimpleNamespace(delay_queues=lambda seconds: seen.append((seconds, wires.sends.delay)))
    conductor = _conductor(wires, disorder=disorder)
    conductor._act(Occasion(1, Act.DELAY_QUEUES))
    assert wires.sends.delay == DELAY_SECONDS
    conductor._act(Occasion(2, Act.FLOW_QUEUES))
    assert wires.sends.delay == 0
    assert seen == [(DELAY_SECONDS, None), (0, None)]


def test_afterwards_no_fault_is_left(wires: Wires) -> None:
    delays: list[int] = []
    conductor = _conductor(wires, disorder=SimpleNamespace(delay_queues=delays.append))
    for act in (Act.ARM, Act.DELAY_QUEUES, Act.HOLD_DISPATCH):
        conductor._act(Occasion(1, act))
    conductor._calm()
    assert not wires.armed.is_set()
    assert wires.held == set()
    assert delays == [DELAY_SECONDS, 0]
