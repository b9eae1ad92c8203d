"""The authorizer's registry on moto, and events and policies to ask it with."""

from __future__ import annotations

import io
import itertools
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Any

import boto3
from aws_lambda_powertools import Logger

from handlers.adapters.registry import DynamoDbRegistry
from handlers.authorizer import Dependencies, authorize
from handlers.settings import AuthorizerSettings

REGION = "eu-central-1"
TABLE = "onceward-dev_tenants"
KEY = "Zk3vQ9sample0key0value0of0forty0chars000"
HASH = sha256(KEY.encode()).hexdigest()
STAGE_ARN = "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/dev"
CREATE = f"{STAGE_ARN}/POST/v1/leads"
READ = f"{STAGE_ARN}/GET/v1/leads/01JDXAMPLE0000000000000000"
RECEIPT = f"{STAGE_ARN}/GET/v1/receipts/a/b:c"
_LOGGERS = itertools.count()
_CALLS = "provide-client-params.dynamodb.*"


def key_item(**changes: Any) -> dict[str, Any]:
    return {
        "pk": {"S": f"key#{HASH}"},
        "kind": {"S": "key"},
        "tenantId": {"S": "acme"},
        "keyName": {"S": "web"},
        "status": {"S": "active"},
        "tier": {"S": "pro"},
        "operations": {"L": [{"S": "*"}]},
        "origins": {"L": []},
        "bodyLimitBytes": {"N": "65536"},
        "operationSettings": {"S": '{"leads":{"windowSeconds":86400,"keySource":"header-or-body"}}'},
    } | changes


def request_event(
    key: str | None = KEY, *, header: str = "x-api-key", method_arn: str = CREATE, more: tuple[str, ...] = ()
) -> dict[str, Any]:
    sent = [] if key is None else [key, *more]
    return {
        "type": "REQUEST",
        "methodArn": method_arn,
        "resource": "/v1/leads",
        "path": "/v1/leads",
        "httpMethod": "POST",
        "headers": {header: sent[-1]} if sent else {},
        "multiValueHeaders": {header: sent} if sent else {},
        "requestContext": {"stage": "dev", "apiId": "a1b2c3d4e5", "identity": {"apiKey": key}},
    }


def permits(answer: dict[str, Any], method_arn: str) -> bool:
    """What API Gateway makes of a policy: a denial wins, and silence is one."""
    statements = answer["policyDocument"]["Statement"]
    matching = [s["Effect"] for s in statements if any(fnmatchcase(method_arn, r) for r in s["Resource"])]
    return "Allow" in matching and "Deny" not in matching


class Desk:
    """The authorizer, its registry and its log. With a `client` of others too it must `leave` in the end."""

    def __init__(self, client: Any = None) -> None:
        self.client = client or boto3.client("dynamodb", region_name=REGION)
        self.client.create_table(
            TableName=TABLE,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        self.calls: list[dict[str, Any]] = []
        self.client.meta.events.register(_CALLS, self._hear)
        self.log = io.StringIO()
        logger = Logger(service=f"authorizer-{next(_LOGGERS)}", level="INFO", stream=self.log)
        self.dependencies = Dependencies(
            AuthorizerSettings("dev", TABLE), DynamoDbRegistry(TABLE, self.client), logger
        )

    def _hear(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        self.calls.append({model.name: params})

    def leave(self) -> None:
        """Hear no calls any more."""
        self.client.meta.events.unregister(_CALLS, self._hear)

    def put(self, item: dict[str, Any]) -> None:
        self.client.put_item(TableName=TABLE, Item=item)
        self.calls.clear()

    def ask(self, event: dict[str, Any] | None = None) -> dict[str, Any]:
        return authorize(event or request_event(), self.dependencies)
