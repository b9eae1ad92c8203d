"""`onceward receipts explain`: one timeline out of tables, logs and queues."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from handlers.domain import ids
from handlers.domain.receipt import Outbox
from infra.naming import Names
from ops import dead_letters
from ops.log_search import Line
from ops.onward import places
from ops.timeline import Sources, explain, subject_of
from tests import builders
from tests.unit.ops.fake_queue import FakeQueue
from tests.unit.ops.receipts_stage import NOW_MS, ReceiptsStage, accepted_receipt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from handlers.domain.receipt import Receipt

RECORD, EVENT = "01R", "01E"


def line(outcome: str, **more: Any) -> dict[str, Any]:
    """A log line as Powertools writes it."""
    return {"level": "INFO", "service": "x", "message": outcome, "outcome": outcome, **more}


def order() -> Receipt:
    outbox = Outbox(EVENT, "order.completed", RECORD, '{"id":"01R","order":{"customer":"Ada"}}')
    return accepted_receipt(operation="orders", outbox=outbox, correlation_id="c-1")


def explained(stage: ReceiptsStage) -> dict[str, Any]:
    result = stage.receipts("explain", "acme", "k", "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def steps(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(moment["where"], moment["what"]) for moment in found["timeline"]]


def test_an_orders_way_is_one_timeline_in_the_order_of_time(receipts_stage: ReceiptsStage) -> None:
    ours = {"record_id": RECORD, "event_id": EVENT, "correlation_id": "c-1"}
    receipts_stage.put(order())
    again: dict[str, int] = {"requeues": 1, "requeuedAt": NOW_MS + 900}
    again |= {"redrives": 1, "redrivenAt": NOW_MS + 6_500}
    receipts_stage.put_record(RECORD, status="FAILED", attempts=2, updatedAt=NOW_MS + 9_000, **again)
    receipts_stage.log(
        "ingest",
        line("accepted", record_id=RECORD, correlation_id="c-1", status=202),
        line("replayed", record_id=RECORD, correlation_id="c-2", status=202, key_name="server"),
        line("mismatch", record_id=RECORD, correlation_id="c-3", status=422),
        line("accepted", record_id="another", correlation_id="c-1"),
        {"_aws": {}, "Accepted": 1, "record_id": RECORD},
        "no object, though it names 01R",
    )
    of = {"event_id": EVENT, "tenant": "acme", "operation": "orders"}
    receipts_stage.log("dispatch", line("dispatched", **of, correlation_id="c-1", lag_ms=40))
    receipts_stage.log("reconcile", {"message": "05R"}, line("requeued", **of, requeues=1, pending_ms=300))
    receipts_stage.log(
        "fulfil",
        *(line("elsewhere", **ours | {"record_id": "another"}) for _ in range(5)),
        line("failed", **ours, reason="AnswerLost", attempts=1),
        line("given_up", **ours, reason="AnswerLost", attempts=2),
    )
    receipts_stage.make_queues()
    receipts_stage.dead_letter("orders-dlq", {"tenantId": "acme", "recordId": RECORD, "eventId": EVENT})
    receipts_stage.dead_letter("orders-dlq", {"tenantId": "acme", "recordId": "other", "eventId": "other"})

    found = explained(receipts_stage)

    assert steps(found) == [
        ("receipt", "first seen"),
        ("ingest", "accepted"),
        ("dispatch", "dispatched"),
        ("ingest", "replayed"),
        ("reconcile", "requeued"),
        ("ingest", "mismatch"),
        ("fulfil", "failed"),
        ("fulfil", "given_up"),
        ("record", "sent back from a dead-letter queue"),
        ("receipt", "answered"),
        ("record", "FAILED"),
        ("orders-dlq", "waits there"),
    ]
    replay = next(one for one in found["timeline"] if one["what"] == "replayed")
    assert replay["details"] == {"correlation_id": "c-2", "status": 202, "key_name": "server"}
    requeued = next(one for one in found["timeline"] if one["what"] == "requeued")
    assert requeued["details"] == {"requeues": 1, "pending_ms": 300, "queue": "onceward-local_orders"}
    assert "execute has no log group" in found["notes"]
    assert "Ada" not in json.dumps(found)


def test_people_get_a_line_for_each_moment(receipts_stage: ReceiptsStage) -> None:
    receipts_stage.put(order())
    receipts_stage.put_record(RECORD)
    receipts_stage.log("ingest", line("accepted", record_id=RECORD, status=202))
    receipts_stage.make_queues()

    lines = receipts_stage.receipts("explain", "acme", "k").stdout.splitlines()

    assert lines[0] == "acme  k  orders  COMPLETED"
    assert lines[1] == f"record {RECORD}  event {EVENT}"
    assert lines[2].split() == ["TIME", "(UTC)", "WHERE", "WHAT", "MORE"]
    assert [row.split()[2:4] for row in lines[3:5]] == [["receipt", "first"], ["ingest", "accepted"]]
    assert [row.split()[:3] for row in lines[5:7]] == [
        ["now", "receipt", "answered"],
        ["now", "record", "written"],
    ]


def test_a_dead_letter_is_explained_from_its_record_alone(receipts_stage: ReceiptsStage) -> None:
    receipts_stage.put_record(RECORD, status="FAILED", attempts=3)
    receipts_stage.log("ingest", line("accepted", record_id=RECORD, correlation_id="c-1", request_id="c-1"))
    receipts_stage.log("fulfil", line("given_up", record_id=RECORD, event_id=EVENT, reason="AnswerLost"))
    receipts_stage.make_queues()

    result = receipts_stage.receipts("explain", "acme", "--record", RECORD, "--json")

    found = json.loads(result.stdout)
    assert (found["receipt"], found["eventId"]) == (None, EVENT)
    assert steps(found) == [("ingest", "accepted"), ("fulfil", "given_up"), ("record", "FAILED")]
    assert found["timeline"][0]["details"] == {"correlation_id": "c-1"}
    unknown = receipts_stage.receipts("explain", "acme", "--record", "01X")
    assert unknown.exit_code == 1
    assert "Tenant acme has no record of this id" in unknown.stderr
    assert receipts_stage.receipts("explain", "acme", "k", "--record", RECORD).exit_code == 2


@pytest.mark.parametrize(
    ("function", "outcome", "operation", "sent_to"),
    [
        ("dispatch", "dispatched", "leads", {"topic": "onceward-local-acme"}),
        ("dispatch", "dispatched", "orders", {"queue": "onceward-local_orders"}),
        (
            *("dispatch", "dispatched", "webhooks"),
            {"queue": "onceward-local_webhooks", "topic": "onceward-local-acme"},
        ),
        ("dispatch", "republished", "orders", {"topic": "onceward-local-acme"}),
        ("dispatch", "parked", "leads", {"queue": "onceward-local_dispatch-retry"}),
        ("dispatch", "failed", "orders", {}),
        ("reconcile", "requeued", "webhooks", {"queue": "onceward-local_webhooks"}),
        ("fulfil", "done", "orders", {"bus": "onceward-local_orders"}),
        ("fulfil", "failed", "orders", {}),
        ("notify", "notified", "orders", {"topic": "onceward-local-acme"}),
    ],
)
def test_a_step_says_where_its_unit_went(
    function: str, outcome: str, operation: str, sent_to: dict[str, str]
) -> None:
    said = Line(1, function, line(outcome, tenant="acme", operation=operation))
    assert places(said, Names("local")) == sent_to


@pytest.mark.parametrize(("times", "after_ms"), [(2, 5_500), (1, 120_000)])
def test_a_mark_whose_message_was_never_sent_is_not_called_a_requeue(
    receipts_stage: ReceiptsStage, times: int, after_ms: int
) -> None:
    receipts_stage.put(order())
    again = {"requeues": times, "requeuedAt": NOW_MS + after_ms}
    receipts_stage.put_record(RECORD, status="ACCEPTED", **again)
    receipts_stage.log("reconcile", line("requeued", event_id=EVENT, requeues=1))
    receipts_stage.make_queues()
    found = explained(receipts_stage)
    assert steps(found)[:3] == [
        ("receipt", "first seen"),
        ("reconcile", "requeued"),
        ("record", "marked by reconcile to be queued again"),
    ]
    assert found["timeline"][2]["details"] == {"times": times, "sent": "no line of its log says so"}


def test_what_waits_in_a_queue_says_when_it_was_sent_first_and_not_when_it_came_there(
    receipts_stage: ReceiptsStage,
) -> None:
    receipts_stage.put(order())
    receipts_stage.put_record(RECORD, status="FAILED")
    receipts_stage.make_queues()
    receipts_stage.dead_letter("orders-dlq", {"tenantId": "acme", "recordId": RECORD, "eventId": EVENT})
    waits = explained(receipts_stage)["timeline"][-1]
    assert (waits["what"], set(waits["details"])) == ("waits there", {"sent_first_at", "message"})


@pytest.mark.parametrize(("age_ms", "what"), [(1_000, "not there yet"), (11_000, "missing")])
def test_only_a_record_that_should_be_there_is_missing_and_told_with_what_brings_it(
    receipts_stage: ReceiptsStage, age_ms: int, what: str
) -> None:
    created_at = time.time_ns() // 1_000_000 - age_ms
    receipts_stage.put(replace(order(), created_at=created_at))
    receipts_stage.make_queues()
    [record] = [one for one in explained(receipts_stage)["timeline"] if one["where"] == "record"]
    assert record["what"] == what
    assert ("onceward dispatch replay" in record["details"]["next"]) is (what == "missing")


@pytest.mark.parametrize(("age_ms", "why"), [(1_000, "look again"), (11_000, "dispatch has not written it")])
def test_a_record_id_that_is_seconds_old_is_told_to_be_asked_again(
    receipts_stage: ReceiptsStage, age_ms: int, why: str
) -> None:
    record_id = ids.record_id("acme", "k", "g", time.time_ns() // 1_000_000 - age_ms)
    assert why in receipts_stage.receipts("explain", "acme", "--record", record_id).stderr


def test_messages_that_could_not_be_made_visible_again_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dead_letters, "_RELEASE_PAUSES_SECONDS", ())
    queues = [FakeQueue(3, failing={"1": "InternalError"}).letters]
    logs: Any = SimpleNamespace(lines=lambda *_arguments: ())
    sources = Sources(subject_of(order()), order(), None, Names("local"), logs, queues)
    notes = explain(sources, NOW_MS, lambda _text: None).notes
    assert notes == ["orders-dlq: 1 messages stay hidden by this look, for five minutes"]


def test_thousands_of_duplicates_are_gone_through_once() -> None:
    compared = 0

    class Said(dict[str, Any]):
        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return super().__eq__(other)

    class ManyLines:
        def lines(self, function: str, _term: str, _since_ms: int) -> Iterator[Line]:
            for number in range(2_000 if function == "ingest" else 0):
                said = Said(line("replayed", record_id=RECORD, correlation_id=f"c-{number}"))
                yield Line(NOW_MS, function, said)

    logs: Any = ManyLines()
    found = explain(
        Sources(subject_of(order()), order(), None, Names("local"), logs, ()), NOW_MS, lambda _text: None
    )
    assert sum(one.what == "replayed" for one in found.moments) == 2_000, "each once, though searched twice"
    assert compared == 0


def test_an_unfinished_claim_has_no_record_and_says_who_may_go_on(receipts_stage: ReceiptsStage) -> None:
    times = {"created_at": NOW_MS, "expires_at": NOW_MS + builders.HOUR_MS}
    receipts_stage.put(builders.in_progress(lease_until=0, **times))
    receipts_stage.make_queues()
    assert steps(explained(receipts_stage)) == [
        ("receipt", "first seen"),
        ("receipt", "unfinished; the next retry takes it over"),
    ]
