"""What the stand-in is asked and what it answers."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class BadRequest(Exception):
    """The request is the caller's mistake; the message says which."""


@dataclass(frozen=True)
class Request:
    """One call. `target` is the path at the destination's own host, with its query.

    Header names are lower-case.
    """

    method: str
    host: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def key(self) -> str | None:
        """The caller's idempotency key."""
        return self.headers.get("idempotency-key") or None

    def document(self) -> Any:  # noqa: ANN401 (any JSON value)
        """The body as JSON. Raises BadRequest."""
        try:
            return json.loads(self.body)
        except ValueError:
            raise BadRequest("the body is not JSON") from None


@dataclass(frozen=True)
class Answer:
    """A status and a JSON body."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


def hash_of(document: Any) -> str:  # noqa: ANN401 (any JSON value)
    """The same for the same JSON, however it was spaced or ordered."""
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
