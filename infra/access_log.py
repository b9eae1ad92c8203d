"""The API's access log as data: its line, and the metrics that CloudWatch makes of it.

What the gateway refuses never reaches a function: only this log knows of it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from handlers.domain.metric_catalogue import API
from infra.naming import Names

# Absent values are logged as this (API Gateway, "Variables for access logging").
_ABSENT: Final = "-"
# CloudWatch Logs may disable a filter that makes 1,000 different values of its dimensions within an hour
# (API reference, PutMetricFilter). Some are kept free: tenants come and go within an hour, too.
MAX_TENANTS_OF_A_FILTER: Final = 900
# So the tenants are taken in ten parts, by what their ids end in (`tenants.models.TENANT_ID`): a digit each,
# for tenants that were made by the thousand are numbered, and some of the letters.
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_PARTS: Final = tuple(f"{digit}{_LETTERS[digit::10]}" for digit in range(10))
# The gateway's own refusals for want of a good key. `INVALID_API_KEY` is a key off its plan: revoked, or its
# tenant suspended. A function's own 403 (a key that may not do this) is not among them: that is Rejected.
_NO_GOOD_KEY: Final = ("UNAUTHORIZED", "ACCESS_DENIED", "INVALID_API_KEY")


class TooManyTenants(Exception):
    """More tenants than the access log's metrics can tell apart."""


@dataclass(frozen=True)
class MetricFilter:
    """`value` counts for `metric` on each line that `pattern` matches.

    `dimensions`: of the metric, each with the member of the line that is its value.
    """

    name: str
    pattern: str
    metric: str
    value: str
    dimensions: Mapping[str, str]


def line(names: Names) -> dict[str, str]:
    """One line of JSON a request.

    API Gateway escapes nothing, so only values that hold no quote are in it. The correlation id is the
    gateway's request id unless the caller sent its own; a caller's own is in the function's log line, beside
    the request id (REST APIs cannot log a request header).
    """
    return {
        # No variable: what the metrics of this log are called by.
        "service": names.platform(API),
        "requestId": "$context.requestId",
        "correlationId": "$context.requestId",
        "traceId": "$context.xrayTraceId",
        "tenant": "$context.authorizer.tenantId",
        "key": "$context.authorizer.keyName",
        "time": "$context.requestTimeEpoch",
        "method": "$context.httpMethod",
        "resource": "$context.resourcePath",
        "status": "$context.status",
        "latencyMs": "$context.responseLatency",
        "integrationLatencyMs": "$context.integrationLatency",
        "authorizerLatencyMs": "$context.authorizer.latency",
        "integrationStatus": "$context.integrationStatus",
        "gatewayError": "$context.error.responseType",
        "bytes": "$context.responseLength",
        "sourceIp": "$context.identity.sourceIp",
    }


def metric_filters(tenant_ids: Collection[str]) -> tuple[MetricFilter, ...]:
    """The filters of a stage, as many whatever its tenants are. Raises TooManyTenants."""
    of_service = {"Service": "$.service"}
    of_tenant = {"Service": "$.service", "TenantId": "$.tenant"}
    throttled = '$.status = "429"'
    refused = " || ".join(f'($.gatewayError = "{reason}")' for reason in _NO_GOOD_KEY)
    _check(tenant_ids)
    return (
        MetricFilter("throttled", f"{{ {throttled} }}", "Throttled", "1", of_service),
        MetricFilter("unauthorized", f"{{ {refused} }}", "Unauthorized", "1", of_service),
        MetricFilter(
            "throttled-tenants",
            f'{{ ({throttled}) && ($.tenant != "{_ABSENT}") }}',
            "Throttled",
            "1",
            of_tenant,
        ),
        # A zero for whatever was let through, so that a tenant's average is the share that was not.
        *(
            MetricFilter(
                f"not-throttled-{part[0]}",
                f'{{ ($.status != "429") && ({_ends_in(part)}) }}',
                "Throttled",
                "0",
                of_tenant,
            )
            for part in _PARTS
        ),
    )


def _ends_in(letters: str) -> str:
    return " || ".join(f'($.tenant = "*{letter}")' for letter in letters)


def _check(tenant_ids: Collection[str]) -> None:
    for part in _PARTS:
        count = sum(each.endswith(tuple(part)) for each in tenant_ids)
        if count > MAX_TENANTS_OF_A_FILTER:
            raise TooManyTenants(
                f"{count} tenants of this stage have ids that end in one of {part!r}: CloudWatch can count "
                f"throttled requests of {MAX_TENANTS_OF_A_FILTER} of them; put some on another stage"
            )
