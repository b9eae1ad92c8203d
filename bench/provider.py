"""A payment provider in this process: it answers at once, so that what is timed is not the provider."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any, Final

from handlers.domain.outbound import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

URL: Final = "https://pay.example"
TOKEN: Final = "token-of-bench"  # noqa: S105 - opens nothing


class Provider:
    """`Outbound` to a provider that charges whatever it is asked to, once an idempotency key.

    Attributes:
        keys: the idempotency key of each call, in order.
    """

    def __init__(self) -> None:
        self.keys: list[str] = []
        self._charges: dict[str, str] = {}

    def call(
        self,
        method: str,  # noqa: ARG002 - the port's
        url: str,  # noqa: ARG002
        headers: Mapping[str, str],
        body: bytes,  # noqa: ARG002
        *,
        timeout_seconds: float,  # noqa: ARG002
    ) -> Answer:
        """Charge, or give the charge of a key that was charged before."""
        key = headers["Idempotency-Key"]
        self.keys.append(key)
        # As long as a real one (docs.stripe.com/api/charges/object): both sides store it.
        charge = self._charges.setdefault(key, f"ch_{uuid.uuid4().hex[:24]}")
        document: dict[str, Any] = {"id": charge, "status": "succeeded"}
        return Answer(201, {"content-type": "application/json"}, json.dumps(document).encode())
