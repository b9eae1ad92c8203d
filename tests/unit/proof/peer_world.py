"""The real Powertools over moto, one step after the other: the ground that schedules are replayed on."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import boto3

from proof.payments import payment
from proof.peer_handler import TABLE, Outside, respond
from proof.programs import Call
from proof.provider import Charge, Provider
from proof.requests import PAYMENT
from tests.builders import NOW_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mypy_boto3_dynamodb import DynamoDBClient

    from handlers.domain.outbound import Answer


class Killed(BaseException):
    """The sandbox is gone: nothing of the attempt runs any more, and no `except Exception` cleans up."""


@cache
def _session() -> boto3.session.Session:
    # Reading DynamoDB's model takes a quarter of a second, and a session reads it once.
    return boto3.session.Session("testing", "testing", region_name="us-east-1")


def dynamodb() -> DynamoDBClient:
    """A client of moto, as Lambda's SDK makes it."""
    client: DynamoDBClient = _session().client("dynamodb")
    return client


def make_table(client: DynamoDBClient) -> None:
    """The table, as the utility's documentation has it."""
    client.create_table(
        TableName=TABLE,
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )


class World:
    """A table, a provider and a clock, and attempts at them."""

    def __init__(self) -> None:
        self.now = NOW_MS
        self.charges: tuple[Charge, ...] = ()
        make_table(dynamodb())

    def charge(self, method: str, url: str, headers: Mapping[str, str], body: bytes, **_: float) -> Answer:
        """The provider: it honours a key for a day."""
        call = Call("provider", "charge", (headers["Idempotency-Key"], body.decode()))
        applied = Provider().apply(self.charges, call, self.now)
        self.charges = applied.state
        answer: Answer = applied.result
        return answer

    def attempt(
        self,
        name: str,
        *,
        body: dict[str, Any] = PAYMENT,
        client: DynamoDBClient | None = None,
        before_charge: Callable[[], None] = lambda: None,
        after_charge: Callable[[], None] = lambda: None,
    ) -> dict[str, Any]:
        """One attempt, from its event to its answer; the hooks run inside its call of the provider."""
        world = self

        class Hooked:
            def call(self, *arguments: Any, timeout_seconds: float) -> Answer:
                before_charge()
                answer = world.charge(*arguments)
                after_charge()
                return answer

        outside = Outside(client or dynamodb(), Hooked(), lambda: self.now, lambda: f"id-of-{name}")
        return respond(payment(body).event(name, self.now), outside)

    def item(self) -> dict[str, Any] | None:
        """The one item of the table, or None."""
        items = dynamodb().scan(TableName=TABLE)["Items"]
        assert len(items) <= 1
        return items[0] if items else None


def lose_the_answer(client: DynamoDBClient, operation: str, meanwhile: Callable[[], None]) -> None:
    """Let botocore itself send `operation` again, as if its answer were lost; `meanwhile` happens before."""

    def again(attempts: int, **_: Any) -> int | None:
        if attempts > 1:
            return None
        meanwhile()
        return 0  # seconds to wait

    events: Any = client.meta.events  # its stubs know no handler that answers, as this event's do
    events.register_first(f"needs-retry.dynamodb.{operation}", again)


def said(answer: dict[str, Any]) -> dict[str, Any]:
    """The body of an answer."""
    body: dict[str, Any] = json.loads(answer["body"])
    return body
