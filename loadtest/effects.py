"""The checker's rules for what follows from a receipt: its record, its event, and whose they are. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadtest.stored import as_announced, document_hash, operation_of
from loadtest.verdict import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from loadtest.answers import Answers
    from loadtest.reading import Reading
    from loadtest.stored import AuditEvent, StoredReceipt, StoredRecord
    from loadtest.verdict import Violations

# What DESIGN says of every event. Spelt out here: the checker shares nothing with the platform.
_SPEC_VERSION = "1.0"


class Effects:
    """Compares records, events and reads with the receipts that must explain them."""

    def __init__(
        self,
        answers: Answers,
        receipts: Mapping[str, StoredReceipt],
        ids: dict[str, set[str]],
        found: Violations,
        stage: str,
    ) -> None:
        """`ids` maps each pair of tenant and key to the record ids known of it; this adds those it finds."""
        self._answers = answers
        self._receipts = receipts
        self._ids = ids
        self._found = found
        self._stage = stage
        self._by_record = {one.record_id: one for one in receipts.values() if one.record_id}
        self._by_event = {one.event_id: one for one in receipts.values() if one.event_id}
        self._senders: dict[tuple[str, str], str] = {
            (heard.tenant, body): pk for pk, heard in answers.by_pk.items() for body in heard.sent
        }
        self._sent_by_anyone = {body for _, body in self._senders}

    def check(
        self, records: Iterable[StoredRecord], events: Iterable[AuditEvent] | None, reading: Reading
    ) -> None:
        """Check everything; fills in how many records and events there were."""
        for receipt in self._receipts.values():
            self._check_receipt(receipt)
        recorded = {self._check_record(record) for record in records}
        published = None if events is None else {self._check_event(event) for event in events}
        for receipt in self._receipts.values():
            if not receipt.completed or receipt.refuses:
                continue
            if receipt.record_id not in recorded:
                self._broken(Kind.LOST_RECORD, receipt.pk, f"no record {receipt.record_id}")
            if published is not None and receipt.event_id not in published:
                self._broken(
                    Kind.LOST_EVENT, receipt.pk, f"event {receipt.event_id} never reached the audit queue"
                )
        for attempt in self._answers.reads:
            asked = self._by_record.get(attempt.body_hash)
            reading.judge(attempt, asked, self._found, recorded=attempt.body_hash in recorded)
        owners = {one.tenant for one in self._by_record.values()}
        reading.seen(owners, (heard.tenant for heard in self._answers.by_pk.values() if heard.answered))
        self._answers.counts.records = len(recorded)
        self._answers.counts.events = len(published or ())

    def _check_receipt(self, receipt: StoredReceipt) -> None:
        tenant = receipt.pk.partition("#")[0]
        if receipt.tenant_id != tenant:
            self._broken(
                Kind.CROSS_TENANT, receipt.pk, f"the receipt says that its tenant is {receipt.tenant_id}"
            )
        if not receipt.completed:
            self._broken(Kind.UNFINISHED_RECEIPT, receipt.pk, "its receipt is not completed")
        elif receipt.refuses and (receipt.event_id or receipt.record_id):
            detail = f"it was refused with {receipt.status}, and record {receipt.record_id} follows from it"
            self._broken(Kind.FINAL_WITH_OUTBOX, receipt.pk, detail)
        elif receipt.document_id != receipt.record_id:
            detail = f"the document of record {receipt.record_id} says that it is {receipt.document_id}"
            self._broken(Kind.WRONG_CONTENT, receipt.pk, detail)
        if receipt.pk in self._answers.by_pk:
            return
        others = sorted(h.tenant for h in self._answers.by_pk.values() if h.key == receipt.key)
        if others:
            self._broken(Kind.CROSS_TENANT, receipt.pk, f"only {', '.join(others)} sent this key")
        else:
            self._broken(Kind.ORPHAN_RECEIPT, receipt.pk, "nobody sent this key")

    def _check_record(self, record: StoredRecord) -> str:
        """Judge one record; its id."""
        tenant, _, record_id = record.pk.partition("#")
        receipt = self._by_record.get(record_id)
        if receipt is None:
            self._explain(
                tenant, record.body_hash, f"record {record_id}", Kind.SECOND_RECORD, Kind.ORPHAN_RECORD
            )
            self._note_id(tenant, record.body_hash, record_id)
        elif receipt.pk.partition("#")[0] != tenant:
            detail = f"its record {record_id} stands under tenant {tenant}"
            self._broken(Kind.CROSS_TENANT, receipt.pk, detail)
            return ""  # where it belongs, it is missing
        elif record.tenant_id != tenant or record.record_id != record_id:
            detail = f"record {record.pk} says that it is {record.tenant_id}'s {record.record_id}"
            self._broken(Kind.CROSS_TENANT, receipt.pk, detail)
        elif record.event_id != receipt.event_id:
            detail = f"record {record_id} has event {record.event_id}, the receipt {receipt.event_id}"
            self._broken(Kind.SECOND_EVENT, receipt.pk, detail)
        elif record.document != receipt.document:
            self._broken(
                Kind.WRONG_CONTENT, receipt.pk, f"record {record_id} is not the document of the receipt"
            )
        elif record.operation != receipt.operation:
            detail = f"record {record_id} is of {record.operation or 'no operation'}, not {receipt.operation}"
            self._broken(Kind.WRONG_CONTENT, receipt.pk, detail)
        elif record.status != (done := operation_of(receipt).done):
            detail = f"record {record_id} is {record.status or 'without a status'}, not {done}"
            self._broken(Kind.UNFINISHED_WORK, receipt.pk, detail)
        return record_id

    def _check_event(self, event: AuditEvent) -> str:
        """Judge one delivery; its id. The same id again is a redelivery, and allowed."""
        receipt = self._by_event.get(event.event_id)
        tenant = event.queue_tenant
        if receipt is None:
            self._explain(
                tenant, event.body_hash, f"event {event.event_id}", Kind.SECOND_EVENT, Kind.ORPHAN_EVENT
            )
            return event.event_id
        owner = receipt.pk.partition("#")[0]
        # Three places say whose the event is, and a subscriber may go by any of them.
        if not owner == tenant == event.tenant_attribute == event.source.rpartition("/")[2]:
            detail = (
                f"event {event.event_id} of {owner} was in the queue of {tenant}, "
                f"with source {event.source} and tenantId {event.tenant_attribute}"
            )
            self._broken(Kind.CROSS_TENANT, receipt.pk, detail)
        if owner != tenant:
            return ""  # where it belongs, it is missing
        for name, got, fits in self._envelope(event, receipt, owner):
            if got != fits:
                detail = f"event {event.event_id} has {name} {got!r}, not {fits!r}"
                self._broken(Kind.WRONG_ENVELOPE, receipt.pk, detail)
        if event.data_hash is None or event.data_hash != document_hash(as_announced(receipt)):
            self._broken(
                Kind.WRONG_CONTENT, receipt.pk, f"event {event.event_id}: its data is not the document"
            )
        return event.event_id

    def _envelope(
        self, event: AuditEvent, receipt: StoredReceipt, owner: str
    ) -> Iterator[tuple[str, str | None, str | None]]:
        """What of an event must fit its receipt: name, what it is, what it should be."""
        event_type = operation_of(receipt).event_type
        yield "specversion", event.specversion, _SPEC_VERSION
        yield "type", event.event_type, event_type
        yield "type in its receipt", receipt.event_type, event_type
        # A source with another tenant is a matter of its own, and said already.
        stage = event.source.removesuffix(f"/{event.source.rpartition('/')[2]}")
        yield "source", f"{stage}/{owner}", f"/onceward/{self._stage}/{owner}"
        yield "subject", event.subject, receipt.record_id
        yield "time", event.time, receipt.created_at
        yield "correlationid", event.correlation_id, receipt.correlation_id
        yield "attribute eventId", event.event_attribute, event.event_id
        yield "attribute type", event.type_attribute, event_type

    def _explain(self, tenant: str, body_hash: str | None, what: str, second: Kind, orphan: Kind) -> None:
        """Name the key of a record or event that no receipt names, by the body that is in it."""
        pk = self._senders.get((tenant, body_hash or ""))
        if pk is None:
            foreign = body_hash in self._sent_by_anyone
            kind = Kind.CROSS_TENANT if foreign else orphan
            why = "holds a body that only another tenant sent" if foreign else "holds a body that nobody sent"
            self._found.add(kind, tenant, "", f"{what} {why}")
        elif pk in self._receipts:
            self._broken(second, pk, f"{what} besides that of the receipt")
        else:
            self._broken(orphan, pk, f"{what}, but there is no receipt")

    def _note_id(self, tenant: str, body_hash: str | None, record_id: str) -> None:
        pk = self._senders.get((tenant, body_hash or ""))
        if pk is not None:
            self._ids.setdefault(pk, set()).add(record_id)

    def _broken(self, kind: Kind, pk: str, detail: str) -> None:
        tenant, _, key = pk.partition("#")
        self._found.add(kind, tenant, key, detail)
