"""The one tree of errors. `handlers.http` alone maps it to statuses."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a request.

    Attributes:
        field: where, as a JSON Pointer into the body (``/email``) or a header's name.
        rule: a stable word a program can switch on (``missing``, ``too_long``).
        detail: a sentence for a person; it never repeats the value that was sent.
    """

    field: str
    rule: str
    detail: str


class OncewardError(Exception):
    """Everything that Onceward raises on purpose.

    `record_id` is of the request that holds the key, once it is known: its log line is found by it.
    """

    record_id: str | None = None


class RequestRefused(OncewardError):
    """The request is at fault: sending the same one again cannot help."""

    def __init__(self, detail: str, faults: tuple[Fault, ...] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.faults = faults


class InvalidKey(RequestRefused):
    """The idempotency key is missing, or breaks a rule."""


class InvalidBody(RequestRefused):
    """The body is not JSON, or does not fit the operation's schema; `faults` lists every fault."""


class BodyTooLarge(RequestRefused):
    """The body, or the event that it would become, is over the limit."""


class UnsupportedMediaType(RequestRefused):
    """The body is not declared as JSON."""


class Forbidden(RequestRefused):
    """The credential does not allow this operation, or not from this origin."""


class NotFound(RequestRefused):
    """Nothing of this tenant's is there. `retry_after_seconds` is set where it may yet appear."""

    def __init__(self, detail: str, retry_after_seconds: int | None = None) -> None:
        super().__init__(detail)
        self.retry_after_seconds = retry_after_seconds


class KeyReused(RequestRefused):
    """The key was used for another request: another operation, or another body."""


class RequestInProgress(OncewardError):
    """The first request with this key is still running."""

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__("the first request with this key is still running")
        self.retry_after_seconds = retry_after_seconds


class Unauthorized(RequestRefused):
    """The sender did not prove who it is; nothing of what it sent was looked at."""


class FinalRefusal(RequestRefused):
    """The effect's own no, and a final answer: it is stored, and replayed like any other."""


class Declined(FinalRefusal):
    """The payment was declined."""


class SlotTaken(FinalRefusal):
    """The slot is taken. `location`: where the appointment that has it can be read, if this one may know."""

    def __init__(self, detail: str, location: str | None = None) -> None:
        super().__init__(detail)
        self.location = location


class NotCharged(FinalRefusal):
    """Looked up after the provider forgot the key: no charge was ever made, and none may be made any more."""


class EffectFailed(OncewardError):
    """The effect certainly did not happen: the claim is released, and a retry runs at once.

    Attributes:
        of_the_key: the destination said so of its key, whoever sent it; else only this attempt did nothing,
            and of an earlier one under the same key nothing is known.
        may_pass: the same request may well work in a moment.
    """

    def __init__(self, reason: str, *, of_the_key: bool = False, may_pass: bool = True) -> None:
        super().__init__(reason)
        self.of_the_key = of_the_key
        self.may_pass = may_pass


class EffectUnknown(OncewardError):
    """Nobody can say whether the effect happened: a retry resumes it under the same downstream key."""


class LeaseLost(OncewardError):
    """The claim is another attempt's by now: this one may write nothing more."""


class Unavailable(OncewardError):
    """A service that we depend on cannot be reached, throttles or fails: whether a write happened is unknown.

    Retrying with the same key is safe, and is what the answer asks for.
    """

    def __init__(self, service: str, reason: str) -> None:
        super().__init__(f"{service}: {reason}")
        self.service = service
        self.reason = reason


class LookupImpossible(Unavailable):
    """It may have happened; the destination has forgotten the key and cannot be asked: people must."""


class Refused(OncewardError):
    """A service said no (or botocore, before it asked): sending the same again gets the same answer.

    Attributes:
        service: the AWS service.
        reason: its error code, such as ``NotFound`` or ``KMSDisabledException``.
    """

    def __init__(self, service: str, reason: str) -> None:
        super().__init__(f"{service}: {reason}")
        self.service = service
        self.reason = reason


class CorruptItem(OncewardError):
    """A stored item or a stream image lacks what every item of its kind has."""


def where(error: BaseException) -> str:
    """An unforeseen error for the log: its type and the lines it passed, never its message.

    A message can repeat what was sent, and payloads are not logged.
    """
    frames = traceback.extract_tb(error.__traceback__)
    path = " > ".join(f"{PurePath(frame.filename).name}:{frame.lineno}" for frame in frames)
    return f"{type(error).__name__} at {path}"
