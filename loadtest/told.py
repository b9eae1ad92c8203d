"""What an answer tells its client: the classes by which the checker, the report and the console count."""

from __future__ import annotations

from enum import Enum
from http import HTTPStatus
from typing import TYPE_CHECKING

from loadtest.history import Outcome
from loadtest.operations import BY_NAME, IN_PROGRESS, INTERNAL

if TYPE_CHECKING:
    from loadtest.history import Attempt
    from loadtest.operations import Operation


class Told(Enum):
    """What a client was told, in the words of the report; in the order of its charts."""

    NEW = "new (2xx)"
    REFUSED = "refused for good (402, 409)"  # a first answer, too: stored, and replayed
    REPLAY = "replay"
    IN_PROGRESS = "in progress (409)"
    CONFLICT = "conflict (422)"
    THROTTLED = "throttled (429)"
    REJECTED = "other 3xx, 4xx"
    SERVER_ERROR = "server error (5xx)"
    NONE = "no answer (timed out, no connection)"
    DROPPED = "hung up on purpose"


ANSWERED = frozenset({Told.NEW, Told.REFUSED, Told.REPLAY})
"""The first answer of a key, or that answer again."""

_PLAIN = {
    HTTPStatus.UNPROCESSABLE_ENTITY: Told.CONFLICT,
    HTTPStatus.TOO_MANY_REQUESTS: Told.THROTTLED,
}


def told(attempt: Attempt) -> Told:
    """What the client of a POST was told.

    Raises:
        KeyError: there is no such operation.
    """
    operation, status = BY_NAME[attempt.operation], attempt.status
    if attempt.dropped:
        return Told.DROPPED
    if attempt.outcome is not Outcome.OK or status is None:
        return Told.NONE
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return Told.REPLAY if _is_duplicate(operation, attempt, status) else Told.NEW
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Told.SERVER_ERROR
    if status in _PLAIN:
        return _PLAIN[HTTPStatus(status)]
    problem = attempt.problem
    if operation.is_final(status, problem):
        return Told.REPLAY if attempt.replayed else Told.REFUSED
    if status == HTTPStatus.CONFLICT and problem == IN_PROGRESS:
        return Told.IN_PROGRESS
    return Told.REJECTED


def is_broken(attempt: Attempt) -> bool:
    """A 5xx that no outage excuses: a fault of ours that nobody foresaw, or a 503 that does not say when.

    Ours are known by the correlation id: the gateway's own answers have another one, or none.
    """
    if attempt.correlation_id != attempt.attempt_id:
        return False
    if attempt.status == HTTPStatus.SERVICE_UNAVAILABLE:
        return attempt.retry_after is None
    return attempt.status == HTTPStatus.INTERNAL_SERVER_ERROR and attempt.problem == INTERNAL


def _is_duplicate(operation: Operation, attempt: Attempt, status: int) -> bool:
    """Webhooks say it by their status, all others by a header."""
    return attempt.replayed if operation.duplicate is None else status == operation.duplicate
