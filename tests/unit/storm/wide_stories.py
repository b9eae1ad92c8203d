"""A run of all five operations in which all is well, in a form that a test can spoil in one place."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from loadtest import bodies
from loadtest.answers import Answers
from loadtest.checker import check
from loadtest.expected import Expected
from loadtest.history import Attempt, Outcome, answer
from loadtest.operations import APPOINTMENTS, BY_NAME, ORDERS, PAYMENTS, WEBHOOKS
from loadtest.outside import Charge, Entity, Outside
from loadtest.schedule import PlannedRequest
from loadtest.stored import AuditEvent, StoredReceipt, StoredRecord, document_hash
from tests.unit.storm import contract
from tests.unit.storm.stories import Story

if TYPE_CHECKING:
    from collections.abc import Iterable

    from loadtest.operations import Operation
    from loadtest.verdict import Verdict

MARK = "storm-wide-"
TENANTS = ("acme", "beta")
DESTINATIONS = {
    (tenant, what): f"https://{host}.{tenant}.example{path}"
    for tenant in TENANTS
    for what, host, path in (
        ("orders", "crm", "/orders/{id}"),
        ("webhooks/events", "crm", "/events/{id}"),
        ("webhooks/stripe", "crm", "/stripe/{id}"),
        ("payments", "pay", ""),
    )
}


def request(operation: Operation, tenant: str, subject: int, **more: Any) -> PlannedRequest:
    """A planned request; the operations whose key is in the body send none."""
    key = None if operation in {WEBHOOKS, APPOINTMENTS} else f"{MARK}{subject}"
    source = "events" if operation is WEBHOOKS else None
    return PlannedRequest(tenant, key, subject, **{"operation": operation.name, "source": source, **more})


def pk_of(one: PlannedRequest) -> str:
    return f"{one.tenant}#{bodies.stored_key(MARK, one)}"


@dataclass
class WideStory(Story):
    """A story of planned requests, with what reached the provider and the CRM."""

    charges: list[Charge] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)
    declined: set[str] = field(default_factory=set)
    slots: dict[str, str] = field(default_factory=dict)
    answers_of: dict[str, contract.Answered] = field(default_factory=dict)

    def take(self, one: PlannedRequest, number: int) -> str:
        """A request takes effect, with all that follows. Its partition key."""
        operation, sent = BY_NAME[one.operation], bodies.body(MARK, one)
        first = contract.first_answer(operation, f"record-{number}", sent)
        self.answers_of[pk_of(one)] = first
        writer = self.told(one, first)
        text = contract.document(operation, f"record-{number}", sent, one.source)
        self.keep(one, first, writer.attempt_id, (f"record-{number}", f"event-{number}", text))
        self.follow(one, number)
        return pk_of(one)

    def turn_down(self, one: PlannedRequest, status: int) -> str:
        """A request is refused for good. Its partition key."""
        number = next(self.numbers)
        first = contract.final_refusal(status, f"attempt-{number}")
        self.answers_of[pk_of(one)] = first
        self.keep(one, first, self.told(one, first).attempt_id, None)
        return pk_of(one)

    def again(self, one: PlannedRequest) -> None:
        """A duplicate is answered as it must be."""
        self.told(one, contract.again(BY_NAME[one.operation], self.answers_of[pk_of(one)]))

    def running(self, one: PlannedRequest, start_ms: float = 1001.0) -> None:
        """A duplicate is told that the first request still runs."""
        self.told(one, contract.in_progress())
        self.attempts[-1] = replace(self.attempts[-1], start_ms=start_ms, end_ms=start_ms + 5)

    def told(self, one: PlannedRequest, answered: contract.Answered) -> Attempt:
        """One attempt and its answer; also returned."""
        self._expect(one)
        status, headers, body = answered
        attempt_id = f"attempt-{next(self.numbers)}"
        got = answer(status, {**headers, "X-Correlation-Id": attempt_id}, body)
        attempt = Attempt(
            attempt_id=attempt_id,
            tenant=one.tenant,
            key=one.key,
            operation=one.operation,
            scenario="fresh",
            body_hash=bodies.body_hash(MARK, one),
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
            derived_key=None if one.key else bodies.stored_key(MARK, one),
        )
        self.attempts.append(attempt)
        return attempt

    def _expect(self, one: PlannedRequest) -> None:
        body = bodies.body_hash(MARK, one)
        if bodies.is_declined(MARK, one):
            self.declined.add(body)
        if slot := bodies.slot(MARK, one):
            self.slots[body] = slot

    def keep(
        self,
        one: PlannedRequest,
        answered: contract.Answered,
        writer: str,
        outbox: tuple[str, str, str] | None,
    ) -> None:
        """The receipt. `outbox`: record id, event id and document; None for a refusal that stands."""
        status, headers, body = answered
        record_id, event_id, text = outbox or (None, None, None)
        lowered = {name.lower(): value for name, value in headers.items()}
        self.receipts[pk_of(one)] = StoredReceipt(
            pk=pk_of(one),
            tenant_id=one.tenant,
            operation=one.operation,
            completed=True,
            record_id=record_id,
            event_id=event_id,
            event_type=BY_NAME[one.operation].event_type if outbox else None,
            correlation_id=writer,
            status=status,
            headers=tuple(sorted(lowered.items())),
            body=body.decode(),
            document=text,
            document_id=record_id,
            created_at=contract.CREATED_AT if outbox else None,
            body_hash=bodies.body_hash(MARK, one) if outbox else None,
        )

    def follow(self, one: PlannedRequest, number: int) -> None:
        """Record, event, and what reaches provider and CRM."""
        operation, receipt = BY_NAME[one.operation], self.receipts[pk_of(one)]
        record_id, event_id, text = f"record-{number}", f"event-{number}", receipt.document or ""
        self.records[f"{one.tenant}#{record_id}"] = StoredRecord(
            f"{one.tenant}#{record_id}",
            one.tenant,
            record_id,
            event_id,
            text,
            receipt.body_hash,
            one.operation,
            operation.done,
        )
        self.events.append(
            AuditEvent(
                queue_tenant=one.tenant,
                event_id=event_id,
                subject=record_id,
                source=f"/onceward/{self.stage}/{one.tenant}",
                specversion="1.0",
                event_type=operation.event_type,
                time=contract.CREATED_AT,
                correlation_id=receipt.correlation_id or "",
                tenant_attribute=one.tenant,
                event_attribute=event_id,
                type_attribute=operation.event_type,
                data_hash=document_hash(contract.as_announced(operation, text)),
                body_hash=receipt.body_hash,
            )
        )
        if operation is PAYMENTS:
            self.charge(one, contract.charge_id(record_id), f"down-{number}")
        if operation in {ORDERS, WEBHOOKS}:
            identity = bodies.event_id(MARK, one) if one.source else record_id
            self.upsert(f"crm.{one.tenant}.example/{one.source or one.operation}/{identity}", text)

    def charge(self, one: PlannedRequest, charge: str, downstream_key: str) -> None:
        sent = bodies.body(MARK, one)
        account = f"pay.{one.tenant}.example"
        self.charges.append(
            Charge(charge, account, downstream_key, sent["amount"], sent["currency"], sent["reference"])
        )

    def upsert(self, place: str, text: str) -> None:
        self.entities.append(Entity(place, _id_in(text), document_hash(text)))

    def look(self, tenant: str, one: PlannedRequest) -> None:
        """`tenant` reads the record of a request, and is answered as it must be."""
        operation, receipt = BY_NAME[one.operation], self.receipts[pk_of(one)]
        own = tenant == one.tenant
        self.attempts.append(
            replace(
                self.attempts[0],
                attempt_id=f"read-{next(self.numbers)}",
                tenant=tenant,
                key=None,
                derived_key=None,
                operation=operation.read_name,
                body_hash=receipt.record_id or "",
                status=200 if own else 404,
                response_body=contract.as_read(operation, receipt.document or "") if own else None,
            )
        )

    def wide_verdict(self, *, outside: bool = True) -> Verdict:
        answers = Answers()
        for attempt in self.attempts:
            answers.hear(attempt)
        return check(
            answers,
            self.receipts.values(),
            self.records.values(),
            self.events,
            Expected(
                self.stage,
                answers.attempted + Counter(self.unsent),
                frozenset(self.declined),
                self.slots,
            ),
            Outside(tuple(self.charges), tuple(self.entities), DESTINATIONS) if outside else None,
            [one.attempt_id for one in self.attempts],
        )

    def verdict(self, *, events: bool = True) -> Verdict:
        assert events, "a wide story has audit queues"
        return self.wide_verdict()


# A payment, one that is declined, an order, a slot and its rival, an event and the same id of another source.
PAID, UNPAID = request(PAYMENTS, "acme", 1), request(PAYMENTS, "acme", 5)
ORDERED = request(ORDERS, "acme", 2)
BOOKED, RIVAL = request(APPOINTMENTS, "acme", 3), request(APPOINTMENTS, "acme", 6, slot=3)
SENT, SENT_ELSEWHERE = request(WEBHOOKS, "acme", 4), request(WEBHOOKS, "acme", 4, source="stripe")
FIRST = (PAID, ORDERED, BOOKED, SENT, SENT_ELSEWHERE)


def good() -> WideStory:
    """Two tenants with the same keys; duplicates, reuses, refusals that stand, and reads."""
    story = WideStory()
    numbers = iter(range(1, 100))
    for tenant in TENANTS:
        for one in FIRST:
            mine = replace(one, tenant=tenant)
            story.take(mine, next(numbers))
            story.again(mine)
        story.turn_down(replace(UNPAID, tenant=tenant), 402)
        story.again(replace(UNPAID, tenant=tenant))
        story.turn_down(replace(RIVAL, tenant=tenant), 409)
        story.again(replace(RIVAL, tenant=tenant))
    story.running(PAID)
    story.running(BOOKED)
    for one in (PAID, ORDERED, BOOKED):
        story.told(
            replace(one, variant=1), (422, contract.PROBLEM, b'{"type":"urn:onceward:problem:key-reused"}')
        )
    story.told(replace(SENT, variant=1), contract.again(WEBHOOKS, story.answers_of[pk_of(SENT)]))
    for one in _of_all(FIRST):
        for tenant in TENANTS:
            story.look(tenant, one)
    return story


def _of_all(ones: Iterable[PlannedRequest]) -> list[PlannedRequest]:
    return [replace(one, tenant=tenant) for tenant in TENANTS for one in ones]


def _id_in(text: str) -> str:
    found: str = json.loads(text)["id"]
    return found


def place(one: PlannedRequest) -> tuple[str, str]:
    """Tenant and key, as violations name them."""
    return one.tenant, bodies.stored_key(MARK, one)
