"""Batches of work, by `deliver`: twins, crashes, outages, time and what is told; each message for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from handlers.adapters import metrics
from handlers.adapters.work_batch import ITEM_MS, LONGEST_PAUSE_SECONDS, pause_seconds
from handlers.domain.errors import Refused, Unavailable
from handlers.domain.outbound import Answer
from handlers.domain.pending import PERIOD_MS
from handlers.domain.work import WEBHOOKS
from handlers.domain.work_item import WorkClaim
from handlers.domain.work_message import WorkMessage
from tests.builders import NOW_MS
from tests.stream_events import failed_ids
from tests.unit.handlers.dispatch_bench import Killed, emf
from tests.unit.handlers.work_bench import (
    MAX_RECEIVES,
    REMAINING_MS,
    WorkBench,
    messages,
    tenant_config,
    webhook,
)

if TYPE_CHECKING:
    from handlers.domain.work_item import ClaimOutcome

PUT = {"url": "https://crm.acme.example/contacts/{id}", "method": "PUT"}
POST = {"url": "https://crm.acme.example/contacts", "method": "POST"}


@pytest.fixture
def bench() -> WorkBench:
    return WorkBench(configs={"acme": tenant_config(destination=PUT)})


def written(bench: WorkBench, *numbers: int, **more: Any) -> Any:
    made = [webhook(number, **more) for number in numbers]
    for one in made:
        bench.store.write(one)
    return made


def test_a_twin_in_progress_is_not_acknowledged_and_comes_again_when_its_lease_ends(bench: WorkBench) -> None:
    [event] = written(bench, 1)
    lease_until = NOW_MS + 30_000
    bench.store.claim(WorkClaim(WEBHOOKS, WorkMessage.of(event), "twin", NOW_MS, lease_until))

    response = bench.deliver(messages(event, receives=MAX_RECEIVES))

    assert failed_ids(response) == ["message-0"]
    assert bench.calls == []
    assert bench.pauses == {"handle-0": 31}
    assert bench.item(event).owner == "twin"  # not given up either: the twin may succeed

    bench.now = NOW_MS + bench.pauses["handle-0"] * 1000
    assert bench.deliver(messages(event)) == {"batchItemFailures": []}
    assert bench.status(event) == "DELIVERED"


def test_a_message_for_what_is_delivered_is_acknowledged_and_calls_nobody(bench: WorkBench) -> None:
    [event] = written(bench, 1)
    for _ in range(2):
        assert bench.deliver(messages(event)) == {"batchItemFailures": []}
    assert len(bench.calls) == 1
    assert [line["outcome"] for line in bench.log_lines()] == ["done", "done_before"]


def test_two_messages_of_one_event_in_one_batch_make_one_call(bench: WorkBench) -> None:
    [event] = written(bench, 1)
    assert bench.deliver(messages(event, event)) == {"batchItemFailures": []}
    assert len(bench.calls) == 1


def test_killed_after_the_upsert_and_before_the_mark_the_same_upsert_is_made_again(bench: WorkBench) -> None:
    [event] = written(bench, 1)
    with pytest.raises(Killed):
        bench.deliver(messages(event), store=KilledBeforeMark(bench))

    bench.now += REMAINING_MS + 5_001  # the lease of the dead one
    assert bench.deliver(messages(event, receives=2)) == {"batchItemFailures": []}

    first, again = bench.calls
    assert first == again
    assert bench.status(event) == "DELIVERED"


def test_a_worker_that_was_overtaken_marks_nothing_and_its_message_stays(
    bench: WorkBench, capsys: pytest.CaptureFixture[str]
) -> None:
    [event] = written(bench, 1)

    def overtaken(*_: Any) -> Answer:
        bench.now += REMAINING_MS + 5_001
        taken = WorkClaim(WEBHOOKS, WorkMessage.of(event), "successor", bench.now, bench.now + 1_000)
        bench.store.claim(taken)
        return Answer(200, {}, b"")

    bench.answer = overtaken
    assert failed_ids(bench.deliver(messages(event))) == ["message-0"]
    assert (bench.item(event).owner, bench.status(event)) == ("successor", "RECEIVED")
    [emitted] = emf(capsys.readouterr().out)
    assert emitted["LeaseLost"] == [1]


def test_one_bad_message_leaves_the_others_alone(bench: WorkBench) -> None:
    events = written(bench, 1, 2)
    batch = messages(*events, webhook(3))
    batch["Records"][0]["body"] = "{"
    batch["Records"].append(messages(events[0])["Records"][0] | {"messageId": "message-3"})
    batch["Records"][3]["body"] = batch["Records"][3]["body"].replace("webhooks", "orders")

    response = bench.deliver(batch)

    # Nobody's; without a record; another queue's.
    assert failed_ids(response) == ["message-0", "message-2", "message-3"]
    assert [bench.status(event) for event in events] == ["RECEIVED", "DELIVERED"]


def test_with_too_little_time_the_rest_waits_for_another_worker(bench: WorkBench) -> None:
    events = written(bench, 1, 2, 3)
    # Asked before the second and the third, and for the leases of those that are tried.
    left = iter([REMAINING_MS, ITEM_MS, ITEM_MS, ITEM_MS - 1])

    response = bench.deliver(messages(*events, receives=2), remaining_ms=lambda: next(left))

    assert failed_ids(response) == ["message-2"]
    assert bench.pauses == {"handle-2": 5}  # it is no fault of the message, and another worker may be free
    assert [bench.status(event) for event in events] == ["DELIVERED", "DELIVERED", "RECEIVED"]
    assert bench.item(events[2]).attempts == 0


def test_pauses_that_cannot_be_set_fail_nobodys_message(bench: WorkBench) -> None:
    events = written(bench, 1, 2)
    bench.pause_error = Unavailable("work queue", "Timeout")
    bench.answer = lambda _method, url, _body: Answer(500 if "1" in url else 200, {}, b"")
    assert failed_ids(bench.deliver(messages(*events))) == ["message-0"]


def test_a_lease_outlives_the_function_by_what_clocks_may_differ(bench: WorkBench) -> None:
    [event] = written(bench, 1)
    leases: list[int] = []

    def note(*_: Any) -> Answer:
        leases.append(bench.item(event).lease_until)
        return Answer(200, {}, b"")

    bench.answer = note
    bench.deliver(messages(event))
    assert leases == [NOW_MS + REMAINING_MS + 5_000]


def test_pauses_double_and_stay_below_the_reconcilers_patience() -> None:
    assert [pause_seconds(n) for n in (1, 2, 3, 6, 7, 12, 999)] == [5, 10, 20, 160, 240, 240, 240]
    assert LONGEST_PAUSE_SECONDS * 1000 < PERIOD_MS


def test_one_log_line_a_message_with_its_correlation_id_and_no_payload(
    bench: WorkBench, capsys: pytest.CaptureFixture[str]
) -> None:
    events = written(bench, 1, 2)
    bench.secrets = {("acme", "destinations/webhooks/crm"): ("very-secret",)}
    bench.answer = lambda _method, url, _body: Answer(500 if url.endswith("2") else 200, {}, b"")

    bench.deliver(messages(*events))

    said = [(line["outcome"], line["tenant"], line["correlation_id"]) for line in bench.log_lines()]
    assert said == [("done", "acme", "correlation-1"), ("failed", "acme", "correlation-2")]
    output = capsys.readouterr().out
    assert "very-secret" not in bench.log.getvalue() + output
    assert "evt/1" not in bench.log.getvalue() + output
    done, failed = emf(output)
    assert (done["Service"], done["Delivered"], done["DeliveryLag"]) == ("onceward-dev_deliver", [1], [500.0])
    assert failed["DeliveryFailed"] == [1]


def test_what_cannot_be_told_is_delivered_all_the_same(
    bench: WorkBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(metrics, "emit", broken)
    [event] = written(bench, 1)
    assert bench.deliver(messages(event)) == {"batchItemFailures": []}
    assert bench.status(event) == "DELIVERED"


def test_a_message_without_a_correlation_id_takes_the_records(bench: WorkBench) -> None:
    [event] = written(bench, 1)
    batch = messages(event)
    batch["Records"][0]["messageAttributes"] = {}
    bench.deliver(batch)
    assert bench.log_lines()[0]["correlation_id"] == "correlation-1"


@pytest.mark.parametrize("error", [Unavailable("records", "Timeout"), Refused("records", "AccessDenied")])
def test_a_records_table_that_does_not_answer_ends_the_batch(bench: WorkBench, error: Exception) -> None:
    events = written(bench, 1, 2)
    batch = messages(*events, receives=2)
    assert failed_ids(bench.deliver(batch, store=Down(error))) == ["message-0", "message-1"]
    assert (bench.calls, bench.pauses) == ([], {"handle-0": 10, "handle-1": 10})


def test_an_outage_of_a_quarter_of_an_hour_leaves_every_message_receives_to_come_back_with(
    bench: WorkBench,
) -> None:
    events = written(bench, *range(10))
    due = dict.fromkeys(range(10), bench.now)
    receives = dict.fromkeys(due, 0)
    end = bench.now + 15 * 60_000
    while (now := min(due.values())) < end:
        batch = [place for place, at in due.items() if at <= now]
        for place in batch:
            receives[place] += 1
        event = messages(*(events[place] for place in batch))
        for record, place in zip(event["Records"], batch, strict=True):
            record["attributes"]["ApproximateReceiveCount"] = str(receives[place])
        bench.now = now
        bench.deliver(event, store=Down(Unavailable("records", "Timeout")))
        for position, place in enumerate(batch):
            due[place] = now + bench.pauses[f"handle-{position}"] * 1000
    # The queues of a stage on AWS bring a message twelve times (infra.settings).
    assert max(receives.values()) < 12


class KilledBeforeMark:
    """The store of a process that dies when it wants to mark what it has done."""

    def __init__(self, bench: WorkBench) -> None:
        self._store = bench.store

    def claim(self, claim: WorkClaim) -> ClaimOutcome:
        return self._store.claim(claim)

    def finish(self, claim: WorkClaim, now_ms: int) -> bool:
        raise Killed

    def fail(self, claim: WorkClaim, now_ms: int, *, final: bool) -> None:
        raise AssertionError("the upsert was made: nothing is given back")


class Down:
    def __init__(self, error: Exception) -> None:
        self._error = error

    def claim(self, claim: WorkClaim) -> ClaimOutcome:
        raise self._error

    def finish(self, claim: WorkClaim, now_ms: int) -> bool:
        raise self._error

    def fail(self, claim: WorkClaim, now_ms: int, *, final: bool) -> None:
        raise self._error
