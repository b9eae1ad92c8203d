"""What each function's role may do, evaluated call by call: exactly its own calls, and only in its stage."""

from __future__ import annotations

import subprocess
from typing import get_args

import pytest

from infra import policies
from infra.naming import PENDING_INDEX, Arns, Location, Names
from infra.settings import FunctionName
from tests import iam_simulator
from tests.iam_simulator import Call

ACCOUNT = "123456789012"
FUNCTIONS: tuple[FunctionName, ...] = get_args(FunctionName)
# `dev` is a prefix of `dev2` and has `de` as one: names are told apart by more than their beginning.
OTHER_STAGES = ("prod", "dev2", "de")

TABLE_ACTIONS = (
    "GetItem",
    "BatchGetItem",
    "Query",
    "Scan",
    "PutItem",
    "UpdateItem",
    "DeleteItem",
    "BatchWriteItem",
    "DeleteTable",
    "UpdateTable",
)
QUEUE_CALLS = ("SendMessage", "ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility")
QUEUE_ACTIONS = (*QUEUE_CALLS, "PurgeQueue", "SetQueueAttributes")
TENANTS = ("acme", "bluebird")
SECRETS = ("webhooks/stripe", "destinations/webhooks/stripe", "destinations/orders", "payments/provider")
SECRET_ACTIONS = ("GetParameter", "PutParameter", "DeleteParameter")
QUEUES = ("dispatch-retry", "dispatch-dlq", "orders", "orders-dlq", "webhooks", "webhooks-dlq", "notify-dlq")
TOPIC_ACTIONS = ("Publish", "Subscribe", "DeleteTopic", "SetTopicAttributes")


@pytest.fixture(autouse=True)
def _simulator() -> None:
    iam_simulator.require()


def arns(stage: str, account: str = ACCOUNT) -> Arns:
    return Arns(Location("aws", account, "eu-central-1"), Names(stage))


def stream(of: Arns) -> str:
    return of.stream("receipts").replace("*", "2026-01-01T00:00:00.000")


def pending(of: Arns) -> str:
    return of.index("records", PENDING_INDEX)


def secret(of: Arns, tenant: str, name: str) -> str:
    return of.location.arn("ssm", f"parameter/onceward/{of.names.stage}/{tenant}/{name}")


def default_bus(of: Arns) -> str:
    return of.location.arn("events", "event-bus/default")


def every_call(of: Arns) -> list[Call]:
    """Calls on everything that a stage has: what a role could do there if its policy let it."""
    tables = [of.table(name) for name in ("receipts", "records", "slots", "tenants")]
    topics = [of.tenant_topic("acme"), of.tenant_topic("bluebird"), of.topic("alarms")]
    queues = [of.queue(name) for name in QUEUES]
    secrets = [secret(of, tenant, name) for tenant in TENANTS for name in SECRETS]
    failed_batch = f"{of.failure_bucket}/batch.json"
    groups = [
        of.location.arn("logs", f"log-group:{of.names.log_group(name)}:log-stream:2026") for name in FUNCTIONS
    ]
    return [
        *(Call(f"dynamodb:{action}", table) for table in tables for action in TABLE_ACTIONS),
        *(
            Call(f"dynamodb:{action}", stream(of))
            for action in ("GetRecords", "GetShardIterator", "DescribeStream")
        ),
        *(Call(f"sns:{action}", topic) for topic in topics for action in TOPIC_ACTIONS),
        *(Call(f"dynamodb:{action}", pending(of)) for action in ("Query", "Scan")),
        *(Call(f"ssm:{action}", each) for each in secrets for action in SECRET_ACTIONS),
        *(Call("events:PutEvents", bus) for bus in (of.bus("orders"), default_bus(of))),
        *(Call(f"sqs:{action}", queue) for queue in queues for action in QUEUE_ACTIONS),
        *(Call(f"s3:{action}", failed_batch) for action in ("GetObject", "PutObject", "DeleteObject")),
        *(Call("logs:PutLogEvents", group) for group in groups),
        *(Call("lambda:InvokeFunction", of.function(name)) for name in FUNCTIONS),
        *(Call("sts:AssumeRole", of.role(name)) for name in FUNCTIONS),
    ]


def expected(function: str, of: Arns) -> set[Call]:
    """The calls that a function makes, by hand from DESIGN: anything more is a right that nobody needs."""
    own_log = of.location.arn("logs", f"log-group:{of.names.log_group(function)}:log-stream:2026")
    retry = of.queue("dispatch-retry")
    send_work = {Call("sqs:SendMessage", of.queue(name)) for name in ("orders", "webhooks")}
    publish = {Call("sns:Publish", of.tenant_topic(tenant)) for tenant in TENANTS}

    def reads(*names: str) -> set[Call]:
        return {Call("ssm:GetParameter", secret(of, each, name)) for each in TENANTS for name in names}

    def works(queue: str) -> set[Call]:
        return {
            Call("dynamodb:UpdateItem", of.table("records")),
            Call("dynamodb:GetItem", of.table("tenants")),
            *(Call(f"sqs:{action}", of.queue(queue)) for action in QUEUE_CALLS if action != "SendMessage"),
        }

    calls = {
        "execute": {
            Call("dynamodb:PutItem", of.table("receipts")),
            Call("dynamodb:UpdateItem", of.table("receipts")),
            Call("dynamodb:PutItem", of.table("slots")),
            *reads("payments/provider"),
        },
        "webhooks": {
            Call("dynamodb:PutItem", of.table("receipts")),
            Call("dynamodb:GetItem", of.table("tenants")),
            *reads("webhooks/stripe"),
        },
        "deliver": works("webhooks") | reads("destinations/webhooks/stripe"),
        "fulfil": {
            *(works("orders") | reads("destinations/orders")),
            Call("events:PutEvents", of.bus("orders")),
        },
        "notify": {*publish, Call("sqs:SendMessage", of.queue("notify-dlq"))},
        "reconcile": {
            Call("dynamodb:Query", pending(of)),
            Call("dynamodb:UpdateItem", of.table("records")),
            *send_work,
        },
        "authorizer": {Call("dynamodb:GetItem", of.table("tenants"))},
        "ingest": {Call("dynamodb:PutItem", of.table("receipts"))},
        "read": {Call("dynamodb:GetItem", of.table(name)) for name in ("receipts", "records")},
        "dispatch": {
            Call("dynamodb:PutItem", of.table("records")),
            *(
                Call(f"dynamodb:{a}", stream(of))
                for a in ("GetRecords", "GetShardIterator", "DescribeStream")
            ),
            *(publish | send_work),
            *(Call(f"sqs:{a}", retry) for a in QUEUE_CALLS),
            Call("s3:PutObject", f"{of.failure_bucket}/batch.json"),
        },
    }
    return {*calls[function], Call("logs:PutLogEvents", own_log)}


def tried(function: str, of: Arns, calls: list[Call], account: str = ACCOUNT) -> set[Call]:
    """The calls that the role of a function of a stage gets through."""
    return iam_simulator.allowed(policies.function_role(function, of), of.role(function), account, calls)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_role_may_make_its_functions_calls_and_no_other_of_its_stage(function: str) -> None:
    dev = arns("dev")
    assert tried(function, dev, every_call(dev)) == expected(function, dev)


def test_ingest_can_neither_read_nor_delete_a_receipt() -> None:
    dev = arns("dev")
    receipts = dev.table("receipts")
    calls = [Call(f"dynamodb:{action}", receipts) for action in TABLE_ACTIONS]
    assert tried("ingest", dev, calls) == {Call("dynamodb:PutItem", receipts)}


def test_read_can_write_nothing_but_its_log() -> None:
    dev = arns("dev")
    reads = ("GetItem", "BatchGetItem", "Query", "Scan", "GetRecords", "GetObject", "Receive", "Describe")
    writes = [call for call in every_call(dev) if not call.action.split(":")[1].startswith(reads)]
    assert {call.action for call in tried("read", dev, writes)} == {"logs:PutLogEvents"}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("other", OTHER_STAGES)
def test_a_role_can_do_nothing_in_another_stage(function: str, other: str) -> None:
    dev, there = arns("dev"), arns(other)
    assert tried(function, dev, every_call(there)) == set()
    assert tried(function, there, every_call(dev)) == set()


def test_what_runs_an_effect_reaches_no_record_and_what_takes_webhooks_no_other_secret() -> None:
    dev = arns("dev")
    calls = every_call(dev)
    assert not [call for call in tried("execute", dev, calls) if call.resource == dev.table("records")]
    for function, prefix in (("execute", "payments/"), ("webhooks", "webhooks/")):
        read = {call for call in tried(function, dev, calls) if call.action.startswith("ssm:")}
        assert {call.action for call in read} == {"ssm:GetParameter"}
        # arn:...:parameter/onceward/dev/acme/webhooks/stripe
        assert all(call.resource.split("/", 4)[4].startswith(prefix) for call in read)


def test_a_queue_is_taken_from_by_its_own_worker_alone() -> None:
    dev = arns("dev")
    calls = [Call("sqs:ReceiveMessage", dev.queue(queue)) for queue in QUEUES]
    taken = {name: {call.resource for call in tried(name, dev, calls)} for name in FUNCTIONS}
    assert {name: queues for name, queues in taken.items() if queues} == {
        "dispatch": {dev.queue("dispatch-retry")},
        "deliver": {dev.queue("webhooks")},
        "fulfil": {dev.queue("orders")},
    }


def test_dispatch_publishes_to_the_tenants_of_its_stage_alone() -> None:
    dev = arns("dev")
    mine = [dev.tenant_topic(tenant) for tenant in ("acme", "storm-a", "prod-x", "dev2-acme")]
    not_mine = [
        dev.topic("alarms"),
        *(arns(stage).tenant_topic("acme") for stage in OTHER_STAGES),
        arns("dev").location.arn("sns", "acme"),
    ]
    published = tried("dispatch", dev, [Call("sns:Publish", topic) for topic in [*mine, *not_mine]])
    assert published == {Call("sns:Publish", topic) for topic in mine}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_role_can_do_nothing_in_another_account(function: str) -> None:
    elsewhere = arns("dev", account="210987654321")
    regional = [
        call for call in every_call(elsewhere) if not call.action.startswith("s3:")
    ]  # S3 ARNs have none
    assert tried(function, arns("dev"), regional, account="210987654321") == set()


def test_dispatch_writes_nothing_into_a_bucket_of_that_name_that_is_anothers() -> None:
    dev = arns("dev")
    call = Call("s3:PutObject", f"{dev.failure_bucket}/batch.json")
    assert tried("dispatch", dev, [call]) == {call}
    assert tried("dispatch", dev, [call], account="210987654321") == set()


def test_the_simulator_refuses_what_is_not_iam_rather_than_deny_it() -> None:
    with pytest.raises(subprocess.CalledProcessError) as failure:
        tried("read", arns("dev"), [Call("dynamodb:ReadItem", arns("dev").table("records"))])
    assert "dynamodb:ReadItem" in failure.value.stderr
