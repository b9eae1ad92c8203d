"""A run in which all is well, in a form that a test can spoil in one place."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from loadtest.answers import Answers
from loadtest.bodies import derived_key
from loadtest.checker import check
from loadtest.expected import Expected
from loadtest.history import Attempt, Outcome, answer, hash_of
from loadtest.operations import LEADS
from loadtest.stored import AuditEvent, StoredReceipt, StoredRecord, document_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadtest.verdict import Kind, Verdict


CREATED_AT = "2026-01-01T00:00:00.000Z"


def lead(name: str) -> dict[str, str]:
    return {"name": name, "email": "a@example.com"}


def lead_hash(name: str) -> str:
    return hash_of(lead(name)) or ""


@dataclass
class Story:
    """What clients saw, what is stored, what was published. Change any of it, then ask for `verdict`.

    Attributes:
        unsent, stage: what the plan has besides the attempts, and where it ran.
        writers: by record id, the attempt that wrote it.
    """

    attempts: list[Attempt] = field(default_factory=list)
    receipts: dict[str, StoredReceipt] = field(default_factory=dict)
    records: dict[str, StoredRecord] = field(default_factory=dict)
    events: list[AuditEvent] = field(default_factory=list)
    unsent: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    stage: str = "local"
    writers: dict[str, str] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def accept(self, tenant: str, key: str | None, name: str, number: int) -> str:
        """One request is accepted: its first answer, and everything that follows. Its partition key."""
        ids = (f"record-{number}", f"event-{number}")
        stored_key = key or derived_key(lead_hash(name))
        self.attempts.append(self.attempt(tenant, key, name, number))
        self.writers[ids[0]] = self.attempts[-1].attempt_id
        self.store(tenant, stored_key, name, ids)
        self.record(tenant, name, ids)
        self.publish(tenant, name, ids)
        return f"{tenant}#{stored_key}"

    def attempt(
        self, tenant: str, key: str | None, name: str, number: int, *, replayed: bool = False
    ) -> Attempt:
        """A 201 with the answer of record `number`."""
        attempt_id = f"attempt-{next(self.numbers)}"
        headers = {"Content-Type": "application/json", "Location": f"/v1/leads/record-{number}"}
        if replayed:
            headers["Idempotent-Replayed"] = "true"
        got = answer(201, {**headers, "X-Correlation-Id": attempt_id}, _body(number).encode())
        return Attempt(
            attempt_id=attempt_id,
            tenant=tenant,
            key=key,
            operation=LEADS.name,
            scenario="fresh",
            body_hash=lead_hash(name),
            intended_start_ms=1000.0,
            start_ms=1001.0,
            end_ms=1031.0,
            outcome=Outcome.OK,
            status=got.status,
            response_hash=got.response_hash,
            response_body=got.response_body,
            headers=got.headers,
            replayed=got.replayed,
            correlation_id=got.correlation_id,
        )

    def replay(self, tenant: str, key: str | None, name: str, number: int) -> Attempt:
        """A replay of record `number`'s first answer; also returned."""
        self.attempts.append(self.attempt(tenant, key, name, number, replayed=True))
        return self.attempts[-1]

    def answered(
        self, tenant: str, key: str | None, name: str, status: int, detail: str = "not this time"
    ) -> None:
        """An answer without a lead."""
        base = self.attempt(tenant, key, name, 0)
        got = answer(
            status, {"Content-Type": "application/problem+json"}, json.dumps({"detail": detail}).encode()
        )
        self.attempts.append(
            replace(
                base,
                status=status,
                response_hash=got.response_hash,
                response_body=got.response_body,
                headers=got.headers,
            )
        )

    def unseen(self, tenant: str, key: str | None, name: str, outcome: Outcome = Outcome.UNKNOWN) -> None:
        """An attempt whose answer nobody saw."""
        base = self.attempt(tenant, key, name, 0)
        self.attempts.append(
            replace(base, outcome=outcome, status=None, response_hash=None, response_body=None, headers=())
        )

    def read(self, tenant: str, number: int, status: int, body: str | None) -> None:
        """`tenant` asks for record `number`."""
        base = self.attempt(tenant, None, "x", number)
        self.attempts.append(
            replace(
                base,
                operation=LEADS.read_name,
                body_hash=f"record-{number}",
                status=status,
                response_body=body,
                headers=(),
            )
        )

    def store(self, tenant: str, key: str, name: str, ids: tuple[str, str]) -> None:
        number = ids[0].removeprefix("record-")
        headers = {"content-type": "application/json", "location": f"/v1/leads/{ids[0]}"}
        pk = f"{tenant}#{key}"
        self.receipts[pk] = StoredReceipt(
            pk=pk,
            tenant_id=tenant,
            operation=LEADS.name,
            completed=True,
            record_id=ids[0],
            event_id=ids[1],
            event_type="lead.created",
            correlation_id=self.writers.get(ids[0], "unseen"),
            status=201,
            headers=tuple(headers.items()),
            body=_body(int(number)),
            document=document(name, ids[0]),
            document_id=ids[0],
            created_at=CREATED_AT,
            body_hash=lead_hash(name),
        )

    def record(self, tenant: str, name: str, ids: tuple[str, str]) -> None:
        pk = f"{tenant}#{ids[0]}"
        self.records[pk] = StoredRecord(
            pk, tenant, ids[0], ids[1], document(name, ids[0]), lead_hash(name), LEADS.name
        )

    def publish(self, tenant: str, name: str, ids: tuple[str, str]) -> None:
        self.events.append(
            AuditEvent(
                queue_tenant=tenant,
                event_id=ids[1],
                subject=ids[0],
                source=f"/onceward/{self.stage}/{tenant}",
                specversion="1.0",
                event_type="lead.created",
                time=CREATED_AT,
                correlation_id=self.writers.get(ids[0], "unseen"),
                tenant_attribute=tenant,
                event_attribute=ids[1],
                type_attribute="lead.created",
                data_hash=document_hash(document(name, ids[0])),
                body_hash=lead_hash(name),
            )
        )

    def verdict(self, *, events: bool = True) -> Verdict:
        answers = Answers()
        for attempt in self.attempts:
            answers.hear(attempt)
        return check(
            answers,
            self.receipts.values(),
            self.records.values(),
            self.events if events else None,
            Expected(self.stage, answers.attempted + self.unsent),
            attempt_ids=[one.attempt_id for one in self.attempts],
        )

    def broken(self) -> dict[Kind, list[tuple[str, str]]]:
        """Each kind of violation, with its (tenant, key) pairs."""
        found: dict[Kind, list[tuple[str, str]]] = {}
        for one in self.verdict().violations:
            found.setdefault(one.kind, []).append((one.tenant, one.key))
        return found


def document(name: str, record_id: str) -> str:
    return json.dumps({"id": record_id, "createdAt": CREATED_AT, "lead": lead(name), "score": {"score": 10}})


def _body(number: int) -> str:
    return json.dumps({"id": f"record-{number}", "score": {"score": 10}})


def good() -> Story:
    """Two tenants with one key in common, a request without a key, a reuse, a drop, and reads."""
    story = Story()
    story.accept("acme", "k1", "one", 1)
    story.replay("acme", "k1", "one", 1)
    story.replay("acme", "k1", "one", 1)
    story.answered("acme", "k1", "another", 422)
    story.accept("beta", "k1", "one", 2)
    story.accept("acme", None, "bare", 3)
    story.replay("acme", None, "bare", 3)
    # Dropped, accepted all the same: the retry that was seen is a replay.
    story.accept("acme", "k4", "four", 4)
    first = story.attempts.pop()
    story.unseen("acme", "k4", "four")
    story.attempts.append(replace(first, replayed=True))
    # Dropped, and never accepted.
    story.unseen("beta", "k5", "five")
    story.read("acme", 1, 200, document("one", "record-1"))
    story.read("beta", 1, 404, None)
    story.read("acme", 2, 404, None)
    story.read("beta", 2, 200, document("one", "record-2"))
    return story
