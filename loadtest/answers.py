"""What the clients of a run know: for each pair of tenant and key, the answers that it got.

Memory grows with the keys and with the different answers, not with the attempts.
"""

from __future__ import annotations

import json
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

# What the contract gives to a well-formed POST of an active tenant, besides 2xx and 5xx (DESIGN section 3).
_EXPECTED_REFUSALS = frozenset(
    {HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.TOO_MANY_REQUESTS}
)


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
        uncertain: attempts that may have been accepted unseen: no answer, or a 5xx.
        first: the new answers, by what they say; value: an attempt that got it.
        replays: the replayed ones, likewise.
        record_ids: ids in 2xx bodies.
        accepted, refused, sent: body hashes answered 2xx, answered 422, sent at all.
        unreadable: 2xx answers without an id. unexpected: statuses outside the contract.
        misaddressed: 2xx answers that do not carry their own request's correlation id.
    """

    tenant: str
    key: str
    created: int = 0
    uncertain: int = 0
    first: dict[Reply, str] = field(default_factory=dict)
    replays: dict[Reply, str] = field(default_factory=dict)
    record_ids: set[str] = field(default_factory=set)
    accepted: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    sent: set[str] = field(default_factory=set)
    unreadable: int = 0
    misaddressed: int = 0
    unexpected: Counter[int] = field(default_factory=Counter)

    @property
    def answered(self) -> bool:
        """Somebody was told 2xx."""
        return bool(self.accepted)

    def hear(self, attempt: Attempt) -> None:
        """Take in one attempt of a POST."""
        if attempt.outcome is Outcome.FAIL:
            return
        self.sent.add(attempt.body_hash)
        status = attempt.status
        if status is None or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            self.uncertain += 1
        elif status < HTTPStatus.MULTIPLE_CHOICES:
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
        self.created += not attempt.replayed
        # The storm sends its attempt id as correlation id, and every answer repeats it (DESIGN section 3).
        self.misaddressed += attempt.correlation_id != attempt.attempt_id
        record_id = _id_of(attempt.response_body)
        if record_id is None:
            self.unreadable += 1
        else:
            self.record_ids.add(record_id)


def derived_key(body_hash: str) -> str:
    """Where a lead without a key lives: the platform derives a key from its body (DESIGN section 3).

    Spelt out here and not imported: the checker must notice when the platform changes it.
    """
    return f" leads:body:{body_hash}"


class Answers:
    """Everything the clients of a run know."""

    def __init__(self) -> None:
        self.by_pk: dict[str, KeyAnswers] = {}
        self.reads: list[Attempt] = []
        self.counts = Counts()
        self._keys: set[str] = set()

    def hear(self, attempt: Attempt) -> None:
        """Take in one attempt. Raises ValueError for an operation that it has no rules for."""
        _count(self.counts, attempt)
        if attempt.operation == LEADS_READ:
            self.reads.append(attempt)
        elif attempt.operation == LEADS:
            key = derived_key(attempt.body_hash) if attempt.key is None else attempt.key
            self._keys.add(key)
            pk = f"{attempt.tenant}#{key}"
            self.by_pk.setdefault(pk, KeyAnswers(attempt.tenant, key)).hear(attempt)
        else:
            raise ValueError(f"attempt {attempt.attempt_id}: no rules for the operation {attempt.operation}")
        self.counts.keys, self.counts.tenant_keys = len(self._keys), len(self.by_pk)


def _count(counts: Counts, attempt: Attempt) -> None:
    if attempt.operation == LEADS_READ:
        counts.reads += 1
        return
    counts.requests += 1
    status = attempt.status
    if attempt.outcome is Outcome.FAIL:
        counts.failed += 1
    elif status is None:
        counts.unknown += 1
    elif status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        counts.server_errors += 1
    elif status < HTTPStatus.MULTIPLE_CHOICES:
        counts.replays += attempt.replayed
        counts.created += not attempt.replayed
    elif status == HTTPStatus.TOO_MANY_REQUESTS:
        counts.throttled += 1
    elif status in _EXPECTED_REFUSALS:
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
