"""From an accepted order to its tenant: a poison order, a lost message, the correlation id all the way."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from ops.cli import app
from tests.e2e.api import Api, eventually, fresh_key
from tests.e2e.operations import ORDERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.stand_in import StandIn
    from tests.platform_fixture import RunningPlatform

pytestmark = pytest.mark.platform


def status(api: Api, location: str) -> str:
    """What its record says of an order."""
    found: str = api.get(location).json()["status"]
    return found


def depth(platform: RunningPlatform, queue: str) -> int:
    """Messages of a queue, seen or not."""
    sqs = platform.client("sqs")
    url = sqs.get_queue_url(QueueName=f"onceward-local_{queue}")["QueueUrl"]
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    counts = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return sum(int(counts[name]) for name in names)


def redrive(platform: RunningPlatform, tenant: str) -> int:
    """Redrive a tenant's dead orders as an operator does; how many were sent."""
    words = [
        "dlq",
        "redrive",
        "orders-dlq",
        "--tenant",
        tenant,
        "--home",
        str(platform.home),
        "--yes",
        "--json",
    ]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    sent: int = json.loads(result.stdout)["sent"]
    return sent


def test_one_poison_order_of_ten_reaches_the_dlq_and_redrive_brings_it_back(
    platform: RunningPlatform, alpha: Api, stand_in: StandIn
) -> None:
    bodies = [ORDERS.body() for _ in range(10)]
    poison = bodies[3]["customer"]
    with stand_in.fault("status", 422, bodyContains=poison):
        with ThreadPoolExecutor(10) as pool:
            answers = list(pool.map(lambda body: ORDERS.send(alpha, body), bodies))
        places = [answer.headers["Location"] for answer in answers]
        for number, place in enumerate(places):
            if number != 3:
                assert eventually(lambda place=place: status(alpha, place) == "COMPLETED")  # type: ignore[misc]
        assert eventually(lambda: depth(platform, "orders-dlq") == 1, seconds=120)
        assert status(alpha, places[3]) == "FAILED"
    assert redrive(platform, "delta") == 0
    assert (depth(platform, "orders-dlq"), redrive(platform, "alpha")) == (1, 1)
    assert eventually(lambda: status(alpha, places[3]) == "COMPLETED", seconds=60)
    assert depth(platform, "orders-dlq") == 0
    assert len(stand_in.upserts(poison)) == 1
    # Safe to run twice: there is nothing left, and nothing happens.
    assert redrive(platform, "alpha") == 0
    assert (status(alpha, places[3]), depth(platform, "orders")) == ("COMPLETED", 0)


@contextmanager
def without_worker(platform: RunningPlatform) -> Iterator[str]:
    """Nobody takes orders off their queue for the length of the block; yields its address."""
    client, sqs = platform.client("lambda"), platform.client("sqs")
    url: str = sqs.get_queue_url(QueueName="onceward-local_orders")["QueueUrl"]
    mappings = client.list_event_source_mappings()["EventSourceMappings"]
    (mapping,) = (
        each["UUID"] for each in mappings if each["EventSourceArn"].endswith(":onceward-local_orders")
    )
    client.update_event_source_mapping(UUID=mapping, Enabled=False)
    try:
        yield url
    finally:
        client.update_event_source_mapping(UUID=mapping, Enabled=True)


def test_an_order_whose_message_is_lost_is_queued_again_once_and_completed(
    platform: RunningPlatform, alpha: Api, stand_in: StandIn
) -> None:
    body = ORDERS.body()
    sqs, dynamodb = platform.client("sqs"), platform.client("dynamodb")
    with without_worker(platform) as url:
        place = ORDERS.send(alpha, body).headers["Location"]
        record = place.rsplit("/", 1)[1]

        def dropped() -> bool:
            """Throw the message away, as a person with too many rights might."""
            for message in sqs.receive_message(QueueUrl=url, WaitTimeSeconds=1).get("Messages", []):
                assert json.loads(message["Body"])["recordId"] == record
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
                return True
            return False

        assert eventually(dropped)
        assert status(alpha, place) == "ACCEPTED"
        # An hour passes, as far as the record can tell.
        table, key = platform.outputs.tables["records"], {"pk": {"S": f"alpha#{record}"}}
        pending = dynamodb.get_item(TableName=table, Key=key)["Item"]["pendingSince"]["N"]
        dynamodb.update_item(
            TableName=table,
            Key=key,
            UpdateExpression="SET pendingSince = :then, updatedAt = :then",
            ExpressionAttributeValues={":then": {"N": str(int(pending) - 3_600_000)}},
        )
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda _: reconcile(platform), range(2)))
        reconcile(platform)
        assert depth(platform, "orders") == 1
    assert eventually(lambda: status(alpha, place) == "COMPLETED", seconds=60)
    assert len(stand_in.upserts(body["customer"])) == 1
    item = dynamodb.get_item(TableName=table, Key=key)["Item"]
    assert (item["requeues"]["N"], "pendingSince" in item) == ("1", False)


def reconcile(platform: RunningPlatform) -> None:
    """One run of the reconciler, beside those that its schedule makes."""
    known = platform.outputs.functions["reconcile"]
    answer = platform.client("lambda").invoke(
        FunctionName=known["name"], Qualifier=known["alias"], Payload=b"{}"
    )
    assert "FunctionError" not in answer, answer["Payload"].read()


def test_the_correlation_id_goes_from_the_api_to_the_event_and_every_log_line(
    platform: RunningPlatform, alpha: Api
) -> None:
    trace = fresh_key("trace")
    answer = ORDERS.send(alpha, headers={"X-Correlation-Id": trace, "Idempotency-Key": trace})
    record = answer.json()["id"]
    sqs, url = platform.client("sqs"), platform.outputs.tenants["alpha"].audit_queue_url

    def the_event() -> dict[str, Any] | None:
        for message in sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
            event: dict[str, Any] = json.loads(message["Body"])
            if event["subject"] == record:
                return event
        return None

    event = eventually(the_event, seconds=60)
    assert (event["type"], event["correlationid"]) == ("order.completed", trace)
    assert event["data"] == alpha.get(answer.headers["Location"]).json()
    logs = platform.client("logs")
    for function in ("ingest", "dispatch", "fulfil", "notify"):

        def lines(function: str = function) -> list[dict[str, Any]]:
            found = logs.filter_log_events(
                logGroupName=f"/aws/lambda/onceward-local_{function}", filterPattern=f'"{trace}"'
            )["events"]
            return [each for each in found if trace in each["message"]]

        assert eventually(lines), function
