"""Signatures as their owners publish them, and a verdict on any."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from handlers.domain.webhook_proof import Proof, Sent, Unproven, verify

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NOW = 1_796_000_000
STANDARD_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

# standard-webhooks/standard-webhooks: the tests of its libraries ("sign function works").
STANDARD = (
    "standard-webhooks",
    STANDARD_SECRET,
    {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
    b'{"test": 2432232314}',
    1_614_265_330,
)
# docs.github.com, "Validating webhook deliveries", section "Testing the webhook payload validation".
GITHUB = (
    "github",
    "It's a Secret to Everybody",
    {"X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"},
    b"Hello, World!",
    NOW,
)
# stripe/stripe-dotnet: src/StripeTests/Resources/event_test_signature.json, signed in Services/Events/
# EventUtilityTest.cs.
STRIPE_EVENT: dict[str, Any] = {
    "id": "evt_123",
    "object": "event",
    "account": "acct_123",
    "api_version": "2017-05-25",
    "created": 1533204620,
    "data": {
        "object": {
            "id": "cus_123",
            "object": "customer",
            "created": 123456789,
            "email": "test@stripe.com",
            "livemode": False,
            "metadata": {},
        }
    },
    "livemode": False,
    "pending_webhooks": 1,
    "request": {"id": "req_123", "idempotency_key": "idempotency-key-123"},
    "type": "customer.created",
}
STRIPE = (
    "stripe",
    "webhook_secret",
    {
        "Stripe-Signature": "t=1533204620,"
        "v1=2220f87ef101a04665f11cdf770523143f875572008577fa0f20882ddb9cc3c7,"
        "v0=63f3a72374a733066c4be69ed7f8e5ac85c22c9f0a6a612ab9a025a9e4ee7eef"
    },
    (json.dumps(STRIPE_EVENT, indent=2) + "\n").encode(),
    1_533_204_620,
)
# Shopify publishes no vector: HMAC of RFC 4231 (test case 2), in the spelling of shopify.dev.
SHOPIFY = (
    "shopify",
    "Jefe",
    {
        "X-Shopify-Hmac-Sha256": base64.b64encode(
            bytes.fromhex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        ).decode()
    },
    b"what do ya want for nothing?",
    NOW,
)
VECTORS = [STANDARD, GITHUB, STRIPE, SHOPIFY]


def reason(
    scheme: Any,
    secrets: Sequence[str],
    headers: Mapping[str, str | Sequence[str]],
    body: bytes = b"{}",
    at: float = NOW,
    header: str | None = None,
) -> str | None:
    """Why the sender is not believed, or None when it is."""
    every = {name.lower(): [sent] if isinstance(sent, str) else sent for name, sent in headers.items()}
    try:
        verify(Proof(scheme, header, 300), secrets, Sent(every, body, at))
    except Unproven as unproven:
        return unproven.reason
    return None
