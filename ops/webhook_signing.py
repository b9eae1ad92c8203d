"""Signs a webhook as its sender would, for trying a source out. The rules are the senders' published ones.

Standard Webhooks: spec/standard-webhooks.md. GitHub: "Validating webhook deliveries". Stripe: "Verify webhook
signatures manually". Shopify: "Deliver webhooks through HTTPS". Basic: RFC 7617.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import uuid
from typing import TYPE_CHECKING, Any

import jmespath
from jmespath.exceptions import JMESPathError

from handlers.domain.canonical_json import canonical

if TYPE_CHECKING:
    from tenants.webhooks import WebhookSource


class UnsignableError(ValueError):
    """The body does not hold what the source's identity needs; the message says what."""


def headers_for(source: WebhookSource, secret: str, body: bytes, event_id: str, now: int) -> dict[str, str]:
    """The headers of one delivery: the proof, and the event's id where the source has it in a header.

    `now`: seconds since the epoch.
    """
    headers = {"Content-Type": "application/json"}
    if source.event_identity.header is not None:
        headers[source.event_identity.header.lower()] = event_id
    return headers | _proof(source, secret, body, event_id, now)


def event_id_of(source: WebhookSource, body: bytes, wanted: str | None) -> str:
    """The event's id: what the body says where the source has it there, else `wanted`, else one of the body.

    The same body has the same id by default, so that sending it twice is a duplicate.

    Raises:
        UnsignableError: the body lacks the id, or says another than `wanted`.
    """
    path = source.event_identity.path
    if path is None:
        return wanted or str(uuid.uuid5(uuid.NAMESPACE_OID, hashlib.sha256(body).hexdigest()))
    found = _found(path, body)
    if found is None:
        raise UnsignableError(f"the body has no {path}, which identifies the events of this source")
    if wanted is not None and wanted != found:
        raise UnsignableError(f"the id of this source's events is {path} of the body, and it is another")
    return found


def _found(path: str, body: bytes) -> str | None:
    try:
        found: Any = jmespath.search(path, json.loads(body))
    except ValueError:
        raise UnsignableError("the body is not JSON") from None
    except JMESPathError:
        return None
    if isinstance(found, bool | int | float):
        return canonical(found).decode()  # as the receiver spells it: 1.0 is 1
    return found if isinstance(found, str) else None


def _proof(source: WebhookSource, secret: str, body: bytes, event_id: str, now: int) -> dict[str, str]:
    key = secret.encode()
    match source.proof_scheme:
        case "bearer":
            return {"authorization": f"Bearer {secret}"}
        case "basic":
            return {"authorization": f"Basic {base64.b64encode(key).decode()}"}
        case "header":
            return {str(source.header).lower(): secret}
        case "github":
            return {"x-hub-signature-256": f"sha256={_digest(key, body).hex()}"}
        case "shopify":
            return {"x-shopify-hmac-sha256": base64.b64encode(_digest(key, body)).decode()}
        case "stripe":
            return {"stripe-signature": f"t={now},v1={_digest(key, f'{now}.'.encode() + body).hex()}"}
        case "standard-webhooks":
            key = base64.b64decode(secret.removeprefix("whsec_"))
            signature = base64.b64encode(_digest(key, f"{event_id}.{now}.".encode() + body)).decode()
            return {
                "webhook-id": event_id,
                "webhook-timestamp": str(now),
                "webhook-signature": f"v1,{signature}",
            }


def _digest(key: bytes, signed: bytes) -> bytes:
    return hmac.digest(key, signed, hashlib.sha256)
