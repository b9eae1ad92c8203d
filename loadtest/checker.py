"""The checker: what clients saw, what was stored and what was published must tell one story. Pure.

Every promise of DESIGN section 2 that can be seen from outside is a rule here, and every rule has a test
that plants its violation. It shares no code with the platform that it checks.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loadtest import effects, one_key, ordering, outside, tally
from loadtest.crossing import Crossing
from loadtest.partitions import Pile
from loadtest.proof import Proof
from loadtest.reading import Reading
from loadtest.verdict import Counts, Ordered, Pair, Verdict, Violations

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from loadtest.answers import Answers
    from loadtest.expected import Expected
    from loadtest.outside import Outside
    from loadtest.stored import AuditEvent, StoredReceipt, StoredRecord


# Pairs of tenant and key that are kept for the report: more bars would be thinner than a pixel.
_KEPT_PAIRS = 800


@dataclass(frozen=True, slots=True)
class Part:
    """All that is known of some of the keys; the same key of another tenant is in the same part.

    Attributes:
        answers: what the clients know, from the history.
        receipts, records, events: what of these keys is in the tables and was in the audit queues; None for
            events where no queue listens, and then nothing is said about events.
        expected: what the run was meant to do with them.
        outside: what reached the provider and the CRM; None where nobody can tell, and then nothing is said
            about that.
    """

    answers: Answers
    receipts: Mapping[str, StoredReceipt]
    records: Sequence[StoredRecord]
    events: Sequence[AuditEvent] | None
    expected: Expected
    outside: Outside | None = None


def check(
    answers: Answers,
    receipts: Iterable[StoredReceipt],
    records: Iterable[StoredRecord],
    events: Iterable[AuditEvent] | None,
    expected: Expected,
    seen_outside: Outside | None = None,
    attempt_ids: Iterable[str] = (),
) -> Verdict:
    """Judge a run that fits in memory, in one part. `attempt_ids`: of all attempts."""
    crossing = Crossing(Pile())
    for one in attempt_ids:
        crossing.attempt(one)
    by_pk = {receipt.pk: receipt for receipt in receipts}
    published = None if events is None else list(events)
    judge = Judge(crossing)
    judge.take(Part(answers, by_pk, list(records), published, expected, seen_outside))
    return judge.verdict()


class Judge:
    """Judges a run, a part of its keys after the other. Memory: of one part, and the first violations."""

    def __init__(self, crossing: Crossing) -> None:
        """`crossing`: knows the attempts' ids already, and nothing else."""
        self._crossing = crossing
        self._found, self._ordered, self._counts = Violations(), Ordered(), Counts()
        self._reading, self._proof = Reading(), Proof()
        self._by_operation: dict[str, dict[str, int]] = {}
        self._writes: Counter[int] = Counter()
        self._pairs: list[Pair] = []
        self._events_checked = self._downstream_checked = True

    def take(self, part: Part) -> None:
        """Judge some of the keys."""
        answers, by_pk, found = part.answers, part.receipts, self._found
        ids: defaultdict[str, set[str]] = defaultdict(set)
        for pk, heard in answers.by_pk.items():
            rules = part.expected.rules(heard.operation)
            one_key.check(heard, by_pk.get(pk), found, rules)
            ordering.check(heard, rules, found, self._ordered)
            ids[pk] |= heard.record_ids
            if pk in by_pk and by_pk[pk].record_id:
                ids[pk].add(by_pk[pk].record_id or "")
        following = effects.Effects(answers, by_pk, ids, found, part.expected.stage)
        following.check(part.records, part.events, self._reading)
        outside.check(answers, by_pk, part.records, part.expected, part.outside, found, self._crossing)
        one_key.check_ids(answers, ids, found)
        self._note_names(part, ids)
        self._proof.take(answers, part.expected, found)
        self._count(part, ids)

    def _note_names(self, part: Part, ids: Mapping[str, set[str]]) -> None:
        for pk, named in ids.items():
            for one in sorted(named):
                self._crossing.named("id", one, pk)
        for pk, receipt in part.receipts.items():
            if receipt.event_id:
                self._crossing.named("event", receipt.event_id, pk)
        for (tenant, word), pk in part.answers.words.items():
            self._crossing.told(tenant, word, pk)

    def _count(self, part: Part, ids: Mapping[str, set[str]]) -> None:
        answers, by_pk = part.answers, part.receipts
        counts = answers.counts
        counts.writes = len(by_pk)
        counts.refusals = sum(receipt.refuses for receipt in by_pk.values())
        counts.effects = counts.writes - counts.refusals
        counts.never_accepted = sum(
            pk not in by_pk and not heard.answered for pk, heard in answers.by_pk.items()
        )
        self._counts.add(counts)
        pairs = [
            Pair(heard.tenant, heard.key, answers.requests[pk], len(ids[pk]) or _stands(by_pk.get(pk)))
            for pk, heard in answers.by_pk.items()
        ]
        self._writes.update(pair.writes for pair in pairs)
        self._pairs = heapq.nlargest(_KEPT_PAIRS, [*self._pairs, *pairs], key=lambda pair: pair.rank)
        tally.add(
            self._by_operation,
            tally.by_operation(answers, by_pk, part.records, part.events, part.outside),
        )
        self._events_checked &= part.events is not None
        self._downstream_checked &= part.outside is not None

    def verdict(self) -> Verdict:
        """Judge what concerns several keys, and the run as a whole. Once, after the last part."""
        found = self._found
        self._reading.check(found)
        self._crossing.check(found)
        self._proof.check(self._counts, self._crossing, found)
        tally.add_slots(self._by_operation, self._crossing.slots)
        return Verdict(
            counts=self._counts,
            violations=tuple(found.kept),
            by_kind={kind.value: count for kind, count in found.counted.most_common()},
            events_checked=self._events_checked,
            writes_per_key=dict(self._writes),
            pairs=tuple(self._pairs),
            ordered=self._ordered,
            downstream_checked=self._downstream_checked,
            by_operation=self._by_operation,
        )


def _stands(receipt: StoredReceipt | None) -> int:
    """A refusal that stands is one write: its receipt, which names no record."""
    return int(receipt is not None and receipt.refuses)
