"""What common senders of webhooks publish: how they sign, where the event's id is, how long they retry."""

from dataclasses import dataclass
from typing import Final, Literal

Scheme = Literal["bearer", "basic", "header", "standard-webhooks", "github", "stripe", "shopify"]
PresetName = Literal["stripe", "github", "shopify", "static-forms", "standard-webhooks"]

_HOUR: Final = 3_600
_DAY: Final = 24 * _HOUR
# 30 days (DESIGN section 3): longer than any sender's own retries, so that what an operator sends again by
# hand weeks later is still known.
WEBHOOK_WINDOW_SECONDS: Final = 30 * _DAY
# Stripe's libraries and Standard Webhooks' take a signature for five minutes (DEFAULT_TOLERANCE of
# stripe-python's webhook module; the tolerance in the standardwebhooks libraries).
TOLERANCE_SECONDS: Final = 300


@dataclass(frozen=True, slots=True)
class Preset:
    """A sender: `path`, `header` and `template` say where its event's id is (see `webhooks.Identity`).

    `retries_seconds`: until when after an event the sender may send it again; 0 where it publishes nothing.
    """

    scheme: Scheme
    path: str | None
    header: str | None
    template: str | None
    retries_seconds: int


PRESETS: Final[dict[PresetName, Preset]] = {
    # docs.stripe.com/webhooks: the event's `id` (evt_...) is what to log against duplicates; undelivered
    # events are sent again "for up to three days" (docs.stripe.com/webhooks/process-undelivered-events).
    "stripe": Preset("stripe", "id", None, None, 3 * _DAY),
    # docs.github.com "Webhook events and payloads": X-GitHub-Delivery is the delivery's GUID, and a
    # redelivery keeps it. GitHub never retries by itself; deliveries "from the past 3 days" can be sent again
    # by hand or by API ("Redelivering webhooks").
    "github": Preset("github", None, "X-GitHub-Delivery", None, 3 * _DAY),
    # shopify.dev/changelog/updates-to-webhook-retry-mechanism (September 2024): 8 retries over 4 hours; it
    # was 19 over 48 hours before, which older articles still say. The id is discussed in docs/adr/0092.
    "shopify": Preset("shopify", None, "X-Shopify-Webhook-Id", None, 4 * _HOUR),
    # staticforms.dev/docs/webhooks: body {event, timestamp, data: {submissionId, ...}}; neither a signature
    # nor retries are published, so the proof is a shared secret.
    "static-forms": Preset("bearer", "data.submissionId", None, "staticforms:{event}:{data.submissionId}", 0),
    # standard-webhooks/spec/standard-webhooks.md: webhook-id is "the unique webhook identifier" and the
    # idempotency key; the last retry of its example schedule is 75:35:05 after the start.
    "standard-webhooks": Preset("standard-webhooks", None, "webhook-id", None, 75 * _HOUR + 35 * 60 + 5),
}

SENDERS: Final[dict[Scheme, PresetName]] = {
    "stripe": "stripe",
    "github": "github",
    "shopify": "shopify",
    "standard-webhooks": "standard-webhooks",
}
"""Whose schemes they are: their retries count for a source that names the scheme and no preset."""
