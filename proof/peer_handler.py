"""The peer's handler: Powertools' idempotency utility used as its documentation says, around one charge.

`@idempotent` with payload validation, the tenant and the caller's key as its key, Lambda's context for the
expiry of unfinished records, and its errors as HTTP answers. It is the payment of `bench/`, for more than one
tenant.
"""

from __future__ import annotations

import datetime as dt
import json
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from aws_lambda_powertools.middleware_factory import factory
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    base,
    idempotent,
)
from aws_lambda_powertools.utilities.idempotency import exceptions as peer_errors
from aws_lambda_powertools.utilities.idempotency.persistence import base as persistence
from aws_lambda_powertools.utilities.idempotency.persistence import datarecord, dynamodb

from handlers.domain.outbound import AnswerLost, NotSent
from proof.provider import AskingProvider
from proof.requests import REMAINING_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mypy_boto3_dynamodb import DynamoDBClient

    from handlers.domain.outbound import Outbound
    from proof.programs import Ask, Life
    from proof.requests import Sent

TABLE: Final = "idempotency"
"""The table's name."""

PORT: Final = "idempotency table"
"""The port's."""

DAY_SECONDS: Final = 86_400
"""The window: as Onceward's payments have it, and as long as the provider knows a key."""

CLOCKED: Final = (base, persistence, dynamodb, datarecord)
"""Every module of the utility that reads the clock (a test looks for more)."""

_PROVIDER_SECONDS: Final = 10.0  # the scheduler decides when an answer is lost; some number has to be said

# What the caller is told of each fault: the statuses that Onceward has for the same.
_STATUSES: Final[dict[type[Exception], int]] = {
    peer_errors.IdempotencyKeyError: 400,
    peer_errors.IdempotencyAlreadyInProgressError: 409,
    peer_errors.IdempotencyValidationError: 422,
    peer_errors.IdempotencyPersistenceLayerError: 503,
    peer_errors.IdempotencyInconsistentStateError: 503,
    NotSent: 502,
    AnswerLost: 504,
}


@dataclass(frozen=True)
class Outside:
    """What an attempt has of the world.

    Attributes:
        client: of DynamoDB, with the table.
        provider: where money is taken.
        clock_ms: the worker's clock, ms since the epoch.
        fresh_id: makes the id that the answer carries.
    """

    client: DynamoDBClient
    provider: Outbound
    clock_ms: Callable[[], int]
    fresh_id: Callable[[], str]


def respond(event: dict[str, Any], outside: Outside) -> dict[str, Any]:
    """Answer one event of the gateway, in a new execution environment (no local cache, as is the default)."""
    layer = DynamoDBPersistenceLayer(table_name=TABLE, boto3_client=outside.client)
    settings = IdempotencyConfig(
        event_key_jmespath='[requestContext.authorizer.tenantId, headers."idempotency-key"]',
        payload_validation_jmespath="powertools_json(body)",
        raise_on_no_idempotency_key=True,
        expires_after_seconds=DAY_SECONDS,
    )

    @idempotent(config=settings, persistence_store=layer)
    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ANN401, ARG001 - Lambda's
        return {"statusCode": 201, "headers": {}, "body": json.dumps(_paid(event, outside))}

    ends_at = outside.clock_ms() + REMAINING_MS
    context = SimpleNamespace(get_remaining_time_in_millis=lambda: max(0, ends_at - outside.clock_ms()))
    with clock(outside.clock_ms):
        try:
            answer: dict[str, Any] = handler(event, context)
        except tuple(_STATUSES) as error:
            said = {"title": type(error).__name__}
            return {"statusCode": _STATUSES[type(error)], "headers": {}, "body": json.dumps(said)}
    return answer


def _paid(event: dict[str, Any], outside: Outside) -> dict[str, Any]:
    """The effect. A provider that cannot be reached raises: the utility lets the next attempt run then."""
    payment = json.loads(event["body"])
    tenant = event["requestContext"]["authorizer"]["tenantId"]
    # The caller's key is what a careful user has for the provider: every attempt has the same.
    headers = {"Idempotency-Key": f"{tenant}#{event['headers']['idempotency-key']}"}
    answer = outside.provider.call(
        "POST",
        "https://pay.example/v1/charges",
        headers,
        json.dumps(payment).encode(),
        timeout_seconds=_PROVIDER_SECONDS,
    )
    charge = json.loads(answer.body)
    return {"id": outside.fresh_id(), "status": charge["status"], "chargeId": charge["id"]}


@contextmanager
def clock(now_ms: Callable[[], int]) -> Iterator[None]:
    """Let the utility read `now_ms` wherever it reads the time (and keep to itself what it would log)."""

    class Clock(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Clock:
            return cls.fromtimestamp(now_ms() / 1000, tz)

    read = SimpleNamespace(datetime=Clock, timedelta=dt.timedelta, date=dt.date, time=dt.time)
    with ExitStack() as patches:
        patches.enter_context(patch.object(factory.logger, "disabled", True))
        for module in CLOCKED:
            patches.enter_context(patch.object(module, "dt", read))
        yield


class AskingClient:
    """What the layer needs of a DynamoDB client: each request is a call that the scheduler decides on."""

    def __init__(self, ask: Ask, attempt: str) -> None:
        self._ask, self._attempt = ask, attempt

    def put_item(self, **request: Any) -> Any:  # noqa: ANN401 - boto3's shapes
        """As boto3's."""
        return self._ask(PORT, "put_item", self._attempt, request)

    def get_item(self, **request: Any) -> Any:  # noqa: ANN401 - boto3's shapes
        """As boto3's."""
        return self._ask(PORT, "get_item", self._attempt, request)

    def update_item(self, **request: Any) -> Any:  # noqa: ANN401 - boto3's shapes
        """As boto3's."""
        return self._ask(PORT, "update_item", self._attempt, request)

    def delete_item(self, **request: Any) -> Any:  # noqa: ANN401 - boto3's shapes
        """As boto3's."""
        return self._ask(PORT, "delete_item", self._attempt, request)


def served(sent: Sent) -> Callable[[Life], dict[str, Any]]:
    """The program of a request."""

    def program(life: Life) -> dict[str, Any]:
        client: Any = AskingClient(life.ask, life.name)
        outside = Outside(client, AskingProvider(life.ask), life.clock_ms, life.randomness())
        return respond(sent.event(life.name, life.started_ms), outside)

    return program
