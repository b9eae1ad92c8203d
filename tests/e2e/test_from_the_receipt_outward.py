"""What was accepted comes out, whatever happens to `dispatch`: stopped, killed, refused, poisoned."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from ops.commands import dispatch as dispatch_command
from tests.e2e.api import Api, eventually, fresh_key
from tests.e2e.killing import killed
from tests.e2e.stored import hear, items_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import typer

    from tests.platform_fixture import RunningPlatform

pytestmark = pytest.mark.platform

DISPATCH = "onceward-local_dispatch"
LEADS = 12  # more than one batch of the poller, few enough to be quick
# Where `dispatch` is killed: the record is written in both, the event is out in the second.
BEFORE_THE_EVENT = ("handlers/adapters/topics.py", b"        with translated(SERVICE):\n")
AFTER_THE_EVENT = ("handlers/dispatch.py", b"    return lambda: trace.dispatched(dependencies")


def post_leads(alpha: Api, count: int = LEADS) -> set[str]:
    """Accept leads; return their ids."""
    answers = [alpha.post(idempotency_key=fresh_key("outward")) for _ in range(count)]
    assert {answer.status_code for answer in answers} == {201}
    return {answer.json()["id"] for answer in answers}


def records_of(platform: RunningPlatform, leads: set[str]) -> dict[str, str]:
    """The records of these leads of alpha: lead id -> event id."""
    items = items_of(platform, "records", {f"alpha#{lead}" for lead in leads})
    return {item["recordId"]["S"]: item["eventId"]["S"] for item in items}


def accepted_events(platform: RunningPlatform, leads: set[str]) -> dict[str, str]:
    """What the receipts promised: lead id -> event id."""
    pages = (
        platform.client("dynamodb")
        .get_paginator("scan")
        .paginate(TableName=platform.outputs.tables["receipts"])
    )
    promised = {
        item["outbox"]["M"]["recordId"]["S"]: item["outboxId"]["S"]
        for page in pages
        for item in page["Items"]
        if "outbox" in item  # a test of this file writes one without
    }
    return {lead: promised[lead] for lead in leads}


def assert_everything_came_out(platform: RunningPlatform, leads: set[str]) -> None:
    """One record and one event id a lead, both those of its receipt."""
    promised = accepted_events(platform, leads)
    eventually(lambda: records_of(platform, leads) == promised)
    heard = hear(platform, "alpha", leads)
    assert heard == {lead: {event} for lead, event in promised.items()}


def stream_mapping(platform: RunningPlatform) -> dict[str, Any]:
    """The mapping that feeds `dispatch` from the receipts stream."""
    mappings = platform.client("lambda").list_event_source_mappings(FunctionName=f"{DISPATCH}:live")
    [stream] = [one for one in mappings["EventSourceMappings"] if ":dynamodb:" in one["EventSourceArn"]]
    found: dict[str, Any] = stream
    return found


@contextmanager
def stopped(platform: RunningPlatform) -> Iterator[None]:
    """The stream's mapping is disabled."""
    client = platform.client("lambda")
    stream = stream_mapping(platform)["UUID"]
    client.update_event_source_mapping(UUID=stream, Enabled=False)
    try:
        yield
    finally:
        client.update_event_source_mapping(UUID=stream, Enabled=True)


@contextmanager
def unable_to_write_records(platform: RunningPlatform) -> Iterator[None]:
    """The role of `dispatch` may not write to the records table."""
    iam = platform.client("iam")
    known = iam.get_role_policy(RoleName=DISPATCH, PolicyName="calls")["PolicyDocument"]
    document = json.loads(known) if isinstance(known, str) else known
    statements = [statement for statement in document["Statement"] if statement["Sid"] != "StoreRecord"]
    assert len(statements) == len(document["Statement"]) - 1
    put = {"RoleName": DISPATCH, "PolicyName": "calls"}
    iam.put_role_policy(**put, PolicyDocument=json.dumps(document | {"Statement": statements}))
    try:
        yield
    finally:
        iam.put_role_policy(**put, PolicyDocument=json.dumps(document))


def heard_again(platform: RunningPlatform, leads: set[str]) -> tuple[str, set[str]]:
    """Wait until two events of one of `leads` were published; that lead, and the ids of its events."""
    sqs, url = platform.client("sqs"), platform.outputs.tenants["alpha"].audit_queue_url
    heard: dict[str, list[str]] = {}

    def twice() -> tuple[str, set[str]] | None:
        batch = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        for message in batch:
            event = json.loads(message["Body"])
            if event["subject"] in leads:
                heard.setdefault(event["subject"], []).append(event["id"])
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return next(((lead, set(events)) for lead, events in heard.items() if len(events) > 1), None)

    lead, events = eventually(twice, seconds=60)
    return lead, events


def errors_logged(platform: RunningPlatform, text: str) -> int:
    """How many lines of `dispatch`'s log hold `text`."""
    found = platform.client("logs").filter_log_events(
        logGroupName=f"/aws/lambda/{DISPATCH}", filterPattern=f'"{text}"'
    )
    return len(found["events"])


def run(app: typer.Typer, *arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200", "TERM": "dumb"})
    assert result.exit_code == 0, result.output
    return result.stdout


def test_what_is_accepted_while_dispatch_is_stopped_comes_out_when_it_runs(
    platform: RunningPlatform, alpha: Api
) -> None:
    with stopped(platform):
        leads = post_leads(alpha)
        assert records_of(platform, leads) == {}
    assert_everything_came_out(platform, leads)


def test_dispatch_killed_between_record_and_event_loses_nothing_and_doubles_nothing(
    platform: RunningPlatform, alpha: Api
) -> None:
    with killed(platform, "dispatch", BEFORE_THE_EVENT):
        leads = post_leads(alpha)
        # The first record of the batch is written, and then the process is gone, again and again.
        written = eventually(lambda: records_of(platform, leads))
        eventually(lambda: stream_mapping(platform)["LastProcessingResult"] == "FAILED")
        assert len(records_of(platform, leads)) < LEADS

    assert_everything_came_out(platform, leads)
    assert written.items() <= records_of(platform, leads).items()


def test_dispatch_killed_after_the_event_publishes_it_again_with_the_same_id(
    platform: RunningPlatform, alpha: Api
) -> None:
    with killed(platform, "dispatch", AFTER_THE_EVENT):
        leads = post_leads(alpha)
        lead, events = heard_again(platform, leads)
        assert len(records_of(platform, leads)) < LEADS

    assert events == {accepted_events(platform, leads)[lead]}
    assert_everything_came_out(platform, leads)


def test_a_records_table_that_refuses_everybody_holds_the_stream_and_loses_nothing(
    platform: RunningPlatform, alpha: Api
) -> None:
    before = errors_logged(platform, "AccessDeniedException")
    with unable_to_write_records(platform):
        leads = post_leads(alpha)
        eventually(lambda: errors_logged(platform, "AccessDeniedException") > before)
        assert records_of(platform, leads) == {}
    assert_everything_came_out(platform, leads)


def test_a_poisoned_receipt_is_parked_and_those_behind_it_come_out(
    platform: RunningPlatform, alpha: Api
) -> None:
    dynamodb, sqs = platform.client("dynamodb"), platform.client("sqs")
    table = platform.outputs.tables["receipts"]
    pk = {"pk": {"S": f"alpha#{fresh_key('poison')}"}}
    queue = sqs.get_queue_url(QueueName="onceward-local_dispatch-retry")["QueueUrl"]
    try:
        dynamodb.put_item(
            TableName=table, Item=pk | {"outboxId": {"S": "poison"}, "tenantId": {"S": "alpha"}}
        )
        assert_everything_came_out(platform, post_leads(alpha, 3))
        # Parked, tried again from the queue, and kept there: it is the redrive policy's from now on.
        eventually(lambda: parked(sqs, queue) == 1)
    finally:
        dynamodb.delete_item(TableName=table, Key=pk)
        sqs.purge_queue(QueueUrl=queue)


def parked(sqs: Any, queue: str) -> int:
    """Messages on the retry queue, in flight or not."""
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    return sum(
        map(int, sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"].values())
    )


def test_receipts_whose_records_are_lost_come_back_with_dispatch_replay(
    platform: RunningPlatform, alpha: Api
) -> None:
    leads = post_leads(alpha)
    assert_everything_came_out(platform, leads)
    for lead in leads:
        platform.client("dynamodb").delete_item(
            TableName=platform.outputs.tables["records"], Key={"pk": {"S": f"alpha#{lead}"}}
        )
    replay = ("replay", "--since", "10m", "--tenant", "alpha", "--home", str(platform.home), "--json")

    assert json.loads(run(dispatch_command.app, *replay, "--dry-run"))["missing"] == LEADS
    assert json.loads(run(dispatch_command.app, *replay))["queued"] == LEADS

    assert_everything_came_out(platform, leads)
    assert json.loads(run(dispatch_command.app, *replay))["queued"] == 0


def test_what_the_stream_gave_up_comes_back_from_the_failure_bucket(
    platform: RunningPlatform, alpha: Api
) -> None:
    leads = post_leads(alpha, 3)
    assert_everything_came_out(platform, leads)
    dynamodb, s3 = platform.client("dynamodb"), platform.client("s3")
    for lead in leads:
        dynamodb.delete_item(TableName=platform.outputs.tables["records"], Key={"pk": {"S": f"alpha#{lead}"}})
    # As Lambda would have written it; the local one gives nothing up (docs/not-proved-locally.md).
    receipts = [
        item
        for item in dynamodb.scan(TableName=platform.outputs.tables["receipts"])["Items"]
        if item.get("outbox", {}).get("M", {}).get("recordId", {}).get("S") in leads
    ]
    assert len(receipts) == 3
    changes = [{"eventName": "INSERT", "dynamodb": {"NewImage": receipt}} for receipt in receipts]
    [bucket] = [one["Name"] for one in s3.list_buckets()["Buckets"] if "-failures-" in one["Name"]]
    name = f"aws/lambda/mapping/shard/{fresh_key('batch')}"
    s3.put_object(Bucket=bucket, Key=name, Body=json.dumps({"payload": {"Records": changes}}).encode())

    replay = ("replay", "--from-failures", "--home", str(platform.home), "--json")
    assert json.loads(run(dispatch_command.app, *replay, "--dry-run"))["tenants"] == {"alpha": 3}
    told = json.loads(run(dispatch_command.app, *replay, "--delete"))

    assert (told["queued"], told["deleted"]) == (3, 1)
    assert_everything_came_out(platform, leads)
    assert json.loads(run(dispatch_command.app, *replay))["objects"] == 0
