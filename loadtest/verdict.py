"""The verdict on a run: what was counted, and every promise that was broken."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from typing import Any


class Kind(Enum):
    """A promise that can be broken. The value is what reports print."""

    SECOND_WRITE = "second-write"  # two new answers, or two sets of ids, for one key
    ANSWERED_ID = "answered-id"  # an answer names another record than the receipt, or than its own Location
    NO_FIRST_ANSWER = "no-first-answer"  # replays only, though no earlier attempt's answer is unknown
    NEVER_ACCEPTED = "never-accepted"  # a key that was answered, and never with what stands (stage `local`)
    LATE_IN_PROGRESS = "late-in-progress"  # a 409 "still running" to a request begun after the first was done
    WRONG_DECISION = "wrong-decision"  # a good card declined, a bad one charged, a free slot called taken
    NO_REPLAY = "no-replay"  # duplicates that were answered, and none with the first answer (stage `local`)
    LOST_WRITE = "lost-write"  # answered 2xx, and there is no receipt
    LOST_RECORD = "lost-record"  # a receipt without its record
    LOST_EVENT = "lost-event"  # a receipt without its event
    SECOND_RECORD = "second-record"  # two records for one key
    SECOND_EVENT = "second-event"  # two event ids for one key
    ORPHAN_RECEIPT = "orphan-receipt"  # a receipt of this run for a key that nobody sent
    ORPHAN_RECORD = "orphan-record"  # a record that no receipt explains
    ORPHAN_EVENT = "orphan-event"  # an event that no receipt explains
    UNFINISHED_WORK = "unfinished-work"  # an order never completed, a webhook never delivered
    SECOND_CHARGE = "second-charge"  # two charges for one payment, or under one downstream key
    LOST_CHARGE = "lost-charge"  # a payment that was answered and never charged
    ORPHAN_CHARGE = "orphan-charge"  # money taken for a payment that was not accepted
    WRONG_CHARGE = "wrong-charge"  # another amount or currency than was asked for and answered
    SECOND_ENTITY = "second-entity"  # two entities at the CRM for one event
    LOST_ENTITY = "lost-entity"  # an event that the CRM does not have
    ORPHAN_ENTITY = "orphan-entity"  # an entity at the CRM that no receipt explains
    MISPLACED = "misplaced"  # a charge or an entity at another address than its tenant's and source's
    SLOT_BOOKED_TWICE = "slot-booked-twice"  # two appointments with one doctor at one moment
    UNFINISHED_RECEIPT = "unfinished-receipt"  # a receipt that is not completed
    FINAL_WITH_OUTBOX = "final-with-outbox"  # a refusal that is nevertheless recorded and published
    REPLAY_STATUS = "replay-status"  # a replay whose status is not the first answer's
    REPLAY_BODY = "replay-body"  # a replay whose bytes are not the first answer's
    REPLAY_HEADERS = "replay-headers"  # a replay whose allow-listed headers are not the first answer's
    STORED_ANSWER = "stored-answer"  # the receipt holds another answer than was given
    WRONG_CONTENT = "wrong-content"  # record or event hold something else than the receipt or the request
    WRONG_ENVELOPE = "wrong-envelope"  # an event whose attributes do not fit its receipt
    ACCEPTED_MISMATCH = "accepted-mismatch"  # a 2xx to another body than the key was first used for
    FALSE_MISMATCH = "false-mismatch"  # a 422 to the very body that the key was used for
    SHARED_ID = "shared-id"  # one record or event id for two keys of one tenant
    CROSS_TENANT = "cross-tenant"  # one tenant's ids, data or events seen by, or stored under, another
    MISADDRESSED = "misaddressed"  # an answer with the correlation id of another request
    UNREADABLE_ANSWER = "unreadable-answer"  # a 2xx without the ids that it must carry
    UNEXPECTED_ANSWER = (
        "unexpected-answer"  # a status that the contract does not give here, or a fault of ours
    )
    READS_INCOMPLETE = "reads-incomplete"  # a tenant did not read its own lead and another's to an answer
    INCOMPLETE_RUN = "incomplete-run"  # the history is not the plan's: attempts missing, twice, or others
    NOTHING_ACCEPTED = "nothing-accepted"  # a storm without one accepted request proves nothing
    NOT_LINEARIZABLE = "not-linearizable"  # no order of a key's attempts explains what they were answered
    ORDER_UNDECIDED = "order-undecided"  # the search for one was given up: nothing is said of this key
    PROVES_NOTHING = "proves-nothing"  # too many keys without a 2xx, or duplicates without a replay


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken promise.

    Attributes:
        kind: which one.
        tenant, key: where; a derived key (of a request without one) starts with a space; both are '' for
            what concerns the whole run.
        detail: what was seen, for people.
    """

    kind: Kind
    tenant: str
    key: str
    detail: str

    def to_json(self) -> dict[str, str]:
        """As it stands in `verdict.json`."""
        return {"kind": self.kind.value, "tenant": self.tenant, "key": self.key, "detail": self.detail}


@dataclass(slots=True)
class Counts:
    """What was counted in a run.

    Attributes:
        requests: POST attempts, warm-up included.
        keys: different keys sent (one used by three tenants is one; a request without a key counts by its
            body).
        tenant_keys: different pairs of tenant and key.
        writes: receipts; as many as answered pairs of tenant and key, when all is well.
        effects, refusals: the receipts of what took effect, and those of refusals that stand (a card
            declined, a slot taken), from which nothing follows. Together they are `writes`.
        records, events: found; events by different id.
        charges, entities: at the provider and at the CRM, where there is a stand-in that tells.
        created: new 2xx answers that were heard. declined: likewise, those that refuse for good (402, a taken
            slot). Both may be fewer than `effects` and `refusals`: the client of a first answer may hang up.
        replays: either of them again.
        in_progress: 409, since the first request still ran. conflicts: 422. throttled: 429.
        server_errors: 5xx. rejected: every other 3xx and 4xx.
        dropped: the client hung up as planned. unknown: sent, and no answer came. failed: never sent.
        reads: GET requests (not in `requests`).
        never_accepted: pairs of tenant and key that were never answered for good and have no receipt.
    """

    requests: int = 0
    keys: int = 0
    tenant_keys: int = 0
    writes: int = 0
    effects: int = 0
    refusals: int = 0
    records: int = 0
    events: int = 0
    charges: int = 0
    entities: int = 0
    created: int = 0
    declined: int = 0
    replays: int = 0
    in_progress: int = 0
    conflicts: int = 0
    throttled: int = 0
    server_errors: int = 0
    rejected: int = 0
    dropped: int = 0
    unknown: int = 0
    failed: int = 0
    reads: int = 0
    never_accepted: int = 0

    def add(self, other: Counts) -> None:
        """Add what was counted of other keys."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of tenant and key: how many requests were sent, and how many writes there were."""

    tenant: str
    key: str
    requests: int
    writes: int

    @property
    def rank(self) -> tuple[bool, int]:
        """The higher, the more it is worth showing: first those that are wrong."""
        return self.writes != 1, self.requests


@dataclass(slots=True)
class Ordered:
    """What was checked against the sequential specification of a key (`loadtest.sequential`).

    Attributes:
        keys: pairs of tenant and key. attempts: of all of them, those that say something of their key.
        most_attempts: of one key. undecided: keys whose search was given up; each is a violation, too.
    """

    keys: int = 0
    attempts: int = 0
    most_attempts: int = 0
    undecided: int = 0


# Kept of each kind, with the key: enough to find the fault, few enough that a platform that breaks every
# promise cannot fill the memory.
_KEPT_PER_KIND = 100


@dataclass(slots=True)
class Violations:
    """Collects violations: counts them all, keeps the first hundred of each kind."""

    kept: list[Violation] = field(default_factory=list)
    counted: Counter[Kind] = field(default_factory=Counter)

    def add(self, kind: Kind, tenant: str, key: str, detail: str) -> None:
        """Note one."""
        self.counted[kind] += 1
        if self.counted[kind] <= _KEPT_PER_KIND:
            self.kept.append(Violation(kind, *map(_printable, (tenant, key, detail))))

    def forget(self, kind: Kind) -> None:
        """Take back all of a kind."""
        del self.counted[kind]
        self.kept = [one for one in self.kept if one.kind is not kind]

    def keeps(self, kind: Kind) -> bool:
        """Whether the next one of a kind is kept: what is only counted need not be explained."""
        return self.counted[kind] < _KEPT_PER_KIND

    @property
    def total(self) -> int:
        """How many in all, kept or not."""
        return self.counted.total()


def _printable(text: str) -> str:
    """Half of a surrogate pair, which an id may hold that is not ours, is nothing to print."""
    return text.encode("utf-8", "backslashreplace").decode()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of a run.

    Attributes:
        counts: what was counted.
        violations: the kept ones, in the order in which they were found.
        by_kind: how many of each kind, kept or not.
        events_checked: there were audit queues to hear the events.
        ordered: what was checked against the sequential specification.
        downstream_checked: there was a stand-in to tell what reached the provider and the CRM.
        by_operation: what each operation left behind (`loadtest.tally.by_operation`).
        writes_per_key: how many pairs of tenant and key have 0, 1, 2... writes: different record ids in their
            answers, receipt and records.
        pairs: those of them that are not written once, and then those with the most requests; 800 at most.
    """

    counts: Counts
    violations: tuple[Violation, ...]
    by_kind: dict[str, int]
    events_checked: bool
    writes_per_key: dict[int, int]
    pairs: tuple[Pair, ...] = ()
    downstream_checked: bool = False
    ordered: Ordered = field(default_factory=Ordered)
    by_operation: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many violations in all."""
        return sum(self.by_kind.values())

    @property
    def passed(self) -> bool:
        """No promise was broken."""
        return self.total == 0

    def to_json(self) -> dict[str, Any]:
        """As it stands in `verdict.json`."""
        return {
            "passed": self.passed,
            "eventsChecked": self.events_checked,
            "downstreamChecked": self.downstream_checked,
            "counts": asdict(self.counts),
            "ordered": asdict(self.ordered),
            "byOperation": self.by_operation,
            "violations": self.total,
            "byKind": self.by_kind,
            "writesPerKey": {str(writes): pairs for writes, pairs in sorted(self.writes_per_key.items())},
            "examples": [violation.to_json() for violation in self.violations],
        }
