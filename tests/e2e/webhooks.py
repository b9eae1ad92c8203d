"""Senders of webhooks as they sign; standard library only, so that it is not the code under test."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx


@dataclass(frozen=True)
class Sender:
    """One source of one tenant: where it sends, how it proves itself, and with what."""

    url: str
    scheme: str
    secret: str
    client: httpx.Client

    def send(
        self, event: object, headers: Mapping[str, str] | None = None, *, raw: bytes | None = None
    ) -> httpx.Response:
        """POST an event, signed; `headers` win over those that a sender sets."""
        body = json.dumps(event).encode() if raw is None else raw
        signed = self.sign(body, str(event.get("id", "")) if isinstance(event, dict) else "")
        lower = {name.lower(): value for name, value in (headers or {}).items()}
        return self.client.post(
            self.url, content=body, headers={"content-type": "application/json"} | signed | lower
        )

    def sign(self, body: bytes, event_id: str, at: int | None = None) -> dict[str, str]:
        """The headers that prove a body, sent at `at` (epoch seconds; now by default)."""
        now = str(int(time.time()) if at is None else at)
        if self.scheme == "standard-webhooks":
            key = base64.b64decode(self.secret.removeprefix("whsec_"))
            mac = hmac.digest(key, f"{event_id}.{now}.".encode() + body, hashlib.sha256)
            signature = "v1," + base64.b64encode(mac).decode()
            return {"webhook-id": event_id, "webhook-timestamp": now, "webhook-signature": signature}
        key = self.secret.encode()
        if self.scheme == "stripe":
            mac = hmac.digest(key, now.encode() + b"." + body, hashlib.sha256)
            return {"stripe-signature": f"t={now},v1={mac.hex()}"}
        if self.scheme == "github":
            mac = hmac.digest(key, body, hashlib.sha256)
            return {"x-hub-signature-256": f"sha256={mac.hex()}", "x-github-delivery": event_id}
        if self.scheme == "bearer":
            return {"authorization": f"Bearer {self.secret}"}
        raise AssertionError(self.scheme)


def event(**members: Any) -> dict[str, Any]:
    """An event that nobody has sent."""
    return {"id": f"evt_{uuid.uuid4().hex}", "type": "form.submitted", "data": {"name": "Ada"}} | members
