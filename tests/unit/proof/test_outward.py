"""Accept mode and what follows from it: the search finds what breaks, by the promise that is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from ops.replay import Found as Looked
from proof.accepting import OTHER_LEAD, accepted, lead, order, outward
from proof.queues import AskingTopics, Published
from proof.requests import ingested, unmeasured
from proof.search import search
from proof.telling import told

if TYPE_CHECKING:
    from collections.abc import Callable

    from proof.programs import Life
    from proof.requests import Sent
    from proof.scenario import Scenario
    from proof.search import Found


def _found(scenario: Scenario) -> Found:
    with unmeasured():
        return search(scenario)


@pytest.mark.parametrize(
    "scenario",
    [
        accepted([lead()] * 2, 2),
        accepted([lead(), lead(OTHER_LEAD)], 2),
        accepted([lead(), lead(tenant="brook")], 2),
        accepted([lead()] * 2, 2, skews_ms=(3_000, -2_000)),
        outward([lead()], 2),
        outward([order()], 2),
    ],
    ids=lambda scenario: scenario.name,
)
def test_no_schedule_breaks_a_promise_of_accept_mode(scenario: Scenario) -> None:
    found = _found(scenario)
    assert found.complete, told(found)


def _publishing_first(sent: Sent) -> Callable[[Life], dict[str, Any]]:
    real = ingested(sent)

    def program(life: Life) -> dict[str, Any]:
        source = f"/onceward/local/{sent.tenant}"
        life.ask("topics", "publish", Published(sent.tenant, source, "an event", "a record"))
        return real(life)

    return program


def test_an_event_that_is_published_before_the_receipt_is_written_is_found() -> None:
    found = _found(outward([lead()], 1, serve=_publishing_first))
    assert "publishes on the topic of acme what nobody there accepted" in " ".join(found.broken)


def _to_brook(self: AskingTopics, announced: Any, event: str) -> None:
    self._ask("topics", "publish", Published("brook", "/onceward/local/acme", announced.event_id, "R"))


def _forgetful(self: object, *_: object, **__: object) -> None:
    return None


def _only_inserts(new: Any, old: Any) -> bool:
    return new is not None and old is None


def _nothing_found(self: object, *_: object, **__: object) -> Looked:
    return Looked()


def _ten_seconds(created: int, expires: int) -> int:
    return created // 1000 + 10


@pytest.mark.parametrize(
    ("planted", "scenario", "broken"),
    [
        # A key that is used again after its window overwrites an item: no INSERT.
        (patch("handlers.dispatch.is_due", _only_inserts), outward([lead()] * 2, 1), "has no record"),
        (patch("handlers.dispatch.is_due", lambda *_: False), outward([lead()], 0), "has no record"),
        (
            patch("proof.queues.AskingTopics.publish", _to_brook),
            outward([lead()], 0),
            "on the topic of brook what nobody there accepted",
        ),
        (patch("proof.records.AskingRecords.write", _forgetful), outward([lead()], 0), "is not there"),
        (patch("proof.records.AskingRecords.write", _forgetful), outward([order()], 0), "is not there"),
        (patch("proof.queues.AskingTopics.publish", _forgetful), outward([lead()], 0), "never came out"),
        (patch("proof.queues.AskingWorkQueues.send", _forgetful), outward([order()], 0), "never came out"),
        # The topic does not answer: the record is parked, and the retry queue is all that has it.
        (patch("handlers.dispatch._park", _forgetful), outward([lead()], 1), "never came out"),
        (patch("proof.dispatching.Replay.look", _nothing_found), outward([lead()], 1), "has no record"),
        (patch("handlers.domain.accept.purge_at", _ten_seconds), accepted([lead()], 2), "swept away by TTL"),
    ],
)
def test_what_is_planted_is_found(planted: Any, scenario: Scenario, broken: str) -> None:
    with planted:
        found = _found(scenario)
    assert broken in " ".join(found.broken), found
    with planted, unmeasured():
        assert broken in told(found)


def test_a_success_without_an_outbox_is_found() -> None:
    with patch("handlers.domain.documents.outbox", lambda *_: None):
        found = _found(accepted([lead()], 0))
    assert "stored a success from which nothing follows" in " ".join(found.broken)
