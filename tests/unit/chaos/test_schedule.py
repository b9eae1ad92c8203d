"""The schedule of faults: from the seed alone, and with every kind in it."""

from __future__ import annotations

import pytest

from chaos.faults import BY_CALL, QUEUEING, Fault, Kind, Schedule
from chaos.refusing import SERVICES
from chaos.script import Act, script

# What a function sends in a run of the default size: a few hundred calls of each service it uses.
_CALLS = 1_000


def _faults(seed: int, function: str = "dispatch", service: str = "sqs") -> list[Fault | None]:
    schedule = Schedule(seed)
    return [schedule.of_call(function, service, number) for number in range(_CALLS)]


def test_the_same_seed_gives_the_same_fault_to_the_same_call_whatever_was_asked_before() -> None:
    backwards = [Schedule(7).of_call("dispatch", "sqs", number) for number in reversed(range(_CALLS))]
    assert _faults(7) == backwards[::-1]


def test_another_seed_function_or_service_has_another_schedule() -> None:
    assert len({tuple(map(str, _faults(*which))) for which in (
        (7,), (8,), (7, "deliver"), (7, "dispatch", "sns"),
    )}) == 4  # fmt: skip


def test_a_small_storm_has_every_kind_of_a_call() -> None:
    for seed in range(20):
        sent, stored = _faults(seed, service="sns")[:40], _faults(seed, "ingest", "dynamodb")[:40]
        assert {fault.kind for fault in sent if fault} == BY_CALL
        assert {fault.kind for fault in stored if fault} == BY_CALL - {Kind.COPY}


def test_every_kind_occurs_later_on_too_and_most_calls_pass() -> None:
    found = _faults(3)
    assert {fault.kind for fault in found if fault} == BY_CALL
    assert found.count(None) > _CALLS / 2


@pytest.mark.parametrize("service", sorted(SERVICES - QUEUEING))
def test_only_a_message_is_sent_twice(service: str) -> None:
    assert Kind.COPY not in {fault.kind for fault in _faults(3, service=service) if fault}


def test_a_delay_has_seconds_and_what_is_refused_has_none() -> None:
    for fault in filter(None, _faults(5)):
        assert (fault.seconds > 0) == (fault.kind in {Kind.LATENCY, Kind.LATE_EFFECT, Kind.COPY})


def test_the_script_is_the_seeds_and_has_every_act_in_order() -> None:
    occasions = script(Schedule(9), 2_500)
    assert occasions == script(Schedule(9), 2_500)
    assert {one.act for one in occasions} == set(Act)
    assert [one.attempts for one in occasions] == sorted(one.attempts for one in occasions)
    assert len({script(Schedule(seed), 2_500) for seed in range(5)}) > 1


def test_dispatch_is_held_before_the_restart_and_the_queues_flow_again_at_the_end() -> None:
    for seed in range(20):
        acts = [one.act for one in script(Schedule(seed), 600)]
        assert acts.index(Act.HOLD_DISPATCH) < acts.index(Act.RESTART)
        changes = [act for act in acts if act in {Act.DELAY_QUEUES, Act.FLOW_QUEUES}]
        assert changes == [Act.DELAY_QUEUES, Act.FLOW_QUEUES] * (len(changes) // 2)
