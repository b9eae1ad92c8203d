"""Payments whose processes die, and whose answers get lost, at every point: one charge, and no key stuck."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws

from handlers.adapters.receipts import DynamoDbReceipts
from handlers.domain.ports import Done, OwnersOutcome
from ops.local.stand_in.answer import Answer
from ops.local.stand_in.provider import Provider
from tests.contract.conftest import make_table
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.payment_world import LEASE_MS, Fault, World, problem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from handlers.domain.ports import PutOutcome
    from handlers.domain.protocol import Claim
    from handlers.domain.receipt import Receipt

KINDS = ("kill-before", "kill-after", "refused", "lost")
STORE_KINDS = (*KINDS, "resent")
# What goes wrong in one process. A release is reached only after something else went wrong.
FIRST = [
    *([Fault(point, kind)] for point in ("put", "complete") for kind in STORE_KINDS),
    *([Fault("charge", kind)] for kind in KINDS),
    *([Fault("charge", "lost"), Fault("release", kind)] for kind in STORE_KINDS),
]
AT_THE_CHECKPOINT = [[Fault("checkpoint", kind)] for kind in STORE_KINDS]
CHARGED = [
    *([Fault("charge", kind)] for kind in ("kill-after", "lost")),
    *([Fault("complete", kind)] for kind in STORE_KINDS),
]
# What then goes wrong in its successor.
SECOND = [
    [],
    *([Fault("take_over", kind)] for kind in STORE_KINDS),
    *([Fault("charge", kind)] for kind in (*KINDS, "denied")),
    *([Fault("complete", kind)] for kind in ("kill-before", "kill-after", "lost")),
]


def named(faults: list[Fault]) -> str:
    return "+".join(f"{fault.point}-{fault.kind}" for fault in faults)


@pytest.fixture(autouse=True)
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Metrics are half of what these thousands of requests cost; others test them."""
    monkeypatch.setattr("handlers.adapters.metrics.emit", lambda *_: None)


def lived_through(world: World, *processes: list[Fault]) -> list[dict[str, Any] | None]:
    """The answers of processes that fail like that, each when the lease of the one before it is over.

    Then of one that does not fail, and of a duplicate.
    """
    answers = []
    for faults in processes:
        answers.append(world.pay(*faults))
        answers.append(early(world, answers[-1], faults))
        world.now += LEASE_MS
    return [*answers, world.pay(), world.pay()]


def early(world: World, first: dict[str, Any] | None, faults: list[Fault]) -> dict[str, Any] | None:
    """A successor that comes at once: served, or told when the lease of the one that failed is over."""
    world.now += 1
    answer = world.pay()
    assert answer is not None
    if answer["statusCode"] == 409:
        assert problem(answer)[1] == "request-in-progress"
        assert 1 <= int(answer["headers"]["Retry-After"]) <= LEASE_MS / 1000
        unreleased = any(fault.point == "release" and fault.kind == "refused" for fault in faults)
        assert first is None or first["statusCode"] == 503 or unreleased
    return answer


def violations(world: World, answers: Sequence[dict[str, Any] | None]) -> list[str]:
    """Everything that must not be: the checker of the matrix."""
    found = []
    if len(world.charges()) != 1:
        found.append(f"{len(world.charges())} charges")
    done = [answer for answer in answers if answer is not None and answer["statusCode"] == 201]
    if world.untrue_502s:
        found.append("a 502 although a charge exists")
    if len({answer["body"] for answer in done}) > 1:
        found.append("two different 201s")
    charges = [charge["id"] for charge in world.charges()]
    if any(json.loads(answer["body"])["chargeId"] != charges[0] for answer in done):
        found.append("an answer with another charge than the first")
    last = answers[-2:]
    if any(answer is None or answer["statusCode"] != 201 for answer in last):
        found.append("a key that is stuck beyond its lease")
    if last[1] is not None and "Idempotent-Replayed" not in last[1]["headers"]:
        found.append("a duplicate that is no replay")
    return found


@pytest.mark.parametrize("first", FIRST, ids=named)
def test_whatever_happens_to_two_processes_there_is_one_charge_and_the_retry_gets_it(
    first: list[Fault],
) -> None:
    for second in SECOND:
        world = World()
        assert violations(world, lived_through(world, first, second)) == [], second


@pytest.mark.parametrize("first", [*FIRST, *AT_THE_CHECKPOINT], ids=named)
def test_with_a_checkpoint_it_is_the_same(first: list[Fault]) -> None:
    for second in SECOND:
        world = World(checkpoint=True)
        assert violations(world, lived_through(world, first, second)) == [], second


def test_over_the_table_it_is_the_same() -> None:
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        for faults in [*FIRST, *AT_THE_CHECKPOINT]:
            world = World(DynamoDbReceipts(make_table(client, "receipts"), client), checkpoint=True)
            assert violations(world, lived_through(world, faults)) == [], named(faults)


@pytest.mark.parametrize("faults", CHARGED, ids=named)
def test_a_provider_that_has_forgotten_is_asked_and_charges_no_second_time(faults: list[Fault]) -> None:
    world = World(honoursSeconds=60)
    answers = [world.pay(*faults)]
    # More than it remembers: sent again, it would charge again.
    world.provider.forgotten_after_seconds = 60
    world.now += 60_000
    answers += [world.pay(), world.pay()]
    assert violations(world, answers) == []
    assert [method for method, _, _ in world.sent].count("POST") == 1


class Ignorant(Provider):
    """A provider that ignores keys."""

    def _claimed(self, account: str, key: str, body_hash: str) -> None:
        return None


class Refusing(Provider):
    """A provider that answers 4xx to whoever comes second, as one does whose rate is used up."""

    def _claimed(self, account: str, key: str, body_hash: str) -> Answer | None:
        known = super()._claimed(account, key, body_hash)
        return None if known is None else Answer(429, {})


class Deleting(InMemoryReceipts):
    """A store whose release deletes the claim."""

    def release(self, owned: Receipt) -> OwnersOutcome:
        self.items.pop((owned.tenant_id, owned.key), None)
        return Done()


class Overwriting(InMemoryReceipts):
    """A store that makes a new claim of a lapsed one, with a generation of its own."""

    def put(self, receipt: Receipt, claim: Claim) -> PutOutcome:
        existing = self.items.get((receipt.tenant_id, receipt.key))
        if existing is not None and existing.response is None and existing.lease_until <= claim.clock_ms:
            del self.items[receipt.tenant_id, receipt.key]
        return super().put(receipt, claim)


@pytest.mark.parametrize(
    "world",
    [
        lambda: World(provider=Ignorant),
        lambda: World(Deleting()),
        lambda: World(Overwriting()),
    ],
    ids=["provider-ignores-keys", "release-deletes", "lapsed-claim-overwritten"],
)
def test_the_checker_sees_a_second_charge_where_a_part_is_broken(world: Callable[[], World]) -> None:
    found: set[str] = set()
    for faults in FIRST:
        broken = world()
        found |= set(violations(broken, lived_through(broken, faults)))
    assert "2 charges" in found


@pytest.mark.parametrize("first", CHARGED, ids=named)
def test_a_provider_that_refuses_its_key_s_second_request_makes_nobody_say_that_nothing_happened(
    first: list[Fault],
) -> None:
    for second in SECOND:
        world = World(provider=Refusing)
        lived_through(world, first, second)
        assert (world.untrue_502s, len(world.charges()) <= 1) == (0, True), second


def test_the_checker_sees_a_502_that_is_untrue(monkeypatch: pytest.MonkeyPatch) -> None:
    # Before a resumed attempt's failure was told as unknown.
    monkeypatch.setattr("handlers.domain.execute._Run._failed", _as_it_was)
    world = World()
    answers = lived_through(world, [Fault("charge", "kill-after")], [Fault("charge", "refused")])
    assert violations(world, answers) == ["a 502 although a charge exists"]


def _as_it_was(run: Any, failed: Exception) -> None:
    run._release()
    raise failed


def test_the_checker_sees_a_key_that_is_stuck() -> None:
    world = World()
    answers = [world.pay(Fault("charge", "kill-before")), world.pay(), world.pay()]
    assert "a key that is stuck beyond its lease" in violations(world, answers)
