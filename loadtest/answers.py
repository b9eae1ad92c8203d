"""What the clients of a run know: for each pair of tenant and key, the answers that it got.

Memory grows with the keys and with the different answers; of an attempt only its id is kept.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING

from loadtest.history import LEADS, LEADS_READ, Outcome
from loadtest.verdict import Counts

if TYPE_CHECKING:
    from loadtest.history import Attempt

# Different replies that are kept of one key. A right platform gives one; a wrong one shows its fault in the
# first few.
_KEPT_REPLIES = 20

# What the contract gives to a well-formed POST of a lead of an active tenant, besides 2xx and 5xx (DESIGN
# section 3). A 409 is not among them: a lead is accepted in one write, so that no first one is ever "still
# running".
_EXPECTED_REFUSALS = frozenset({HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.TOO_MANY_REQUESTS})

# What may be an id inside the text of a refusal: ours are ULIDs, and shorter words are prose.
_WORD = re.compile(r"[\w-]{6,}")


@dataclass(frozen=True, slots=True)
class Reply:
    """A 2xx answer, as far as a replay must repeat it."""

    status: int
    response_hash: str
    headers: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class KeyAnswers:
    """What one tenant heard about one key.

    Attributes:
        tenant, key: which; a request without a key stands under the key that the platform derives.
        created: how many new (not replayed) 2xx answers.
        first: the new answers, by what they say; value: an attempt that got it.
        replays: the replayed ones, likewise.
        record_ids: ids in 2xx bodies.
        accepted, refused, sent: body hashes answered 2xx, answered 422, sent at all.
        heard: by body hash, how many attempts got any answer, whatever it was.
        unreadable: 2xx answers without an id. unexpected: statuses outside the contract.
        misaddressed: 2xx answers that do not carry their own request's correlation id.
        misplaced: 2xx answers whose Location is not that of the id in their body.
        first_unseen_ms: start of the earliest attempt that may have been accepted unseen (no answer, or a
            5xx). first_replay_ms: end of the earliest replay. Both infinite when there was none.
    """

    tenant: str
    key: str
    created: int = 0
    first: dict[Reply, str] = field(default_factory=dict)
    replays: dict[Reply, str] = field(default_factory=dict)
    record_ids: set[str] = field(default_factory=set)
    accepted: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    sent: set[str] = field(default_factory=set)
    heard: Counter[str] = field(default_factory=Counter)
    unreadable: int = 0
    misaddressed: int = 0
    misplaced: int = 0
    unexpected: Counter[int] = field(default_factory=Counter)
    first_unseen_ms: float = math.inf
    first_replay_ms: float = math.inf

    @property
    def answered(self) -> bool:
        """Somebody was told 2xx."""
        return bool(self.accepted)

    @property
    def unreplayed(self) -> bool:
        """Its duplicates were answered, and none with the first answer again."""
        return self.created == 1 and not self.replays and any(self.heard[body] > 1 for body in self.accepted)

    def hear(self, attempt: Attempt) -> None:
        """Take in one attempt of a POST."""
        if attempt.outcome is Outcome.FAIL:
            return
        self.sent.add(attempt.body_hash)
        status = attempt.status
        self.heard[attempt.body_hash] += status is not None
        if status is None or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            self.first_unseen_ms = min(self.first_unseen_ms, attempt.start_ms)
        elif HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
            self._hear_success(attempt, status)
        elif status == HTTPStatus.UNPROCESSABLE_ENTITY:
            self.refused.add(attempt.body_hash)
        elif status not in _EXPECTED_REFUSALS:
            self.unexpected[status] += 1

    def _hear_success(self, attempt: Attempt, status: int) -> None:
        self.accepted.add(attempt.body_hash)
        if status != HTTPStatus.CREATED:
            self.unexpected[status] += 1
        reply = Reply(status, attempt.response_hash or "", attempt.headers)
        kept = self.replays if attempt.replayed else self.first
        if reply in kept or len(kept) < _KEPT_REPLIES:
            kept.setdefault(reply, attempt.attempt_id)
        if attempt.replayed:
            self.first_replay_ms = min(self.first_replay_ms, attempt.end_ms)
        self.created += not attempt.replayed
        # The storm sends its attempt id as correlation id, and every answer repeats it (DESIGN section 3).
        self.misaddressed += attempt.correlation_id != attempt.attempt_id
        record_id = _id_of(attempt.response_body)
        if record_id is None:
            self.unreadable += 1
            return
        self.record_ids.add(record_id)
        self.misplaced += dict(attempt.headers).get("location") != f"/v1/leads/{record_id}"


def derived_key(body_hash: str) -> str:
    """Where a lead without a key lives: the platform derives a key from its body (DESIGN section 3).

    Spelt out here and not imported: the checker must notice when the platform changes it.
    """
    return f" leads:body:{body_hash}"


class Answers:
    """Everything the clients of a run know.

    Attributes:
        by_pk: by partition key (`tenantId#key`). reads: the GETs.
        attempted: how often each (tenant, key, body hash) was attempted, sent or not.
        repeated_ids: attempt ids that are more than once in the history.
        words: by tenant, what may be an id in the answers that refused it, and the key that was refused.
    """

    def __init__(self) -> None:
        self.by_pk: dict[str, KeyAnswers] = {}
        self.reads: list[Attempt] = []
        self.counts = Counts()
        self.attempted: Counter[tuple[str, str, str]] = Counter()
        self.repeated_ids: set[str] = set()
        self.words: dict[tuple[str, str], str] = {}
        self._ids: set[str] = set()
        self._keys: set[str] = set()

    def hear(self, attempt: Attempt) -> None:
        """Take in one attempt. Raises ValueError for an operation that it has no rules for."""
        _count(self.counts, attempt)
        if attempt.operation == LEADS_READ:
            self.reads.append(attempt)
        elif attempt.operation == LEADS:
            self._hear_lead(attempt)
        else:
            raise ValueError(f"attempt {attempt.attempt_id}: no rules for the operation {attempt.operation}")

    def _hear_lead(self, attempt: Attempt) -> None:
        key = derived_key(attempt.body_hash) if attempt.key is None else attempt.key
        self._keys.add(key)
        if attempt.attempt_id in self._ids:
            self.repeated_ids.add(attempt.attempt_id)
        self._ids.add(attempt.attempt_id)
        self.attempted[attempt.tenant, key, attempt.body_hash] += 1
        pk = f"{attempt.tenant}#{key}"
        self.by_pk.setdefault(pk, KeyAnswers(attempt.tenant, key)).hear(attempt)
        if attempt.status is not None and not HTTPStatus.OK <= attempt.status < HTTPStatus.MULTIPLE_CHOICES:
            for word in _WORD.findall(attempt.response_body or ""):
                if word != attempt.attempt_id:  # its correlation id, new in each answer
                    self.words.setdefault((attempt.tenant, word), pk)
        self.counts.keys, self.counts.tenant_keys = len(self._keys), len(self.by_pk)


def _count(counts: Counts, attempt: Attempt) -> None:
    if attempt.operation == LEADS_READ:
        counts.reads += 1
        return
    counts.requests += 1
    status = attempt.status
    if attempt.outcome is Outcome.FAIL:
        counts.failed += 1
    elif attempt.dropped:
        counts.dropped += 1
    elif status is None:
        counts.unknown += 1
    elif status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        counts.server_errors += 1
    elif HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        counts.replays += attempt.replayed
        counts.created += not attempt.replayed
    elif status == HTTPStatus.TOO_MANY_REQUESTS:
        counts.throttled += 1
    elif status == HTTPStatus.UNPROCESSABLE_ENTITY:
        counts.conflicts += 1
    else:
        counts.rejected += 1


def _id_of(body: str | None) -> str | None:
    try:
        answered = json.loads(body or "")
    except ValueError:
        return None
    found = answered.get("id") if isinstance(answered, dict) else None
    return found if isinstance(found, str) and found else None
