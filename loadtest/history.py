"""The history of a storm: one JSON line for every attempt, so that a checker can judge the run afterwards.

A line never holds an API key or the body that was sent: only its hash, which is what the checker needs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal

import rfc8785

from loadtest.run import open_private

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import TextIO

# The headers that a replay must repeat (DESIGN section 2, guarantee 3), in lower case.
REPLAYED_HEADERS = ("content-type", "etag", "location")
# The header that marks an answer as a replay (DESIGN section 2).
REPLAY_MARK = "idempotent-replayed"

# What stands for Retry-After in histories that are older than its being kept.
NOT_KEPT = "not kept"

# A storm's own answers are some 250 bytes. A longer body is kept as its hash alone, so that an answer gone
# wrong cannot fill the disk.
_KEPT_BODY_BYTES = 4096


class Outcome(Enum):
    """What the client knows of its attempt."""

    OK = "ok"  # an answer came, whatever its status
    FAIL = "fail"  # the request certainly did not reach the server
    UNKNOWN = "unknown"  # it was sent and no answer came: it may have taken effect


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of one client.

    Attributes:
        attempt_id: unique in the run.
        tenant: whose API key was used.
        key: the `Idempotency-Key` sent, or None when the request carried none.
        operation: such as ``leads`` (a POST) or ``leads:read`` (a GET of one lead).
        scenario: of the plan, such as ``duplicate``.
        body_hash: SHA-256 (hex) of the canonical JSON that was sent; for a read, the id asked for.
        intended_start_ms: when the plan wanted it sent; latency is measured from here. ms since the epoch.
        start_ms: when it was sent. end_ms: when the answer was whole, or the client gave up.
        status: the HTTP status; None without an answer.
        response_hash: SHA-256 (hex) of the answer's bytes; None without an answer.
        response_body: the answer's text, None when it is too long to keep. A refusal's is kept, too: it must
            not tell of another tenant's records.
        headers: those of `REPLAYED_HEADERS` that the answer has, names in lower case.
        replayed: the answer carries `Idempotent-Replayed: true`.
        dropped: the client hung up as planned, and waited for no answer.
        correlation_id: the `X-Correlation-Id` answered; None when there was none.
        derived_key: where the receipt of a request without a key lives; None when it sent one, for a read,
            and for a lead, whose `body_hash` tells.
        retry_after: that header of the answer; None when it has none, `NOT_KEPT` where nobody looked.
    """

    attempt_id: str
    tenant: str
    key: str | None
    operation: str
    scenario: str
    body_hash: str
    intended_start_ms: float
    start_ms: float
    end_ms: float
    outcome: Outcome
    status: int | None = None
    response_hash: str | None = None
    response_body: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    replayed: bool = False
    correlation_id: str | None = None
    dropped: bool = False
    derived_key: str | None = None
    retry_after: str | None = NOT_KEPT

    @property
    def problem(self) -> str | None:
        """The `type` of the problem that was answered; None when it was none."""
        try:
            body = json.loads(self.response_body or "")
        except ValueError:
            return None
        kind = body.get("type") if isinstance(body, dict) else None
        return kind if isinstance(kind, str) else None

    @property
    def latency_ms(self) -> float:
        """Milliseconds from the intended start to the end."""
        return self.end_ms - self.intended_start_ms


@dataclass(frozen=True, slots=True)
class Answer:
    """What of an HTTP answer goes into the history."""

    status: int
    response_hash: str
    response_body: str | None
    headers: tuple[tuple[str, str], ...]
    replayed: bool
    correlation_id: str | None
    retry_after: str | None = None


def answer(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    """Reduce an HTTP answer to what the checker compares. `headers` may have names in any case."""
    lowered = {name.lower(): value for name, value in headers.items()}
    kept = len(body) <= _KEPT_BODY_BYTES
    return Answer(
        status=status,
        response_hash=sha256(body).hexdigest(),
        response_body=body.decode("utf-8", "backslashreplace") if kept else None,
        headers=tuple((name, lowered[name]) for name in REPLAYED_HEADERS if name in lowered),
        replayed=lowered.get(REPLAY_MARK, "").lower() == "true",
        correlation_id=lowered.get("x-correlation-id"),
        retry_after=lowered.get("retry-after"),
    )


def conclusive(status: int | None) -> bool:
    """The answer of a read says something about the lead: a 5xx, a 429 or none at all says to ask again."""
    return (
        status is not None
        and status < HTTPStatus.INTERNAL_SERVER_ERROR
        and status != HTTPStatus.TOO_MANY_REQUESTS
    )


def hash_of(body: object) -> str | None:
    """SHA-256 (hex) of the canonical JSON (RFC 8785) of a parsed body.

    This is the storm's own reading of the contract: it shares no code with the platform that it checks.
    None when the value has no canonical form in RFC 8785 (an integer beyond 2^53), which no storm sends.
    """
    try:
        return sha256(rfc8785.dumps(body)).hexdigest()  # type: ignore[arg-type]
    except rfc8785.CanonicalizationError:
        return None


class HistoryWriter:
    """Appends attempts to one file; each worker process has its own file.

    A line is one `write` to a line-buffered file. gevent switches greenlets only where it waits, and a
    write to a regular file does not, so lines of different users never mix; and a killed worker loses none.
    """

    def __init__(self, path: Path, mode: Literal["a", "w"] = "a") -> None:
        self._file: TextIO = open_private(path, mode, buffering=1)

    def append(self, attempt: Attempt) -> None:
        """Write one line."""
        self._file.write(json.dumps(to_json(attempt), separators=(",", ":")) + "\n")

    def close(self) -> None:
        """Close the file; appending afterwards raises ValueError."""
        self._file.close()


def read(directory: Path, besides: Path | None = None) -> Iterator[Attempt]:
    """Yield every attempt of a run, file by file, without holding them all; but for the file `besides`.

    Raises:
        ValueError: a line is not an attempt (names the file and the line). A last line without its end
            was cut off with its worker, and is skipped.
    """
    for path in sorted(directory.glob("history-*.jsonl")):
        if path != besides:
            yield from read_file(path)


def read_file(path: Path) -> Iterator[Attempt]:
    """Yield every attempt of one file. Raises ValueError as `read` does."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.endswith("\n"):
                yield _parse(line, f"{path.name}:{number}")


def _parse(line: str, place: str) -> Attempt:
    try:
        return from_json(json.loads(line))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{place}: not an attempt: {type(error).__name__}: {error}") from error


def to_json(attempt: Attempt) -> dict[str, object]:
    """An attempt as it stands in the history."""
    return {
        "attemptId": attempt.attempt_id,
        "tenant": attempt.tenant,
        "key": attempt.key,
        "operation": attempt.operation,
        "scenario": attempt.scenario,
        "bodyHash": attempt.body_hash,
        "intendedStartMs": round(attempt.intended_start_ms, 1),
        "startMs": round(attempt.start_ms, 1),
        "endMs": round(attempt.end_ms, 1),
        "outcome": attempt.outcome.value,
        "status": attempt.status,
        "responseHash": attempt.response_hash,
        "responseBody": attempt.response_body,
        "headers": dict(attempt.headers),
        "replayed": attempt.replayed,
        "correlationId": attempt.correlation_id,
        "dropped": attempt.dropped,
        **({"derivedKey": attempt.derived_key} if attempt.derived_key else {}),
        **({} if attempt.retry_after == NOT_KEPT else {"retryAfter": attempt.retry_after}),
    }


def from_json(line: dict[str, Any]) -> Attempt:
    """Read a line of the history. Raises KeyError, TypeError, ValueError or AttributeError for others."""
    return Attempt(
        attempt_id=line["attemptId"],
        tenant=line["tenant"],
        key=line["key"],
        operation=line["operation"],
        scenario=line["scenario"],
        body_hash=line["bodyHash"],
        intended_start_ms=float(line["intendedStartMs"]),
        start_ms=float(line["startMs"]),
        end_ms=float(line["endMs"]),
        outcome=Outcome(line["outcome"]),
        status=line["status"],
        response_hash=line["responseHash"],
        response_body=line["responseBody"],
        headers=tuple(sorted(line["headers"].items())),
        replayed=bool(line["replayed"]),
        correlation_id=line["correlationId"],
        dropped=bool(line["dropped"]),
        derived_key=line.get("derivedKey"),
        retry_after=line.get("retryAfter", NOT_KEPT),
    )
