"""`authorizer`: from an API key to its tenant and what it may call. One read per key and cache time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol

from aws_lambda_powertools import Logger

from handlers import http_request
from handlers.adapters import metrics
from handlers.adapters.registry import DynamoDbRegistry
from handlers.domain import gateway_policy
from handlers.domain.errors import OncewardError, where
from handlers.domain.registry_entry import ACTIVE
from handlers.settings import AuthorizerSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handlers.domain.registry_entry import KeyEntry

_SERVICE: Final = "authorizer"
_OPERATION: Final = "authorize"
_KEY_HEADER: Final = "x-api-key"
# The principal of a key that nobody has: no tenant can have this name, so access logs cannot confuse the two.
_NOBODY: Final = "-"


class Registry(Protocol):
    """Who has which API key."""

    def find(self, api_key: str) -> KeyEntry | None:
        """The key's entry, or None; raises Unavailable, Refused or CorruptItem."""


class UnauthorizedError(Exception):
    """There is no one key to judge. The gateway answers 401 only when the message is exactly this."""

    def __init__(self) -> None:
        super().__init__("Unauthorized")


@dataclass(frozen=True)
class Dependencies:
    """What the handler works with; tests bring their own."""

    settings: AuthorizerSettings
    registry: Registry
    logger: Logger


@cache
def _dependencies() -> Dependencies:
    settings = AuthorizerSettings.from_environment()
    return Dependencies(settings, DynamoDbRegistry(settings.tenants_table), Logger(service=_SERVICE))


def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Answer one REQUEST authorizer event of a REST API with a policy and the tenant's context."""
    return authorize(event, _dependencies())


def authorize(event: Mapping[str, Any], dependencies: Dependencies) -> dict[str, Any]:
    """The policy for the key in `event`: its operations on this stage, or a denial.

    The key and its hash appear in no log line and in no error.

    Raises:
        UnauthorizedError: no key, or several (the gateway answers 401 and caches nothing).
        Unavailable, Refused, CorruptItem: nobody can say whose key it is (the gateway answers 503 and caches
            nothing; a denial would lock a good key out for the cache's time).
    """
    said = _said(event)
    try:
        return _judged(event, dependencies, said)
    except UnauthorizedError:
        raise
    except Exception as error:
        reason = str(error) if isinstance(error, OncewardError) else where(error)
        # Not `exception`: an error that nobody foresaw can repeat the key in its message.
        dependencies.logger.error("failed", outcome="failed", reason=reason, **said)  # noqa: TRY400
        _count_failure(dependencies)
        raise


def _said(event: Mapping[str, Any]) -> dict[str, Any]:
    """What every log line says: how the functions' and the gateway's lines of the same request are found."""
    return {
        "operation": _OPERATION,
        "correlation_id": http_request.correlation_id_of(event),
        "request_id": (event.get("requestContext") or {}).get("requestId"),
    }


def _judged(event: Mapping[str, Any], dependencies: Dependencies, said: dict[str, Any]) -> dict[str, Any]:
    method_arn: str = event["methodArn"]
    entry = dependencies.registry.find(_api_key(event))
    if entry is None:
        dependencies.logger.info("unknown_key", outcome="unknown_key", **said)
        return gateway_policy.deny(_NOBODY, method_arn)
    outcome = "allowed" if entry.status == ACTIVE else "suspended"
    said |= {"tenant": entry.tenant_id, "key_name": entry.key_name}
    dependencies.logger.info(outcome, outcome=outcome, **said)
    if entry.status != ACTIVE:
        return gateway_policy.deny(entry.tenant_id, method_arn)
    return gateway_policy.allow(entry.tenant_id, method_arn, entry.operations, entry.context())


def _count_failure(dependencies: Dependencies) -> None:
    # What the alarm watches. Lambda's own Errors counts a missing key too, so anybody could ring it.
    about = metrics.About(dependencies.settings.stage, _SERVICE, _OPERATION, None)
    metrics.emit(about, {"Failed": 1}, {})


def _api_key(event: Mapping[str, Any]) -> str:
    # Two values would leave it to chance which of them the gateway caches the verdict under, and so let the
    # holder of one key plant its verdict under another.
    headers: Mapping[str, list[str]] = event.get("multiValueHeaders") or {
        name: [value] for name, value in (event.get("headers") or {}).items()
    }
    values = {
        value
        for name, sent in headers.items()
        if name.lower() == _KEY_HEADER
        for value in sent or ()
        if value
    }
    if len(values) != 1:
        raise UnauthorizedError
    return values.pop()
