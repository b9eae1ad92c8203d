"""A long run is judged in the memory of a short one: what grows with it is in files."""

from __future__ import annotations

import gc
import json
import tracemalloc
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from loadtest.checker import Judge
from loadtest.evidence import gathered
from loadtest.expected import Planned
from loadtest.history import Attempt, Outcome, hash_of
from loadtest.stored import AuditEvent, StoredReceipt, StoredRecord, document_hash
from tests.unit.storm.test_plan import SMALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from loadtest.evidence import Evidence

# Requests of a key. With three times the requests there are three times the keys.
_EACH = 10
_SHORT, _LONG = 2_000, 6_000
# What three times the requests may add to the peak: what a shelf has waiting, and a part that happens to be
# larger than the others. All that the long run has more is some 10 MB as rows, and more as objects.
_MOST_MORE_BYTES = 2_000_000
_CREATED_AT = "2026-01-01T00:00:00.000Z"


class _Run:
    """A run of leads, each key sent ten times, made one row at a time."""

    def __init__(self, requests: int) -> None:
        self.requests = requests

    def keys(self) -> Iterator[tuple[int, str, dict[str, str]]]:
        for number in range(self.requests // _EACH):
            yield number, f"tenant-{number % 2}", {"name": f"lead {number}", "text": "x" * 400}

    def planned(self) -> Iterator[Planned]:
        for number, tenant, lead in self.keys():
            for _ in range(_EACH):
                yield Planned(tenant, f"key-{number}", hash_of(lead) or "")

    def attempts(self) -> Iterator[Attempt]:
        for number, tenant, lead in self.keys():
            for again in range(_EACH):
                start = number * 10.0 + again
                yield Attempt(
                    attempt_id=f"attempt-{number}-{again}",
                    tenant=tenant,
                    key=f"key-{number}",
                    operation="leads",
                    scenario="duplicate",
                    body_hash=hash_of(lead) or "",
                    intended_start_ms=start,
                    start_ms=start,
                    end_ms=start + 30.0,
                    outcome=Outcome.OK,
                    status=201,
                    response_hash=document_hash(_answer(number)),
                    response_body=_answer(number),
                    headers=(("location", f"/v1/leads/record-{number}"),),
                    replayed=again > 0,
                    correlation_id=f"attempt-{number}-{again}",
                )

    def receipts(self) -> Iterator[StoredReceipt]:
        for number, tenant, lead in self.keys():
            yield StoredReceipt(
                pk=f"{tenant}#key-{number}",
                tenant_id=tenant,
                operation="leads",
                completed=True,
                record_id=f"record-{number}",
                event_id=f"event-{number}",
                event_type="lead.created",
                correlation_id=f"attempt-{number}-0",
                status=None,
                headers=(),
                body=None,
                document=_document(number, lead),
                document_id=f"record-{number}",
                created_at=_CREATED_AT,
                body_hash=hash_of(lead),
            )

    def records(self) -> Iterator[StoredRecord]:
        for number, tenant, lead in self.keys():
            ids = (f"{tenant}#record-{number}", tenant, f"record-{number}", f"event-{number}")
            yield StoredRecord(*ids, _document(number, lead), hash_of(lead), "leads")

    def events(self) -> Iterator[AuditEvent]:
        for number, tenant, lead in self.keys():
            yield AuditEvent(
                queue_tenant=tenant,
                event_id=f"event-{number}",
                subject=f"record-{number}",
                source=f"/onceward/local/{tenant}",
                specversion="1.0",
                event_type="lead.created",
                time=_CREATED_AT,
                correlation_id=f"attempt-{number}-0",
                tenant_attribute=tenant,
                event_attribute=f"event-{number}",
                type_attribute="lead.created",
                data_hash=document_hash(_document(number, lead)),
                body_hash=hash_of(lead),
            )

    def judge(self, folder: Path, spoil: Callable[[Evidence], None] = lambda _: None) -> dict[str, Any]:
        settings = replace(SMALL, stage="local", requests=self.requests)
        with gathered(folder / f"judging-{self.requests}", settings) as evidence:
            spoil(evidence)
            evidence.plan(self.planned())
            evidence.hear(self.attempts())
            for part in range(evidence.count):
                evidence.pks(part)
            evidence.keep_receipts(self.receipts())
            evidence.keep_records(self.records())
            evidence.keep_events(self.events())
            judge = Judge(evidence.crossing)
            for part_of_run in evidence.parts():
                judge.take(part_of_run)
            return judge.verdict().to_json()


def _answer(number: int) -> str:
    return json.dumps({"id": f"record-{number}"})


def _document(number: int, lead: dict[str, str]) -> str:
    return json.dumps({"id": f"record-{number}", "createdAt": _CREATED_AT, "lead": lead})


def _peak(judging: Callable[[], object]) -> int:
    gc.collect()
    tracemalloc.start()
    try:
        judging()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_three_times_the_requests_are_judged_in_the_same_memory(tmp_path: Path) -> None:
    found = _Run(_SHORT).judge(tmp_path)
    assert set(found["byKind"]) == {"reads-incomplete"}  # there were none, and nothing else is wrong
    assert found["ordered"] == {"keys": 200, "attempts": 2_000, "most_attempts": 10, "undecided": 0}
    short, long = (_peak(lambda: _Run(n).judge(tmp_path)) for n in (_SHORT, _LONG))  # noqa: B023
    assert long - short < _MOST_MORE_BYTES, (short, long)


def test_a_judge_that_hoards_is_noticed(tmp_path: Path) -> None:
    """The measure can fail: a judge that keeps every attempt, as the first one did, is far above it."""

    def hoard(evidence: Evidence) -> None:
        hoarded: list[list[Attempt]] = []
        hear = evidence.hear

        def hear_and_keep(attempts: Iterator[Attempt]) -> None:
            hoarded.append(list(attempts))
            hear(iter(hoarded[-1]))

        evidence.hear = hear_and_keep  # type: ignore[method-assign, assignment]

    short, long = (_peak(lambda: _Run(n).judge(tmp_path, hoard)) for n in (_SHORT, _LONG))  # noqa: B023
    assert long - short > _MOST_MORE_BYTES, (short, long)
