"""The restore drill of docs/runbook.md, as far as the local AWS goes: both tables as they were at a moment T.

The local AWS keeps no backups, so that a restore is imitated by its outcome: what was written after T is gone
from receipts and records, what was changed is as it was, and nothing of it comes through the stream (a
restored table has a new, empty one). What is outside stays: charges, entities, events that were heard.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from ops.commands import dispatch as dispatch_command
from ops.commands import slots as slots_command
from tests.e2e.api import eventually, fresh_key
from tests.e2e.operations import APPOINTMENTS, LEADS, ORDERS, PAYMENTS, Operation
from tests.e2e.stored import hear
from tests.e2e.test_from_the_receipt_outward import run, stopped
from tests.e2e.test_work import reconcile, status, without_worker
from tests.e2e.webhooks import event

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

    from tests.e2e.api import Api
    from tests.e2e.stand_in import StandIn
    from tests.e2e.webhooks import Sender
    from tests.platform_fixture import RunningPlatform

pytestmark = pytest.mark.platform

TABLES = ("receipts", "records")
# Gale's appointments have a window that is longer than the drill.
OURS = ("alpha#", "gale#")


@dataclass(frozen=True)
class Sent:
    """One request that was answered: what, under which key, and the answer."""

    operation: Operation
    body: dict[str, Any]
    key: str
    answer: httpx.Response

    @property
    def id(self) -> str:
        """The record's."""
        found: str = self.answer.json()["id"]
        return found

    @property
    def mark(self) -> str:
        """What the body alone has, so that it is found outside."""
        marks = (self.body.get(name) for name in ("reference", "customer", "mark"))
        return next(str(mark) for mark in marks if mark is not None)

    def again(self, api: Api) -> httpx.Response:
        """The same request under the same key."""
        return self.operation.send(api, self.body, self.key)


@dataclass(frozen=True)
class Drill:
    """What was sent before and after T, and then restored to T.

    Attributes:
        since: some time before T, as the CLI takes it.
        before: settled at T. under_way: accepted at T and not dispatched. pending: an order whose work was
            queued at T and done later. after: settled after T.
        appointment, webhook: accepted after T, too; a slot, and what a sender sent.
        heard: record -> event ids that its topic had heard by the time of the restore.
    """

    since: str
    before: dict[str, Sent]
    under_way: Sent
    pending: Sent
    after: dict[str, Sent]
    appointment: Sent
    webhook: dict[str, Any]
    heard: dict[str, set[str]]


def send(api: Api, operation: Operation) -> Sent:
    body, key = operation.body(), fresh_key("drill")
    answer = operation.send(api, body, key)
    assert answer.status_code == operation.status, answer.text
    return Sent(operation, body, key, answer)


def send_all(api: Api) -> dict[str, Sent]:
    return {each.name: send(api, each) for each in (LEADS, PAYMENTS, ORDERS)}


def settled(api: Api, sent: dict[str, Sent]) -> None:
    """Wait until what was accepted has come out."""
    for each in sent.values():
        eventually(partial(is_there, api, each.answer.headers["Location"]))
    place = sent["orders"].answer.headers["Location"]
    eventually(lambda: status(api, place) == "COMPLETED", seconds=60)


def is_there(api: Api, place: str) -> bool:
    return api.get(place).status_code == 200


def items(platform: RunningPlatform, table: str) -> dict[str, Any]:
    """A table's items of the tenants here, by key."""
    pages = (
        platform.client("dynamodb")
        .get_paginator("scan")
        .paginate(TableName=platform.outputs.tables[table], ConsistentRead=True)
    )
    return {
        item["pk"]["S"]: item for page in pages for item in page["Items"] if item["pk"]["S"].startswith(OURS)
    }


def restore(platform: RunningPlatform, table: str, then: dict[str, Any]) -> None:
    """Make a table's items of the tenants here those that it had then."""
    dynamodb, name = platform.client("dynamodb"), platform.outputs.tables[table]
    for key, item in items(platform, table).items():
        if key not in then:
            dynamodb.delete_item(TableName=name, Key={"pk": {"S": key}})
        elif item != then[key]:
            dynamodb.put_item(TableName=name, Item=then[key])
    assert items(platform, table) == then


@pytest.fixture(scope="module")
def gale(caller: Callable[..., Api]) -> Api:
    return caller("gale")


@pytest.fixture(scope="module")
def events(sender: Callable[..., Sender]) -> Sender:
    return sender("alpha", "events")


@pytest.fixture(scope="module")
def drill(platform: RunningPlatform, alpha: Api, gale: Api, events: Sender, stand_in: StandIn) -> Drill:
    """Requests before T and after, and the tables restored to T."""
    since = datetime.now(UTC).isoformat()
    before = send_all(alpha)
    settled(alpha, before)
    with ExitStack() as late:
        late.enter_context(without_worker(platform))
        pending = send(alpha, ORDERS)
        eventually(lambda: status(alpha, pending.answer.headers["Location"]) == "ACCEPTED")
        late.enter_context(stopped(platform))
        under_way = send(alpha, LEADS)
        backup = {table: items(platform, table) for table in TABLES}
    assert f"alpha#{under_way.id}" not in backup["records"]
    after = send_all(alpha)
    settled(alpha, after)
    appointment, webhook = send(gale, APPOINTMENTS), event(mark=fresh_key("event"))
    eventually(partial(is_there, gale, appointment.answer.headers["Location"]))
    assert events.send(webhook).status_code == 202
    eventually(lambda: stand_in.upserts(webhook["mark"]))
    settled(alpha, {"leads": under_way, "orders": pending})
    everything = [*before.values(), under_way, pending, *after.values()]
    heard = hear(platform, "alpha", {each.id for each in everything})
    for table in TABLES:
        restore(platform, table, backup[table])
    return Drill(since, before, under_way, pending, after, appointment, webhook, heard)


def test_keys_accepted_before_the_restore_point_are_still_answered_as_the_first_time(
    alpha: Api, drill: Drill
) -> None:
    for each in (*drill.before.values(), drill.under_way, drill.pending):
        again = each.again(alpha)
        assert (again.status_code, again.content) == (each.answer.status_code, each.answer.content)
        assert again.headers["Idempotent-Replayed"] == "true"


def test_keys_accepted_after_it_are_forgotten_and_their_retries_take_effect_again(
    alpha: Api, stand_in: StandIn, drill: Drill
) -> None:
    """The price of a restore, said in the runbook: who retried by then pays twice."""
    for each in drill.after.values():
        assert alpha.get(each.answer.headers["Location"]).status_code == 404
        again = each.again(alpha)
        assert again.status_code == each.answer.status_code
        assert "Idempotent-Replayed" not in again.headers
        assert again.json()["id"] != each.id
        eventually(partial(is_there, alpha, again.headers["Location"]))
    charges = stand_in.charges(drill.after["payments"].mark)
    assert len({each["idempotencyKey"] for each in charges}) == len(charges) == 2
    order = drill.after["orders"].mark
    assert eventually(lambda: len(stand_in.upserts(order)) == 2, seconds=60)
    # And only theirs: what is older than the restore point was not done again.
    assert len(stand_in.charges(drill.before["payments"].mark)) == 1
    assert len(stand_in.upserts(drill.before["orders"].mark)) == 1


def test_a_slot_that_was_booked_after_it_is_refused_until_an_operator_frees_it(
    platform: RunningPlatform, gale: Api, drill: Drill
) -> None:
    booked = drill.appointment
    assert booked.again(gale).status_code == 409
    slot = ("gale", booked.body["doctorId"], booked.body["startsAt"])
    rest = ("--home", str(platform.home), "--json")
    shown = json.loads(run(slots_command.app, "show", *slot, *rest))
    assert (shown["recordId"], shown["recordExists"]) == (booked.id, False)
    # A moment ago, by the clock: the drill cannot wait until nobody can be at it any more.
    assert json.loads(run(slots_command.app, "free", *slot, *rest, "--force", "--yes"))["outcome"] == "freed"


def test_a_webhook_that_is_sent_again_is_accepted_again_to_the_same_effect(
    events: Sender, stand_in: StandIn, drill: Drill
) -> None:
    mark = drill.webhook["mark"]
    [entity] = stand_in.upserts(mark)
    again = events.send(drill.webhook)
    assert (again.status_code, again.json()["duplicate"]) == (202, False)
    assert eventually(lambda: stand_in.upserts(mark)[0]["writes"] == entity["writes"] + 1, seconds=60)
    assert len(stand_in.upserts(mark)) == 1


def test_what_was_under_way_comes_out_by_dispatch_replay_under_the_same_event_id(
    platform: RunningPlatform, alpha: Api, drill: Drill
) -> None:
    place = drill.under_way.answer.headers["Location"]
    replay = ("replay", "--since", drill.since, "--tenant", "alpha", "--home", str(platform.home), "--json")
    assert json.loads(run(dispatch_command.app, *replay, "--dry-run"))["missing"] == 1
    assert alpha.get(place).status_code == 404
    assert json.loads(run(dispatch_command.app, *replay))["queued"] == 1
    eventually(lambda: alpha.get(place).status_code == 200, seconds=60)
    # Subscribers hear of it a second time, and know it by its id.
    assert hear(platform, "alpha", {drill.under_way.id}) == {
        drill.under_way.id: drill.heard[drill.under_way.id]
    }
    assert json.loads(run(dispatch_command.app, *replay, "--dry-run"))["missing"] == 0


def test_work_that_was_done_after_the_restore_point_is_done_again_to_the_same_effect(
    platform: RunningPlatform, alpha: Api, stand_in: StandIn, drill: Drill
) -> None:
    pending, place = drill.pending, drill.pending.answer.headers["Location"]
    assert status(alpha, place) == "ACCEPTED"
    assert len(stand_in.upserts(pending.mark)) == 1
    # An hour passes, as far as the record can tell, and the reconciler finds it.
    key = {"pk": {"S": f"alpha#{pending.id}"}}
    dynamodb, table = platform.client("dynamodb"), platform.outputs.tables["records"]
    since = int(dynamodb.get_item(TableName=table, Key=key)["Item"]["pendingSince"]["N"])
    dynamodb.update_item(
        TableName=table,
        Key=key,
        UpdateExpression="SET pendingSince = :then, updatedAt = :then",
        ExpressionAttributeValues={":then": {"N": str(since - 3_600_000)}},
    )
    reconcile(platform)
    eventually(lambda: status(alpha, place) == "COMPLETED", seconds=60)
    assert len(stand_in.upserts(pending.mark)) == 1
    assert hear(platform, "alpha", {pending.id}) == {pending.id: drill.heard[pending.id]}
