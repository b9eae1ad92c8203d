"""`execute` with effects of the test's own: what they may do wrong, and what is said of each request."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from handlers import execute
from handlers.adapters.receipt_item import to_item
from handlers.domain.effect import Attempt, Effected
from handlers.domain.errors import (
    EffectFailed,
    EffectUnknown,
    FinalRefusal,
    Refused,
    RequestInProgress,
    Unavailable,
)
from handlers.domain.receipt import Status
from handlers.operations.payments import PAYMENTS
from tests.builders import NOW_MS, in_progress
from tests.fakes.receipts import InMemoryReceipts
from tests.item_size import MAX_ITEM_BYTES, item_bytes
from tests.unit.handlers.payment_world import LEASE_MS, PAYMENT, Fault, World, created, problem, receipt_in

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[[Attempt], Effected]


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def effect(monkeypatch: pytest.MonkeyPatch) -> Callable[[Run], list[Attempt]]:
    """Make payments run this instead; returns the attempts that it was given."""

    def arrange(run: Run) -> list[Attempt]:
        attempts: list[Attempt] = []

        def bound(attempt: Attempt, /) -> Effected:
            attempts.append(attempt)
            return run(attempt)

        changed = replace(PAYMENTS, bind=lambda _: bound, answered=("result",))
        monkeypatch.setattr(execute, "BY_RESOURCE", {"/v1/payments": changed})
        return attempts

    return arrange


def raising(error: BaseException) -> Run:
    def run(_: Attempt) -> Effected:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (EffectFailed("no"), (502, "effect-failed")),
        (EffectUnknown("who knows"), (504, "effect-unknown")),
        (RequestInProgress(7), (409, "request-in-progress")),
        (Unavailable("slots", "Throttling"), (503, "store-unavailable")),
        (Refused("slots", "AccessDenied"), (503, "store-unavailable")),
        (ValueError("SECRET"), (500, "internal-error")),
        (RecursionError("SECRET"), (500, "internal-error")),
    ],
)
def test_whatever_an_effect_raises_its_claim_is_released_and_a_retry_runs_at_once(
    world: World, effect: Any, error: Exception, expected: tuple[int, str]
) -> None:
    effect(raising(error))
    answer = world.pay()
    assert problem(answer) == expected
    assert answer is not None
    assert "SECRET" not in answer["body"] + world.log.getvalue()
    assert (receipt_in(world).status, receipt_in(world).lease_until) == (Status.IN_PROGRESS, 0)
    attempts = effect(lambda _: Effected({"result": 1}))
    assert created(world.pay())["result"] == 1
    assert attempts[0].resumed
    assert attempts[0].generation == receipt_in(world).generation


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), GeneratorExit()])
def test_a_process_that_is_told_to_end_releases_its_claim(
    world: World, effect: Any, error: BaseException
) -> None:
    effect(raising(error))
    with pytest.raises(type(error)):
        world.pay()
    assert receipt_in(world).lease_until == 0


def test_every_attempt_of_a_window_has_the_same_keys_and_another_owner(world: World, effect: Any) -> None:
    attempts = effect(raising(EffectUnknown("?")))
    owners = []
    for _ in range(3):
        world.pay()
        owners.append(receipt_in(world).owner)
        world.now += 5
    assert len(set(owners)) == 3
    assert len({(each.downstream_key, each.record_id, each.generation) for each in attempts}) == 1
    assert [each.resumed for each in attempts] == [False, True, True]
    assert {each.created_at for each in attempts} == {NOW_MS}
    assert attempts[0].lease_until == NOW_MS + LEASE_MS
    assert attempts[0].seconds_left() == 28 - 0.015


def test_a_checkpoint_is_what_the_successor_gets_and_gone_with_the_answer(world: World, effect: Any) -> None:
    def saving(attempt: Attempt) -> Effected:
        attempt.save("first")
        attempt.save("second")
        raise EffectUnknown("?")

    effect(saving)
    world.pay()
    attempts = effect(lambda _: Effected({"result": 1}))
    created(world.pay())
    assert attempts[0].checkpoint == "second"
    assert receipt_in(world).checkpoint is None


@pytest.mark.parametrize("point", ["checkpoint", "complete"])
def test_a_write_whose_fate_is_unknown_is_503_and_does_not_release(
    world: World, effect: Any, point: str
) -> None:
    def saving(attempt: Attempt) -> Effected:
        attempt.save("x")
        return Effected({"result": 1})

    effect(saving)
    assert problem(world.pay(Fault(point, "refused"))) == (503, "store-unavailable")
    assert receipt_in(world).lease_until == NOW_MS + LEASE_MS
    assert "release" not in world.process.calls
    assert problem(world.pay()) == (409, "request-in-progress")


def test_a_final_refusal_of_a_new_operation_is_an_answer_too(world: World, effect: Any) -> None:
    effect(raising(FinalRefusal("not on Sundays")))
    first, again = world.pay(), world.pay()
    assert problem(first) == (409, "refused")
    assert first is not None
    assert again is not None
    assert "not on Sundays" in first["body"]
    assert (again["body"], again["headers"]["Idempotent-Replayed"]) == (first["body"], "true")


@pytest.mark.parametrize(
    "result",
    ["w" * 150_000, "w" * 300_000, "\ufffe" * 60_000, float("nan"), "\ud800", object(), {1, 2}],
    ids=["large", "too-large", "grows", "nan", "surrogate", "object", "set"],
)
def test_whatever_an_effect_gives_it_is_not_run_a_second_time(world: World, effect: Any, result: Any) -> None:
    attempts = effect(lambda _: Effected({"result": result}))
    first, again = world.pay(), world.pay()
    assert first is not None
    assert again is not None
    assert (first["statusCode"], again["statusCode"], len(attempts)) == (201, 201, 1)
    assert again["headers"]["Location"] == first["headers"]["Location"]
    assert again["body"] in {first["body"], ""}
    assert (again["body"] == "") == ("Idempotent-Body-Omitted" in again["headers"])
    receipt = receipt_in(world)
    assert item_bytes(to_item(receipt)) < MAX_ITEM_BYTES
    assert receipt.outbox is not None
    assert json.loads(receipt.outbox.document)["payment"] == PAYMENT


def test_an_effect_that_gives_not_what_is_answered_is_not_run_again(world: World, effect: Any) -> None:
    attempts = effect(lambda _: Effected({}))
    first, again = world.pay(), world.pay()
    assert first is not None
    assert again is not None
    assert (first["statusCode"], first["body"], len(attempts)) == (201, "", 1)
    assert again["headers"]["Idempotent-Body-Omitted"] == "too-large"


def test_an_event_that_would_be_too_large_is_413_before_anything_is_written(world: World) -> None:
    world.body_limit_bytes = 300_000
    assert problem(world.pay(note="w" * 239_500)) == (413, "body-too-large")
    assert world.process.calls == []
    created(world.pay(note="w" * 239_000))


@pytest.mark.parametrize(
    ("tier", "own", "limit"), [(131_072, 200, 200), (200, 131_072, 200), (200, None, 200), (200, 199, 199)]
)
def test_a_tenant_s_own_body_limit_lowers_the_tier_s(
    world: World, tier: int, own: int | None, limit: int
) -> None:
    world.body_limit_bytes = tier
    world.operation_settings["payments"] = {
        "windowSeconds": 10,
        "keySource": "header",
        "options": world.options,
        **({} if own is None else {"bodyLimitBytes": own}),
    }
    size = len(json.dumps({**PAYMENT, "note": ""}))
    assert problem(world.pay(note="w" * (limit - size + 1))) == (413, "body-too-large")
    created(world.pay(note="w" * (limit - size)))


def test_who_is_beaten_each_time_gives_up_with_503(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    store = world.store
    assert isinstance(store, InMemoryReceipts)
    created(world.pay())
    fingerprint = receipt_in(world).fingerprint
    takeovers = iter(range(100))

    def beaten(*_: Any) -> Any:
        from handlers.domain.ports import Held

        return Held(in_progress(fingerprint=fingerprint, lease_until=0, owner=f"rival-{next(takeovers)}"))

    store.items["acme", "k"] = in_progress(fingerprint=fingerprint, lease_until=0)
    monkeypatch.setattr(store, "take_over", beaten)
    assert problem(world.pay()) == (503, "store-unavailable")
    assert world.process.calls == ["put", "take_over", "take_over", "take_over"]


def test_a_claim_that_is_gone_when_it_is_taken_over_is_claimed_anew_with_the_original_arrival(
    world: World,
) -> None:
    world.pay(Fault("charge", "kill-before"))
    first = receipt_in(world)
    world.now += LEASE_MS
    store = world.store
    assert isinstance(store, InMemoryReceipts)
    body = created(world.pay(Fault("take_over", "before", store.items.clear)))
    assert world.process.calls == ["put", "take_over", "put", "charge", "complete"]
    assert receipt_in(world).created_at == NOW_MS + LEASE_MS
    assert receipt_in(world).generation != first.generation
    assert [charge["id"] for charge in world.charges()] == [body["chargeId"]]


@pytest.mark.parametrize(
    ("window_over", "abandoned"), [(False, False), (True, True)], ids=["window-open", "window-over"]
)
def test_another_request_s_unfinished_claim_stands_until_its_window_is_over(
    world: World, window_over: bool, abandoned: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    world.pay(Fault("charge", "kill-before"))
    world.now += 86_400_000 if window_over else LEASE_MS + 1
    capsys.readouterr()
    answer = world.pay(amount=1)
    assert ('"Abandoned":[1.0]' in capsys.readouterr().out) == abandoned
    if abandoned:
        assert created(answer)["amount"] == 1
    else:
        assert problem(answer) == (422, "key-reused")


def test_an_unknown_resource_is_404_and_one_line(world: World) -> None:
    assert problem(world.post("/v1/nothing", PAYMENT, "k")) == (404, "not-found")
    assert world.process.calls == []


def test_without_a_key_it_is_400_and_nothing_is_written(world: World) -> None:
    assert problem(world.post("/v1/payments", PAYMENT)) == (400, "invalid-key")
    assert world.process.calls == []


def test_the_time_that_is_left_is_asked_for_after_what_a_cold_start_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order: list[str] = []

    class Context:
        def get_remaining_time_in_millis(self) -> int:
            order.append("time")
            return 1

    monkeypatch.setattr(execute, "_dependencies", lambda: order.append("cold start"))
    monkeypatch.setattr(execute, "respond", lambda *_: {"asked": list(order)})
    assert execute.handler({}, Context()) == {"asked": ["cold start", "time"]}
