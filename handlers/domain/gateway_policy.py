"""The policy that an authorizer hands to API Gateway (pure: a document from data)."""

from __future__ import annotations

from typing import Any, Final

from handlers.domain.caller import EVERY_OPERATION
from handlers.domain.errors import OncewardError

# The version of IAM's policy language, not a date of ours.
_POLICY_LANGUAGE: Final = "2012-10-17"

# What each permission opens: method and path below the stage. `*` spans slashes in an ARN pattern.
# A permission that has no route opens nothing. `POST /v1/webhooks/...` is not here: it has no authorizer,
# since its senders cannot send an API key.
ROUTES: Final[dict[str, tuple[str, ...]]] = {
    "leads:create": ("POST/v1/leads",),
    "leads:read": ("GET/v1/leads/*",),
    "orders:create": ("POST/v1/orders",),
    "orders:read": ("GET/v1/orders/*",),
    "payments:create": ("POST/v1/payments",),
    "payments:read": ("GET/v1/payments/*",),
    "appointments:create": ("POST/v1/appointments",),
    "appointments:read": ("GET/v1/appointments/*",),
    "webhook-events:read": ("GET/v1/webhook-events/*",),
    "receipts:read": ("GET/v1/receipts/*",),
}


class MalformedMethodArn(OncewardError):
    """The gateway named the method in a way that is no execute-api ARN."""


def stage_arn(method_arn: str) -> str:
    """`arn:aws:execute-api:R:A:API/STAGE`, of the `methodArn` that the gateway sends.

    The shape is `arn:<partition>:execute-api:<region>:<account>:<api>/<stage>/<METHOD>/<path>` (API Gateway
    Developer Guide, "Input to a Lambda authorizer"); the path may hold colons and slashes of its own.

    Raises:
        MalformedMethodArn: it has another shape.
    """
    prefix, separator, resource = _sixth_part(method_arn)
    api_and_stage = resource.split("/")[:2]
    if separator != ":" or len(api_and_stage) != 2 or not all(api_and_stage):
        raise MalformedMethodArn("methodArn: not an execute-api ARN with an API and a stage")
    return f"{prefix}:{'/'.join(api_and_stage)}"


def allow(
    principal: str, method_arn: str, operations: tuple[str, ...], context: dict[str, str]
) -> dict[str, Any]:
    """Let `principal` call the routes of its `operations`: all of the stage for `*`.

    The policy names every route, not only the one of this request: the gateway caches it by key and
    applies it to the key's next requests, which go elsewhere. Without one route it is a denial.
    """
    stage = stage_arn(method_arn)
    if EVERY_OPERATION in operations:
        resources = [f"{stage}/*"]
    else:
        resources = [f"{stage}/{route}" for operation in operations for route in ROUTES.get(operation, ())]
    if not resources:
        return deny(principal, method_arn)
    return {**_policy(principal, "Allow", resources), "context": context}


def deny(principal: str, method_arn: str) -> dict[str, Any]:
    """Refuse `principal` everything on the stage, for as long as the gateway caches it."""
    return _policy(principal, "Deny", [f"{stage_arn(method_arn)}/*"])


def _sixth_part(arn: str) -> tuple[str, str, str]:
    # An ARN has five colons before its resource; further ones belong to the resource.
    parts = arn.split(":", 5)
    if len(parts) != 6 or parts[0] != "arn" or parts[2] != "execute-api":
        return "", "", ""
    return ":".join(parts[:5]), ":", parts[5]


def _policy(principal: str, effect: str, resources: list[str]) -> dict[str, Any]:
    return {
        "principalId": principal,
        "policyDocument": {
            "Version": _POLICY_LANGUAGE,
            "Statement": [{"Action": "execute-api:Invoke", "Effect": effect, "Resource": resources}],
        },
    }
