"""API Gateway's proxy events, from decisions and a body: what a client can make of them, and no more.

The gateway's own members (`requestContext`, the authorizer's context) are as it sends them. Header names and
values are any text, members may be null or missing as REST APIs have them.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final

from tests.builders import NOW_MS, authorizer_context

if TYPE_CHECKING:
    from fuzz.choices import Choices

_NAMES: Final = (
    *("Idempotency-Key", "idempotency-key", "Content-Type", "content-type", "X-Correlation-Id", "Origin"),
    *("Authorization", "stripe-signature", "webhook-id", "webhook-timestamp", "webhook-signature"),
    *("X-Hub-Signature-256", "X-Shopify-Hmac-Sha256", "x-api-key", "X-Forwarded-For", "", "Vary", "é"),
)
_SETTINGS: Final = (
    "{}",
    '{"leads":{"windowSeconds":60,"keySource":"header","keyFields":["email"]}}',
    '{"leads":{"windowSeconds":60,"keySource":"header","keyFields":["items[0].id","max_by(@, &a)"]}}',
    '{"leads":{"windowSeconds":60,"keySource":"header-or-body","bodyLimitBytes":40}}',
    '{"orders":{"windowSeconds":60,"keySource":"fields","keyFields":["items[*].sku","customer"]}}',
)
_OF_PAYMENTS: Final = (
    '{"payments":{"windowSeconds":60,"keySource":"header","options":{"providerUrl":"https://pay.example"}}}'
)


def post(choices: Choices, resource: str, body: bytes) -> dict[str, Any]:
    """A POST of `body` to a resource with an API key."""
    settings = _OF_PAYMENTS if "payments" in resource else choices.pick(_SETTINGS)
    context = authorizer_context(
        operationSettings=settings,
        bodyLimitBytes=choices.pick(("131072", "16")),
        operations=choices.pick(("*", "leads:create", "leads:read,orders:create")),
        origins=choices.pick(("", "https://www.acme.example")),
    )
    event = _event(choices, "POST", resource, None, body, {"content-type": ["application/json"]})
    event["requestContext"]["authorizer"] = context
    return event


def get(choices: Choices, resource: str, parameter: tuple[str, str]) -> dict[str, Any]:
    """A GET with a path parameter (name, value) and an API key."""
    event = _event(choices, "GET", resource, dict([parameter]), b"", {})
    event["requestContext"]["authorizer"] = authorizer_context()
    if choices.flag():
        event["pathParameters"] = None
    if choices.flag():
        event["version"] = "1.0"
    return event


def webhook(
    choices: Choices, tenant: str, source: str, body: bytes, proof: dict[str, list[str]]
) -> dict[str, Any]:
    """A POST to the receiver, without an authorizer."""
    path = {"tenant": tenant, "source": source}
    sent = {"content-type": ["application/json"], **proof}
    return _event(choices, "POST", "/v1/webhooks/{tenant}/{source}", path, body, sent)


def key_request(choices: Choices, headers: dict[str, list[str]]) -> dict[str, Any]:
    """A REQUEST authorizer's event."""
    event = _event(choices, "POST", "/v1/leads", None, b"", headers)
    event["type"] = "REQUEST"
    stage = "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/dev"
    event["methodArn"] = f"{stage}/POST/{choices.pick(('v1/leads', 'v1/receipts/a:b/c', '', 'v1//x'))}"
    return event


def _event(
    choices: Choices,
    method: str,
    resource: str,
    path: dict[str, str] | None,
    body: bytes,
    ordinary: dict[str, list[str]],
) -> dict[str, Any]:
    multiple: dict[str, list[str | None] | None] = {name: [*values] for name, values in ordinary.items()}
    for _ in range(choices.number(5)):
        name = choices.pick(_NAMES) if not choices.flag() else choices.text()
        values: list[str | None] = [choices.text() for _ in range(choices.number(4))]
        multiple[name] = choices.pick((values, [*values, None], values * 2, None))
    single = {name: values[-1] if values else None for name, values in multiple.items()}
    raw, encoded = _body(choices, body)
    event: dict[str, Any] = {
        "resource": resource,
        "path": resource,
        "httpMethod": method,
        "headers": single,
        "multiValueHeaders": multiple,
        "queryStringParameters": None,
        "pathParameters": path,
        "requestContext": {"requestId": "gateway-request-id", "requestTimeEpoch": NOW_MS},
        "body": raw,
        "isBase64Encoded": encoded,
    }
    if choices.flag():
        event.pop(choices.pick(("headers", "multiValueHeaders", "queryStringParameters")))
    if choices.flag():
        name = choices.pick(("headers", "multiValueHeaders", "isBase64Encoded", "body"))
        event[name] = None
    return event


def _body(choices: Choices, body: bytes) -> tuple[str | None, bool]:
    """As the gateway hands a body on: text, base64, or a text that says that it is base64 and is not."""
    kind = choices.number(5)
    if kind in (0, 1):
        return base64.b64encode(body).decode(), True
    if kind == 2:
        return body.decode("utf-8", "surrogateescape"), False
    if kind == 3:
        return body.decode("utf-8", "replace"), True
    return choices.text(), choices.flag()
