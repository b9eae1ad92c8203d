"""`onceward receipts explain`: one timeline out of tables, logs and queues."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from handlers.domain.receipt import Outbox
from tests import builders
from tests.unit.ops.receipts_stage import NOW_MS, ReceiptsStage, accepted_receipt

if TYPE_CHECKING:
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
    again: dict[str, int] = {"requeues": 1, "requeuedAt": NOW_MS + 5_500}
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
    receipts_stage.log("dispatch", line("dispatched", event_id=EVENT, correlation_id="c-1", lag_ms=40))
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
        ("ingest", "mismatch"),
        ("fulfil", "failed"),
        ("record", "queued again by reconcile"),
        ("fulfil", "given_up"),
        ("record", "sent back from a dead-letter queue"),
        ("receipt", "answered"),
        ("record", "FAILED"),
        ("orders-dlq", "waits there"),
    ]
    replay = next(one for one in found["timeline"] if one["what"] == "replayed")
    assert replay["details"] == {"correlation_id": "c-2", "status": 202, "key_name": "server"}
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


def test_a_record_that_did_not_come_is_told_with_what_brings_it(receipts_stage: ReceiptsStage) -> None:
    receipts_stage.put(order())
    receipts_stage.make_queues()
    [missing] = [one for one in explained(receipts_stage)["timeline"] if one["where"] == "record"]
    assert missing["what"] == "missing"
    assert "onceward dispatch replay" in missing["details"]["next"]


def test_an_unfinished_claim_has_no_record_and_says_who_may_go_on(receipts_stage: ReceiptsStage) -> None:
    times = {"created_at": NOW_MS, "expires_at": NOW_MS + builders.HOUR_MS}
    receipts_stage.put(builders.in_progress(lease_until=0, **times))
    receipts_stage.make_queues()
    assert steps(explained(receipts_stage)) == [
        ("receipt", "first seen"),
        ("receipt", "unfinished; the next retry takes it over"),
    ]
