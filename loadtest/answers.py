"""What the clients of a run know: for each pair of tenant and key, the answers that it got.

Memory grows with the keys, and with what each attempt says of its key: a long run is heard a part at a time.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from loadtest import heard
from loadtest.bodies import derived_key
from loadtest.history import Outcome
from loadtest.operations import BY_NAME, READ_SUFFIX
from loadtest.told import ANSWERED, Told, told
from loadtest.verdict import Counts

if TYPE_CHECKING:
    from loadtest.heard import KeyAnswers
    from loadtest.history import Attempt

# What may be an id inside the text of a refusal: ours are ULIDs, and shorter words are prose.
_WORD = re.compile(r"[\w-]{6,}")


AGAIN = "again"
"""The scenario of what is sent again after injected faults (`chaos`): beside the plan, and judged like it."""


class Answers:
    """Everything the clients of a run know.

    Attributes:
        by_pk: by partition key (`tenantId#key`). reads: the GETs.
        attempted: how often each (tenant, key, body hash) was attempted as planned, sent or not.
        requests: how many attempts of each partition key, sent or not.
        words: by tenant, what may be an id in the answers that refused it, and the key that was refused.
    """

    def __init__(self) -> None:
        self.by_pk: dict[str, KeyAnswers] = {}
        self.reads: list[Attempt] = []
        self.counts = Counts()
        self.attempted: Counter[tuple[str, str, str]] = Counter()
        self.requests: Counter[str] = Counter()
        self.words: dict[tuple[str, str], str] = {}
        self._keys: set[str] = set()

    def hear(self, attempt: Attempt) -> None:
        """Take in one attempt. Raises ValueError for an operation that it has no rules for."""
        if attempt.operation.removesuffix(READ_SUFFIX) not in BY_NAME:
            raise ValueError(f"attempt {attempt.attempt_id}: no rules for the operation {attempt.operation}")
        if attempt.operation.endswith(READ_SUFFIX):
            self.counts.reads += 1
            self.reads.append(attempt)
            return
        kind = told(attempt)
        _count(self.counts, attempt, kind)
        key = key_of(attempt)
        self._keys.add(key)
        if attempt.scenario != AGAIN:
            self.attempted[attempt.tenant, key, attempt.body_hash] += 1
        pk = f"{attempt.tenant}#{key}"
        self.requests[pk] += 1
        if pk not in self.by_pk:
            self.by_pk[pk] = heard.of(attempt, key)
        self.by_pk[pk].hear(attempt)
        if attempt.status is not None and (kind not in ANSWERED or _is_refusal(attempt)):
            self._hear_words(attempt, pk)
        self.counts.keys, self.counts.tenant_keys = len(self._keys), len(self.by_pk)

    def _hear_words(self, attempt: Attempt, pk: str) -> None:
        for word in _WORD.findall(attempt.response_body or ""):
            if word != attempt.attempt_id:  # its correlation id, new in each answer
                self.words.setdefault((attempt.tenant, word), pk)


def key_of(attempt: Attempt) -> str:
    """Where the receipt of an attempt lives, after the tenant."""
    return attempt.key or attempt.derived_key or derived_key(attempt.body_hash)


def _is_refusal(attempt: Attempt) -> bool:
    return BY_NAME[attempt.operation].is_final(attempt.status or 0, attempt.problem)


_COUNTED = {
    Told.NEW: "created",
    Told.REFUSED: "declined",
    Told.REPLAY: "replays",
    Told.IN_PROGRESS: "in_progress",
    Told.CONFLICT: "conflicts",
    Told.THROTTLED: "throttled",
    Told.REJECTED: "rejected",
    Told.SERVER_ERROR: "server_errors",
    Told.NONE: "unknown",
    Told.DROPPED: "dropped",
}


def _count(counts: Counts, attempt: Attempt, kind: Told) -> None:
    counts.requests += 1
    name = "failed" if attempt.outcome is Outcome.FAIL else _COUNTED[kind]
    setattr(counts, name, getattr(counts, name) + 1)
