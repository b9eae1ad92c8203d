"""What a lost answer at the wire does: the writes are made, and their maker does not hear of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench.operations import REMAINING_MS

if TYPE_CHECKING:
    from tests.integration.at_the_wire import AtTheWire

pytestmark = pytest.mark.platform


@pytest.mark.parametrize("operation", ["leads", "payments", "appointments"])
def test_a_lost_answer_of_the_first_write_is_recognised_as_an_own_write(
    at_the_wire: AtTheWire, operation: str
) -> None:
    operations = at_the_wire.operations()
    at_the_wire.wire.answers_to_lose = 1
    answer = operations.post(operation, "k")
    assert at_the_wire.wire.take()[:2] == ["PutItem", "PutItem"]
    assert (answer["statusCode"], "Idempotent-Replayed" in answer["headers"]) == (201, False)
    replay = operations.post(operation, "k")
    assert replay["headers"]["Idempotent-Replayed"] == "true"
    assert replay["body"] == answer["body"]


def test_when_every_answer_is_lost_it_is_503_and_the_retry_gets_the_stored_answer(
    at_the_wire: AtTheWire,
) -> None:
    operations = at_the_wire.operations()
    at_the_wire.wire.answers_to_lose = 2
    assert operations.post("leads", "k")["statusCode"] == 503
    assert at_the_wire.wire.take() == ["PutItem"] * 2
    assert operations.post("leads", "k")["headers"]["Idempotent-Replayed"] == "true"


def test_when_every_answer_of_the_claim_is_lost_it_is_503_and_the_claim_stands(
    at_the_wire: AtTheWire,
) -> None:
    operations = at_the_wire.operations()
    at_the_wire.wire.answers_to_lose = 2
    assert operations.post("payments", "k")["statusCode"] == 503
    running = operations.post("payments", "k")
    assert running["statusCode"] == 409
    assert 1 <= int(running["headers"]["Retry-After"]) <= (REMAINING_MS + 5_000) / 1000
    assert operations.provider.keys == []
