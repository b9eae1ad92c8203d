"""What the gateway answers when no function was reached: problem+json (RFC 9457), as data."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class GatewayProblem:
    """One problem: HTTP status, slug of the problem type, title and detail for people.

    `retry_after` is in seconds; None leaves the header out, where a retry would not help.
    """

    status: int
    slug: str
    title: str
    detail: str
    retry_after: int | None = None


def problem(response: GatewayProblem) -> str:
    """The body, as the template of a gateway response or mock (the gateway fills in its request id)."""
    return json.dumps(
        {
            "type": f"urn:onceward:problem:{response.slug}",
            "title": response.title,
            "status": response.status,
            "detail": response.detail,
            "correlationId": "$context.requestId",
        }
    )


METHOD_NOT_ALLOWED: Final = GatewayProblem(
    405,
    "method-not-allowed",
    "Method not allowed",
    "This path has no such method; the Allow header lists them.",
)

_FORBIDDEN: Final = GatewayProblem(
    403, "forbidden", "Forbidden", "The API key is unknown, revoked or suspended, or may not do this."
)
_UNSIGNED: Final = GatewayProblem(
    403,
    "forbidden",
    "Forbidden",
    "Calls are authorised by the x-api-key header, not by a signature or token.",
)
_UNKNOWN_PATH: Final = GatewayProblem(404, "not-found", "Not found", "There is nothing at this path.")
# The usage plan refills every second, so one second later some of its rate is there again.
_TOO_FAST: Final = GatewayProblem(
    429, "rate-limited", "Too many requests", "The key's rate is used up; slow down and try again.", 1
)
_QUOTA: Final = GatewayProblem(
    429,
    "rate-limited",
    "Quota used up",
    "The key's quota of this month is used up; it starts again next month.",
)
_BAD_REQUEST: Final = GatewayProblem(
    400, "invalid-body", "Bad request", "The request could not be understood."
)
_OURS: Final = GatewayProblem(
    500, "internal-error", "Internal error", "Something failed here; retrying with the same key is safe."
)
# The authorizer raises only when the registry cannot be read; a second is what its own clients back off. AWS
# tells a failed call of the authorizer (FAILURE) from a function that answered with an error
# (CONFIGURATION_ERROR): a raised exception is the second, so both are the same outage to a caller.
_NO_REGISTRY: Final = GatewayProblem(
    503, "store-unavailable", "Store unavailable", "The API key could not be checked; try again.", 1
)
# The function may or may not have finished: DESIGN section 3 calls that 504.
_UNKNOWN_OUTCOME: Final = GatewayProblem(
    504, "timeout", "Timed out", "It is not known whether this took effect; retry with the same key.", 1
)

GATEWAY_RESPONSES: Final[Mapping[str, GatewayProblem]] = {
    "ACCESS_DENIED": _FORBIDDEN,
    "API_CONFIGURATION_ERROR": _OURS,
    "AUTHORIZER_CONFIGURATION_ERROR": _NO_REGISTRY,
    "AUTHORIZER_FAILURE": _NO_REGISTRY,
    "BAD_REQUEST_BODY": _BAD_REQUEST,
    "BAD_REQUEST_PARAMETERS": _BAD_REQUEST,
    "DEFAULT_4XX": _BAD_REQUEST,
    "DEFAULT_5XX": _OURS,
    "EXPIRED_TOKEN": _UNSIGNED,
    "INTEGRATION_FAILURE": _UNKNOWN_OUTCOME,
    "INTEGRATION_TIMEOUT": _UNKNOWN_OUTCOME,
    "INVALID_API_KEY": _FORBIDDEN,
    "INVALID_SIGNATURE": _UNSIGNED,
    "MISSING_AUTHENTICATION_TOKEN": _UNKNOWN_PATH,
    "QUOTA_EXCEEDED": _QUOTA,
    "REQUEST_TOO_LARGE": GatewayProblem(
        413, "body-too-large", "Body too large", "The body is larger than the gateway takes."
    ),
    "RESOURCE_NOT_FOUND": _UNKNOWN_PATH,
    "THROTTLED": _TOO_FAST,
    "UNAUTHORIZED": GatewayProblem(
        401, "unauthorized", "Unauthorized", "Send the tenant's API key in the x-api-key header."
    ),
    "UNSUPPORTED_MEDIA_TYPE": GatewayProblem(
        415, "unsupported-media-type", "Unsupported media type", "Send application/json."
    ),
    "WAF_FILTERED": GatewayProblem(
        403, "forbidden", "Forbidden", "The request was refused by a firewall rule."
    ),
}
"""Every type that API Gateway has for REST APIs, by name (its GatewayResponseType). Each is set: in the
defaults `$context.status` is empty, so DEFAULT_4XX could not say which status it is."""
