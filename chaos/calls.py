"""What one call at the proxy asks for, read from its head; of its body, what is called and which queue."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

# Signature Version 4: Credential=<key id>/<day>/<region>/<service>/aws4_request.
_SCOPE: Final = re.compile(r"Credential=[^/,\s]+/\d{8}/[^/,\s]+/([a-z0-9-]+)/aws4_request")
_ACTION: Final = re.compile(rb"(?:^|&)Action=([A-Za-z]{1,64})(?:&|$)")
CLOCK_MARK: Final = "chaosclock"
"""Begins what a worker with a skewed clock says of itself in each call (`chaos.functions`)."""
_CLOCK: Final = re.compile(rf"app/{CLOCK_MARK}-(\d+)-(-?\d+)")


def clock_of(headers: Mapping[str, str]) -> tuple[int, int] | None:
    """The process that calls and how many seconds its clock is off; None when it does not say."""
    found = _CLOCK.search(headers.get("User-Agent", ""))
    return (int(found[1]), int(found[2])) if found else None


def service_of(headers: Mapping[str, str]) -> str:
    """The service that a call is signed for, such as `dynamodb`; `unsigned` when there is no signature."""
    found = _SCOPE.search(headers.get("Authorization", ""))
    return found[1] if found else "unsigned"


def operation_of(headers: Mapping[str, str], body: bytes) -> str:
    """The operation's name, such as `PutItem`: of the JSON protocols' header, or the query's form."""
    target = headers.get("X-Amz-Target", "")
    if target:
        return target.rpartition(".")[2]
    found = _ACTION.search(body)
    return found[1].decode() if found else "unknown"


def queue_of(headers: Mapping[str, str], body: bytes) -> str | None:
    """The queue that a message is sent to, by name; None for other calls, or one with its own delay.

    Raises nothing: a body that is no JSON is no such call.
    """
    if not headers.get("X-Amz-Target", "").endswith(".SendMessage"):
        return None
    try:
        sent = json.loads(body)
    except ValueError:
        return None
    if not isinstance(sent, dict) or "DelaySeconds" in sent:
        return None
    return str(sent.get("QueueUrl", "")).rpartition("/")[2] or None
