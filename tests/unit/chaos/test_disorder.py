"""Copies of the stream: the seed's choice, in batches, and counted only where dispatch took them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from botocore.config import Config

from chaos.disorder import Disorder

if TYPE_CHECKING:
    import pytest

    from loadtest.target import Target


class Dispatch:
    """`invoke` of Lambda; fails the batches of these numbers."""

    def __init__(self, *failing: int) -> None:
        self.failing = failing
        self.batches: list[list[int]] = []

    def invoke(self, *, FunctionName: str, Qualifier: str, Payload: bytes) -> dict[str, str]:  # noqa: N803
        assert (FunctionName, Qualifier) == ("onceward-local_dispatch", "live")
        self.batches.append([one["n"] for one in json.loads(Payload)["Records"]])
        return {"FunctionError": "Unhandled"} if len(self.batches) - 1 in self.failing else {}


class Place:
    stage, receipts_table = "local", "receipts"

    def client_options(self) -> dict[str, Any]:
        return {"config": Config()}


def _disorder(monkeypatch: pytest.MonkeyPatch, dispatch: Dispatch, seed: int = 7) -> Disorder:
    made = Disorder(cast("Target", Place()), seed)
    monkeypatch.setattr(made, "_client", lambda name: dispatch)
    monkeypatch.setattr(made, "_due_records", lambda: [_record(number) for number in range(100)])
    return made


def _record(number: int) -> dict[str, Any]:
    return {"n": number, "dynamodb": {"Keys": {"pk": {"S": f"storm-a#{number}"}}}}


def _nothing() -> frozenset[str]:
    return frozenset()


def test_the_seed_and_the_occasion_choose_what_is_delivered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = []
    for seed, occasion in ((7, 0), (7, 0), (8, 0), (7, 1)):
        dispatch = Dispatch()
        copied = list(_disorder(monkeypatch, dispatch, seed).copy_stream(occasion, _nothing))
        assert copied == [len(batch) for batch in dispatch.batches]
        assert sum(copied) == len({number for batch in dispatch.batches for number in batch}) == 40
        assert max(copied) <= 10
        heard.append(dispatch.batches)
    assert heard[0] == heard[1]
    assert heard[0] != heard[2]
    assert heard[0] != heard[3]


def test_a_batch_that_dispatch_failed_was_not_delivered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    dispatch = Dispatch(1)
    copied = list(_disorder(monkeypatch, dispatch).copy_stream(0, _nothing))
    assert copied == [len(batch) for number, batch in enumerate(dispatch.batches) if number != 1]


def test_what_was_never_delivered_is_not_delivered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    dispatch = Dispatch()
    undelivered = frozenset(f"storm-a#{number}" for number in range(70))
    copied = list(_disorder(monkeypatch, dispatch).copy_stream(0, lambda: undelivered))
    assert sum(copied) == 30
    assert {number for batch in dispatch.batches for number in batch} == set(range(70, 100))
