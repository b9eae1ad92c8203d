"""The checker's rules for what left the platform: charges, entities at the CRM, and slots. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from loadtest import bodies
from loadtest.operations import APPOINTMENTS, PAYMENTS
from loadtest.stored import document_hash, member, sent_in
from loadtest.verdict import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from loadtest.answers import Answers
    from loadtest.crossing import Crossing
    from loadtest.expected import Expected
    from loadtest.stored import StoredReceipt, StoredRecord
    from loadtest.verdict import Violations


@dataclass(frozen=True, slots=True)
class Charge:
    """Money that the provider took. `downstream_key`: under which; `account`: whose, at the provider.

    `reference` is the payment's own; it holds the run's mark.
    """

    charge_id: str
    account: str
    downstream_key: str
    amount: int
    currency: str
    reference: str


@dataclass(frozen=True, slots=True)
class Entity:
    """What the CRM holds under one id. `place`: host, path and key. `document_id`, `document_hash`: of it."""

    place: str
    document_id: str
    document_hash: str | None


@dataclass(frozen=True, slots=True)
class Outside:
    """What of a run is outside the platform.

    Attributes:
        charges, entities: those that bear the run's mark.
        destinations: the URL that each (tenant, operation) or (tenant, operation/source) calls, as it is
            configured (`{id}` stands for the external id).
    """

    charges: tuple[Charge, ...]
    entities: tuple[Entity, ...]
    destinations: Mapping[tuple[str, str], str]


def check(
    answers: Answers,
    receipts: Mapping[str, StoredReceipt],
    records: Iterable[StoredRecord],
    expected: Expected,
    seen: Outside | None,
    found: Violations,
    crossing: Crossing,
) -> None:
    """Check decisions and slots, and where `seen` tells of them charges and entities; fills in the counts."""
    rules = _Outside(answers, receipts, expected, found)
    rules.check_decisions()
    rules.note_slots(records, crossing)
    if seen is not None:
        rules.check_charges(seen, crossing)
        rules.check_entities(seen)
        answers.counts.charges = len(seen.charges)
        answers.counts.entities = len(seen.entities)


class _Outside:
    def __init__(
        self,
        answers: Answers,
        receipts: Mapping[str, StoredReceipt],
        expected: Expected,
        found: Violations,
    ) -> None:
        self._answers = answers
        self._receipts = receipts
        self._expected = expected
        self._found = found

    def check_decisions(self) -> None:
        """A provider declines the cards that it must, and no others."""
        declined = self._expected.declined
        for pk, heard in self._answers.by_pk.items():
            if heard.operation != PAYMENTS:
                continue
            if heard.declined - declined:
                self._broken(Kind.WRONG_DECISION, pk, "a good card was declined")
            if (heard.accepted - heard.declined) & declined:
                self._broken(Kind.WRONG_DECISION, pk, "a card that the provider declines was charged")

    def note_slots(self, records: Iterable[StoredRecord], crossing: Crossing) -> None:
        """Which slots are booked, and which are said to be: their keys are others, and judged across them."""
        for receipt in self._receipts.values():
            _note_slot(crossing, receipt.tenant, receipt, receipt.pk)
        for record in records:
            _note_slot(crossing, record.pk.partition("#")[0], record, "")
        for pk, heard in self._answers.by_pk.items():
            for body in heard.declined if heard.operation == APPOINTMENTS else ():
                crossing.refused(heard.tenant, self._expected.slots.get(body, ""), pk)

    def check_charges(self, seen: Outside, crossing: Crossing) -> None:
        """Each accepted payment is one charge of what was asked for; no other money was taken."""
        charges = seen.charges
        payments = {
            self._charge_of(receipt): receipt
            for receipt in self._receipts.values()
            if receipt.operation == PAYMENTS.name and receipt.completed and not receipt.refuses
        }
        charged = Counter(charge.charge_id for charge in charges)
        for charge_id, receipt in payments.items():
            if charge_id not in charged:
                detail = f"it was answered, and there is no charge {charge_id}"
                self._broken(Kind.LOST_CHARGE, receipt.pk, detail)
        for charge in charges:
            found = payments.get(charge.charge_id)
            crossing.charged(charge.account, charge.downstream_key, found.pk if found else "")
            if found is None:
                self._explain_charge(charge, payments)
            else:
                self._check_amount(charge, found)
                self._check_place(found, charge.account, seen)

    def _charge_of(self, receipt: StoredReceipt) -> str:
        """The charge that a payment's answer names; its own key, which is no charge, where it names none."""
        return member(receipt.body, "chargeId") or receipt.pk

    def _check_amount(self, charge: Charge, receipt: StoredReceipt) -> None:
        asked = sent_in(receipt.document, PAYMENTS)
        answered = {name: member(receipt.body, name) for name in ("amount", "currency")}
        for name, got in (("amount", charge.amount), ("currency", charge.currency)):
            if not asked.get(name) == answered[name] == got:
                detail = (
                    f"charge {charge.charge_id} has {name} {got}, asked for {asked.get(name)}, "
                    f"answered {answered[name]}"
                )
                self._broken(Kind.WRONG_CHARGE, receipt.pk, detail)

    def _explain_charge(self, charge: Charge, payments: Mapping[str, StoredReceipt]) -> None:
        """Name the key of a charge that no answer names, by its reference and its account at the provider."""
        senders = sorted(pk for pk, one in self._answers.by_pk.items() if one.key == charge.reference)
        named = [pk for pk in senders if pk.partition("#")[0] in charge.account] or senders
        what = f"charge {charge.charge_id} of {charge.amount} {charge.currency} at {charge.account}"
        accepted = {receipt.pk for receipt in payments.values()}
        if second := [pk for pk in named if pk in accepted]:
            self._broken(Kind.SECOND_CHARGE, second[0], f"{what} besides that of the answer")
        else:
            pk = named[0] if named else "#"
            self._broken(Kind.ORPHAN_CHARGE, pk, f"{what}, and no payment of it was accepted")

    def check_entities(self, seen: Outside) -> None:
        """Each event and order that has a destination is there once, as it was accepted; nothing else is."""
        by_record = {one.record_id: one for one in self._receipts.values() if one.record_id}
        written: defaultdict[str, list[Entity]] = defaultdict(list)
        for entity in seen.entities:
            written[entity.document_id].append(entity)
        for document_id, entities in written.items():
            receipt = by_record.get(document_id)
            if receipt is None:
                detail = f"{entities[0].place} holds {document_id or 'no id'}, and no receipt does"
                self._broken(Kind.ORPHAN_ENTITY, "#", detail)
                continue
            if len(entities) > 1:
                places = ", ".join(sorted(entity.place for entity in entities))
                self._broken(Kind.SECOND_ENTITY, receipt.pk, f"{len(entities)} entities: {places}")
            self._check_content(receipt, entities, seen)
        for receipt in by_record.values():
            called = receipt.operation != PAYMENTS.name and _destination(receipt, seen) is not None
            if called and receipt.record_id not in written:
                self._broken(Kind.LOST_ENTITY, receipt.pk, f"the CRM does not have {receipt.record_id}")

    def _check_content(self, receipt: StoredReceipt, entities: list[Entity], seen: Outside) -> None:
        for entity in entities:
            self._check_place(receipt, entity.place, seen)
            if entity.document_hash != document_hash(receipt.document):
                self._broken(Kind.WRONG_CONTENT, receipt.pk, f"{entity.place} is not its document")

    def _check_place(self, receipt: StoredReceipt, place: str, seen: Outside) -> None:
        """What is outside is where its tenant (and source) wants it, and at no other tenant's."""
        wanted = _destination(receipt, seen)
        if wanted is None or place.partition(" ")[0] != wanted:
            detail = f"{place} belongs to {wanted or 'nowhere'}"
            self._broken(Kind.MISPLACED, receipt.pk, detail)

    def _broken(self, kind: Kind, pk: str, detail: str) -> None:
        tenant, _, key = pk.partition("#")
        self._found.add(kind, tenant, key, detail)


def _note_slot(crossing: Crossing, tenant: str, found: StoredReceipt | StoredRecord, pk: str) -> None:
    slot = bodies.slot_of(sent_in(found.document, APPOINTMENTS))
    if slot is not None and found.record_id:
        crossing.booked(tenant, slot, found.record_id, pk)


def _destination(receipt: StoredReceipt, seen: Outside) -> str | None:
    """Host and path that what follows from a receipt belongs to; None where nothing is configured."""
    source, event_id = member(receipt.document, "source"), member(receipt.document, "eventId")
    what = receipt.operation if source is None else f"{receipt.operation}/{source}"
    url = seen.destinations.get((receipt.tenant, what))
    external_id = event_id or receipt.record_id or ""
    return None if url is None else url.partition("://")[2].replace("{id}", quote(external_id, safe=""))
