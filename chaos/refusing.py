"""What each AWS service says when it throttles or fails, in its own shape and protocol."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

# From the common errors of each service's API reference, and botocore's list of throttling codes. Where a
# service has several, calls take turns.
_THROTTLES: Final = {
    "dynamodb": (
        (400, "ProvisionedThroughputExceededException"),
        (400, "ThrottlingException"),
        (400, "RequestLimitExceeded"),
    ),
    "sqs": ((400, "ThrottlingException"), (403, "RequestThrottled")),
    "sns": ((400, "Throttling"), (429, "Throttled")),
    "events": ((400, "ThrottlingException"),),
    "ssm": ((400, "ThrottlingException"),),
}
_FAILURES: Final = {
    "dynamodb": ((500, "InternalServerError"), (503, "ServiceUnavailable")),
    "sqs": ((500, "InternalFailure"), (503, "ServiceUnavailable")),
    "sns": ((500, "InternalError"), (503, "ServiceUnavailable")),
    "events": ((500, "InternalException"),),
    "ssm": ((500, "InternalServerError"),),
}
SERVICES: Final = frozenset(_THROTTLES)
"""The services that the functions call, by their names in a signature."""
_SAID: Final = "injected by chaos"
# SNS speaks the query protocol (XML); the others speak AWS JSON.
_XML: Final = frozenset({"sns"})


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that says no, before anything took effect."""

    status: int
    content_type: str
    headers: dict[str, str]
    body: bytes


def throttle(service: str, number: int) -> Refusal:
    """The service's own throttling error; `number` picks one of several. Raises KeyError: no such service."""
    return _refusal(service, _THROTTLES[service], number)


def failure(service: str, number: int) -> Refusal:
    """The service's own internal error. Raises KeyError: no such service."""
    return _refusal(service, _FAILURES[service], number)


def _refusal(service: str, choice: tuple[tuple[int, str], ...], number: int) -> Refusal:
    status, code = choice[number % len(choice)]
    if service in _XML:
        text = (
            f"<ErrorResponse><Error><Type>Receiver</Type><Code>{code}</Code><Message>{_SAID}</Message>"
            "</Error><RequestId>chaos</RequestId></ErrorResponse>"
        )
        return Refusal(status, "text/xml", {}, text.encode())
    said = json.dumps({"__type": f"com.amazonaws.{service}#{code}", "message": _SAID}).encode()
    # botocore takes the code of SQS's JSON answers from this header, where there is one.
    headers = {"x-amzn-query-error": f"{code};Receiver"} if service == "sqs" else {}
    return Refusal(status, "application/x-amz-json-1.0", headers, said)
