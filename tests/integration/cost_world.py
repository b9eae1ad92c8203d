"""Every function as Lambda calls it, over one local AWS, with everything that it asks of AWS counted."""

from __future__ import annotations

import io
import json
import logging
import sys
import uuid
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any, Final

import boto3
from aws_lambda_powertools import Logger

from bench.requests import TENANT, body_of, event_of, webhook_event
from handlers import authorizer, deliver, dispatch, execute, fulfil, ingest, notify, reconcile, webhooks
from handlers.adapters.outbound import OutboundHttp
from handlers.domain.outbound import Answer
from ops.costs.counted import Step
from tests.integration.counting import Counting
from tests.records_table import make_records_table
from tests.stream_events import stream_batch
from tests.unit.handlers.authorizer_desk import key_item, request_event
from tests.unit.handlers.test_wiring import Context
from tests.unit.handlers.test_wiring_work import _as_lambda_does

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

STAGE: Final = "prod"
_SECRET = "whsec_of_bench"
_TAKERS = {
    "leads": ("ingest", ingest.handler),
    "orders": ("ingest", ingest.handler),
    "payments": ("execute", execute.handler),
    "appointments": ("execute", execute.handler),
    "webhooks": ("webhooks", webhooks.handler),
}
_WORKERS = {"orders": ("fulfil", fulfil.handler), "webhooks": ("deliver", deliver.handler)}
_FUNCTIONS = (authorizer, dispatch, execute, ingest, notify, reconcile, webhooks)
_CACHED = (*(each._dependencies for each in _FUNCTIONS), deliver._worker, fulfil._worker)
_PAYMENTS = {
    "windowSeconds": 86_400,
    "keySource": "header",
    "options": {"providerUrl": "https://pay.example", "checkpoint": False},
}
_SOURCES = {
    "stripe": {
        "proof": {"scheme": "stripe", "header": None, "toleranceSeconds": 300},
        "identity": {"path": "id", "header": None, "template": "{id}"},
        "windowSeconds": 2_592_000,
        "bodyLimitBytes": 65_536,
        "destination": {"url": "https://crm.bench.example/v1/events/{id}", "method": "PUT"},
    }
}
_ORDERS = {"destination": {"url": "https://crm.bench.example/v1/orders/{id}", "method": "PUT"}}


class _Printed(io.TextIOBase):
    """Wherever stdout goes at the moment: Powertools' handlers keep the stream that they were made with."""

    def write(self, text: str) -> int:
        return sys.stdout.write(text)


class CostWorld:
    """One tenant with everything, at `endpoint`; made anew for each test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, endpoint: Any) -> None:
        own = "AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"
        values = endpoint.url, endpoint.access_key_id, endpoint.secret_access_key
        for name, value in zip(own, values, strict=True):
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        self._suffix = uuid.uuid4().hex[:8]
        self._session = boto3.Session()
        self._dynamodb, self._sqs = self._client("dynamodb"), self._client("sqs")
        self._queues = {
            name: self._sqs.create_queue(QueueName=self._name(name))["QueueUrl"]
            for name in ("orders", "webhooks", "dispatch-retry")
        }
        self._make_tables()
        self._put_secrets()
        for name, value in self._environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(OutboundHttp, "call", _answered)
        boto3.setup_default_session()
        assert boto3.DEFAULT_SESSION is not None
        self._counting = Counting(boto3.DEFAULT_SESSION.events, self._dynamodb)
        self._details: list[str] = []
        self.forget()
        _listen_to_logs()

    def close(self) -> None:
        """Leave nothing of it in the process."""
        self.forget()
        boto3.DEFAULT_SESSION = None

    def forget(self) -> None:
        """New environments of all functions: config and secrets have to be read again."""
        for cached in _CACHED:
            cached.cache_clear()

    def accepted(self, operation: str, key: str) -> tuple[Step, ...]:
        """The first request of an empty world, and everything that follows from it, step by step."""
        steps = [self.sent(operation, key)]
        [receipt] = self._dynamodb.scan(TableName=self._name("receipts"))["Items"]
        steps.append(self._call("dispatch", dispatch.handler, _inserted(receipt)))
        if operation in _WORKERS:
            name, handler = _WORKERS[operation]
            steps.append(self._call(name, handler, self._batch(operation)))
        for detail in tuple(self._details):
            event = {"source": f"onceward.{STAGE}", "detail": json.loads(detail)}
            steps.append(self._call("notify", notify.handler, event))
        return tuple(steps)

    def sent(self, operation: str, key: str) -> Step:
        """One request: the first of its key, or a duplicate."""
        name, handler = _TAKERS[operation]
        if operation == "webhooks":
            return self._call(name, handler, webhook_event(body_of(operation, key), _SECRET))
        return self._call(name, handler, event_of(operation, key, settings={"payments": _PAYMENTS}))

    def authorized(self) -> Step:
        """An API key that the gateway's cache does not know."""
        self._dynamodb.put_item(TableName=self._name("tenants"), Item=key_item())
        return self._call("authorizer", authorizer.handler, request_event())

    def reconciled(self) -> Step:
        """A run of the schedule's with nothing pending."""
        return self._call("reconcile", reconcile.handler, {})

    def _call(self, name: str, handler: Callable[[Any, Any], Any], event: Any) -> Step:
        self._counting.take()
        printed = io.StringIO()
        with redirect_stdout(printed):
            answer = handler(event, Context())
        assert _good(answer), (answer, printed.getvalue())
        asked = self._counting.take()
        self._details = asked.details
        return Step(
            name,
            asked.writes,
            asked.reads,
            sends=asked.calls["SendMessage"],
            publishes=asked.calls["Publish"],
            events=asked.calls["PutEvents"],
            log_bytes=len(printed.getvalue().encode()),
            stores=asked.stores,
        )

    def _batch(self, queue: str) -> dict[str, Any]:
        received = self._sqs.receive_message(
            QueueUrl=self._queues[queue],
            MaxNumberOfMessages=10,
            AttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        return {"Records": [_as_lambda_does(message) for message in received["Messages"]]}

    def _make_tables(self) -> None:
        for name in ("receipts", "slots", "tenants"):
            self._dynamodb.create_table(
                TableName=self._name(name),
                KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                BillingMode="PAY_PER_REQUEST",
            )
        make_records_table(self._dynamodb, self._name("records"))
        tenant = {
            "pk": f"tenant#{TENANT}",
            "kind": "tenant",
            "tenantId": TENANT,
            "status": "active",
            "webhooks": json.dumps(_SOURCES),
            "orders": json.dumps(_ORDERS),
        }
        self._dynamodb.put_item(
            TableName=self._name("tenants"), Item={name: {"S": value} for name, value in tenant.items()}
        )

    def _put_secrets(self) -> None:
        ssm = self._client("ssm")
        for name, value in (("webhooks/stripe", _SECRET), ("payments/provider", "token-of-bench")):
            ssm.put_parameter(Name=f"{self._prefix}{TENANT}/{name}", Value=value, Type="SecureString")

    def _environment(self) -> dict[str, str]:
        topic = self._client("sns").create_topic(Name=f"{self._name('topic')}-{TENANT}")["TopicArn"]
        self._client("events").create_event_bus(Name=self._name("bus"))
        tables = {f"{name.upper()}_TABLE": self._name(name) for name in _TABLES}
        return tables | {
            "STAGE": STAGE,
            "SECRETS_PREFIX": self._prefix,
            "TOPIC_ARN_PREFIX": topic.removesuffix(TENANT),
            "EVENT_BUS_NAME": self._name("bus"),
            "MAX_RECEIVES": "12",
            "ORDERS_QUEUE_URL": self._queues["orders"],
            "WEBHOOKS_QUEUE_URL": self._queues["webhooks"],
            "RETRY_QUEUE_URL": self._queues["dispatch-retry"],
            # Only asked when something fails, which nothing does here.
            "QUEUE_URL": self._queues["orders"],
            # What the runtime sets, and log lines repeat.
            "_X_AMZN_TRACE_ID": "Root=1-5e34a614-10bdc5f31fb44f07bc535a1b;Parent=07f5c1d2d1f6f85a;Sampled=1",
        }

    @property
    def _prefix(self) -> str:
        return f"/onceward/{self._suffix}/"

    def _name(self, what: str) -> str:
        return f"cost-{self._suffix}-{what}"

    def _client(self, service: str) -> Any:
        return self._session.client(service)


_TABLES = ("receipts", "records", "slots", "tenants")


def _answered(*_: object, **__: object) -> Answer:
    """What both a provider and a destination might say."""
    charge = {"id": f"ch_{uuid.uuid4().hex[:24]}", "status": "succeeded"}
    return Answer(201, {"content-type": "application/json"}, json.dumps(charge).encode())


def _good(answer: Any) -> bool:
    if answer is None:
        return True
    if "batchItemFailures" in answer:
        return not answer["batchItemFailures"]
    if "policyDocument" in answer:
        return bool(answer["policyDocument"]["Statement"][0]["Effect"] == "Allow")
    return bool(answer["statusCode"] in (200, 201, 202))


def _inserted(item: Any) -> dict[str, Any]:
    """The stream's word of a new receipt."""
    change = {"Keys": {"pk": item["pk"]}, "NewImage": item, "SequenceNumber": "442158450000000000001"}
    record = {"eventName": "INSERT", "eventSource": "aws:dynamodb", "dynamodb": change}
    return stream_batch(record)


def _listen_to_logs() -> None:
    for name in (*(each.__name__.rpartition(".")[2] for each in _FUNCTIONS), "deliver", "fulfil"):
        Logger(service=name, level="INFO")
        for handler in logging.getLogger(name).handlers:
            if isinstance(handler, logging.StreamHandler):
                handler.setStream(_Printed())
