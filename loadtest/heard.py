"""What one tenant heard about one key: everything that its clients know of it."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loadtest.history import Outcome
from loadtest.operations import BY_NAME, WEBHOOK_DUPLICATE, WEBHOOK_NEW
from loadtest.sequential import call_of
from loadtest.told import ANSWERED, Told, is_broken, told

if TYPE_CHECKING:
    from loadtest.history import Attempt
    from loadtest.operations import Operation
    from loadtest.sequential import Call

# Different replies that are kept of one key. A right platform gives one; a wrong one shows its fault in the
# first few.
_KEPT_REPLIES = 20


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that stands, as far as a replay must repeat it."""

    status: int
    response_hash: str
    headers: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class KeyAnswers:
    """What one tenant heard about one key. "Answered" is a 2xx, or a refusal that stands for good.

    Attributes:
        tenant, key, operation: which; a request without a key stands under the key that the platform derives.
        created: how many new (not replayed) answers.
        first: the new answers, by what they say; value: an attempt that got it.
        replays: the replayed ones, likewise.
        record_ids: ids in 2xx answers.
        accepted, refused, sent: body hashes answered, answered 422, sent at all. declined: those of
            `accepted` that were refused for good.
        heard: by body hash, how many attempts got any answer, but for a 409 in progress.
        in_progress: how many got one, and last_in_progress_ms: the latest start of those.
        unreadable: 2xx answers without an id. unexpected: statuses outside the contract,
            and 5xx that no outage excuses.
        malformed: duplicates of a webhook that are not told so word for word.
        misaddressed: answers that do not carry their own request's correlation id.
        misplaced: 2xx answers whose Location is not that of the id in their body.
        first_unseen_ms: start of the earliest attempt that may have been accepted unseen (no answer, or a
            5xx). first_replay_ms, first_answer_ms: end of the earliest replay, and of the earliest answer of
            either kind. All infinite when there was none.
        calls: every attempt that says something of the key, as its sequential specification sees it.
    """

    tenant: str
    key: str
    operation: Operation
    created: int = 0
    first: dict[Reply, str] = field(default_factory=dict)
    replays: dict[Reply, str] = field(default_factory=dict)
    record_ids: set[str] = field(default_factory=set)
    accepted: set[str] = field(default_factory=set)
    declined: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    sent: set[str] = field(default_factory=set)
    heard: Counter[str] = field(default_factory=Counter)
    in_progress: int = 0
    unreadable: int = 0
    malformed: int = 0
    misaddressed: int = 0
    misplaced: int = 0
    unexpected: Counter[int] = field(default_factory=Counter)
    first_unseen_ms: float = math.inf
    first_replay_ms: float = math.inf
    first_answer_ms: float = math.inf
    last_in_progress_ms: float = -math.inf
    calls: list[Call] = field(default_factory=list)

    @property
    def answered(self) -> bool:
        """Somebody was given an answer that stands."""
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
        call = call_of(attempt, self.operation)
        if call is not None:
            self.calls.append(call)
        kind = told(attempt)
        self.heard[attempt.body_hash] += attempt.status is not None and kind is not Told.IN_PROGRESS
        if kind in {Told.NONE, Told.DROPPED, Told.SERVER_ERROR}:
            self.first_unseen_ms = min(self.first_unseen_ms, attempt.start_ms)
            if attempt.status is not None and is_broken(attempt):
                self.unexpected[attempt.status] += 1
        elif kind in ANSWERED:
            self._hear_answer(attempt, kind)
        elif kind is Told.CONFLICT and self.operation.one_body:
            self.refused.add(attempt.body_hash)
        elif kind is Told.IN_PROGRESS and self.operation.may_run:
            self.in_progress += 1
            self.last_in_progress_ms = max(self.last_in_progress_ms, attempt.start_ms)
        elif kind is not Told.THROTTLED and attempt.status is not None:
            self.unexpected[attempt.status] += 1

    def _hear_answer(self, attempt: Attempt, kind: Told) -> None:
        status = attempt.status or 0
        final = self.operation.is_final(status, attempt.problem)
        self.accepted.add(attempt.body_hash)
        if final:
            self.declined.add(attempt.body_hash)
        replayed = kind is Told.REPLAY
        reply = Reply(status, attempt.response_hash or "", attempt.headers)
        kept = self.replays if replayed else self.first
        if reply in kept or len(kept) < _KEPT_REPLIES:
            kept.setdefault(reply, attempt.attempt_id)
        if replayed:
            self.first_replay_ms = min(self.first_replay_ms, attempt.end_ms)
        self.first_answer_ms = min(self.first_answer_ms, attempt.end_ms)
        self.created += not replayed
        # The storm sends its attempt id as correlation id, and every answer repeats it (DESIGN section 3).
        self.misaddressed += attempt.correlation_id != attempt.attempt_id
        if not final:
            self._hear_success(attempt, status, replayed=replayed)

    def _hear_success(self, attempt: Attempt, status: int, *, replayed: bool) -> None:
        operation = self.operation
        right = operation.first if operation.duplicate is None or not replayed else operation.duplicate
        if status != right:
            self.unexpected[status] += 1
        answer = _object(attempt.response_body)
        location = dict(attempt.headers).get("location", "")
        if operation.duplicate is None:
            record_id = answer.get("id")
        else:
            self.malformed += answer != (WEBHOOK_DUPLICATE if replayed else WEBHOOK_NEW)
            record_id = location.removeprefix(f"{operation.read_path}/")
        if not isinstance(record_id, str) or not record_id:
            self.unreadable += 1
            return
        self.record_ids.add(record_id)
        self.misplaced += location != f"{operation.read_path}/{record_id}"


def of(attempt: Attempt, key: str) -> KeyAnswers:
    """An empty one, for the key of an attempt."""
    return KeyAnswers(attempt.tenant, key, BY_NAME[attempt.operation])


def _object(text: str | None) -> dict[str, object]:
    try:
        value = json.loads(text or "")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
