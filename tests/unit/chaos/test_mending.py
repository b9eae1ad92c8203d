"""The operator's steps: they bring back what the restart lost, and hide nothing that the platform lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from chaos import recovery
from chaos.losses import Losses, Open
from chaos.mending import Mending
from chaos.outcome import Outcome
from chaos.tally import Tally
from loadtest.verdict import Counts, Kind, Verdict, Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

A, B = "storm-a#k1", "storm-b#k2"


class Looks:
    """What each look at the receipts without a record finds; the last for ever."""

    def __init__(self, *looks: frozenset[str]) -> None:
        self.looks = list(looks)

    def unrecorded(self) -> frozenset[str]:
        return self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]


@pytest.fixture
def outcome(tmp_path: Path) -> Iterator[Outcome]:
    tally = Tally(tmp_path / "faults.log")
    yield Outcome(tally)
    tally.close()


@pytest.fixture
def replays(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Each `onceward dispatch replay`: whether it was with --republish."""
    done: list[bool] = []

    def replay(home: Path, *, republish: bool = False) -> int:
        done.append(republish)
        return 1

    monkeypatch.setattr(recovery, "replay", replay)
    monkeypatch.setattr(recovery, "redrive", lambda home, queues: dict.fromkeys(queues, 0))
    return done


def _mending(
    tmp_path: Path,
    *looks: frozenset[str],
    waiting: tuple[int, ...] = (0,),
    letters: tuple[dict[str, int], ...] = ({},),
) -> Mending:
    """`letters`: what is in the dead-letter queues, from one command to the next."""
    left, held = list(waiting), list(letters)

    def in_queue(name: str) -> int:
        found = held[0].get(name, 0)
        if name == recovery.REDRIVEN[-1] and len(held) > 1:
            held.pop(0)
        return found

    return Mending(
        tmp_path,
        cast("Losses", Looks(*looks)),
        waiting=lambda: left.pop(0) if len(left) > 1 else left[0],
        letters=in_queue,
        say=lambda line: None,
        pause=lambda seconds: None,
    )


def _verdict(*broken: Violation, counted: int | None = None) -> Verdict:
    by_kind: dict[str, int] = {}
    for one in broken:
        by_kind[one.kind.value] = counted or by_kind.get(one.kind.value, 0) + 1
    return Verdict(Counts(), broken, by_kind, events_checked=True, writes_per_key={})


def _lost_event(pk: str) -> Violation:
    tenant, _, key = pk.partition("#")
    return Violation(Kind.LOST_EVENT, tenant, key, "gone")


def test_what_the_restart_cut_off_is_brought_back_and_counted(
    tmp_path: Path, outcome: Outcome, replays: list[bool]
) -> None:
    _mending(tmp_path, frozenset({A})).replay(outcome, Open(frozenset({A, B}), frozenset({A, B})))
    assert replays == [False]
    assert outcome.lost == 1
    assert outcome.unexplained == ()


def test_a_record_that_is_missing_and_was_not_cut_off_is_dispatchs_own_loss(
    tmp_path: Path, outcome: Outcome, replays: list[bool]
) -> None:
    _mending(tmp_path, frozenset({A, B})).replay(outcome, Open(frozenset({A}), frozenset({A})))
    assert outcome.lost == 1
    assert outcome.unexplained == (B,)


def test_what_comes_by_itself_is_waited_for_and_nothing_is_replayed(
    tmp_path: Path, outcome: Outcome, replays: list[bool]
) -> None:
    _mending(tmp_path, frozenset({A, B}), frozenset({A}), frozenset()).replay(outcome, Open())
    assert replays == []
    assert outcome.lost == 0
    assert outcome.unexplained == ()


@pytest.mark.parametrize("kind", [Kind.LOST_EVENT, Kind.UNFINISHED_WORK])
def test_what_was_cut_off_after_its_record_is_published_again(
    tmp_path: Path, outcome: Outcome, replays: list[bool], kind: Kind
) -> None:
    outcome.verdict = _verdict(Violation(kind, "storm-a", "k1", "gone"))
    assert _mending(tmp_path, frozenset()).republish(outcome, Open(frozenset(), frozenset({A, B})))
    assert replays == [True]
    assert outcome.republished == 1


@pytest.mark.parametrize(
    ("verdict", "cut_off"),
    [
        (_verdict(), {A}),
        (_verdict(_lost_event(A)), set()),
        (_verdict(_lost_event(A), _lost_event(B)), {A}),
        (_verdict(_lost_event(A), counted=101), {A}),
        (_verdict(Violation(Kind.SECOND_WRITE, "storm-a", "k1", "two")), {A}),
    ],
    ids=["nothing is missing", "not cut off", "one of two was not", "not all are named", "another violation"],
)
def test_nothing_is_published_again_unless_the_restart_explains_all_that_is_missing(
    tmp_path: Path, outcome: Outcome, replays: list[bool], verdict: Verdict, cut_off: set[str]
) -> None:
    outcome.verdict = verdict
    mending = _mending(tmp_path, frozenset())
    assert not mending.republish(outcome, Open(frozenset(), frozenset(cut_off)))
    assert replays == []
    assert outcome.republished == 0


def test_letters_are_sent_back_once_the_queues_are_empty_until_there_are_none(
    tmp_path: Path, outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: tuple[dict[str, int], ...] = ({"orders-dlq": 2, "notify-dlq": 1}, {"orders-dlq": 1}, {})
    asked: list[list[str]] = []

    def redrive(home: Path, queues: Iterable[str]) -> dict[str, int]:
        sent = {name: held[len(asked)][name] for name in queues}
        asked.append(sorted(sent))
        return sent

    monkeypatch.setattr(recovery, "redrive", redrive)
    _mending(tmp_path, frozenset(), waiting=(3, 1, 0), letters=held).drain(outcome)
    assert outcome.redriven == dict.fromkeys(recovery.REDRIVEN, 0) | {"orders-dlq": 3, "notify-dlq": 1}
    assert asked == [["notify-dlq", "orders-dlq"], ["orders-dlq"], []]


def test_queues_that_never_empty_are_given_up(
    tmp_path: Path, outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "redrive", lambda home, queues: pytest.fail("work is still going on"))
    _mending(tmp_path, frozenset(), waiting=(1,)).drain(outcome)
    assert outcome.redriven == {}
