"""The replay on the scheduler's ports does what it does on DynamoDB (moto)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws

from handlers.adapters.receipt_item import to_item
from handlers.adapters.records import DynamoDbRecords
from handlers.domain.outbox import delivery_of
from handlers.domain.receipt import Outbox
from ops.replay import Replay, Window
from proof.asking_client import AskingReceiptsClient
from proof.programs import Call
from proof.records import Records
from proof.stream import Streamed, StreamedReceipts
from tests.builders import in_progress, receipt
from tests.contract.conftest import make_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handlers.domain.receipt import Receipt

RECORDED = receipt(key="a", outbox=Outbox("E1", "lead.created", "R1", '{"id":"R1"}'))
MISSING = receipt(key="b", outbox=Outbox("E2", "lead.created", "R2", '{"id":"R2"}'))
RECEIPTS = (RECORDED, MISSING, in_progress(key="c"))


class Parked:
    """A retry queue that only remembers."""

    def __init__(self) -> None:
        self.images: list[tuple[Mapping[str, Any], bool]] = []

    def park(self, image: Mapping[str, Any], error: str, at: int, *, republish: bool = False) -> None:
        self.images.append((image, republish))


def _on_ports() -> AskingReceiptsClient:
    items = tuple(((one.tenant_id, one.key), one) for one in RECEIPTS)
    states: dict[str, Any] = {"receipts": Streamed(items), "records": Records().initial()}
    ports: dict[str, Any] = {"receipts": StreamedReceipts(), "records": Records()}

    def ask(port: str, name: str, *arguments: Any) -> Any:
        applied = ports[port].apply(states[port], Call(port, name, arguments), 0)
        states[port] = applied.state
        return applied.result

    ask("records", "write", delivery_of(RECORDED))
    return AskingReceiptsClient(ask)


def _in_tables(client: Any) -> tuple[str, str]:
    receipts, records = make_table(client, "receipts"), make_table(client, "records")
    for one in RECEIPTS:
        client.put_item(TableName=receipts, Item=to_item(one))
    DynamoDbRecords(records, client).write(delivery_of(RECORDED))
    return receipts, records


def _replayed(client: Any, tables: tuple[str, str], *, republish: bool) -> Any:
    queue = Parked()
    replay = Replay(client, *tables, queue)  # type: ignore[arg-type]
    found = replay.look(Window(), lambda _: None, republish=republish)
    queued = [replay.queue(due, 0) for due in found.due]
    return (
        found.receipts,
        found.missing,
        sorted(map(repr, found.due)),
        queued,
        sorted(map(repr, queue.images)),
    )


@pytest.mark.parametrize("republish", [False, True])
def test_a_replay_finds_and_queues_the_same(republish: bool) -> None:
    on_ports = _replayed(_on_ports(), ("receipts", "records"), republish=republish)
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        on_dynamodb = _replayed(client, _in_tables(client), republish=republish)
    assert on_ports == on_dynamodb
    assert on_ports[:2] == (2, 1)
    assert len(on_ports[4]) == (2 if republish else 1)


def test_what_is_gone_by_then_is_not_queued() -> None:
    replay = Replay(_on_ports(), "receipts", "records", Parked())  # type: ignore[arg-type]
    gone: Receipt = receipt(key="gone")
    [due] = replay.look(Window(), lambda _: None).due
    assert replay.queue(due, 0)
    assert not replay.queue(type(due)(to_item(gone)["pk"]["S"], "acme", republish=False), 0)
