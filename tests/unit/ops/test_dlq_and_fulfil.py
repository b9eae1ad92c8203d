"""A redriven order is fulfilled: neither its own failed claim nor a second copy of its message stops it."""

from __future__ import annotations

from typing import Any

from handlers.adapters.records import DynamoDbRecords
from handlers.adapters.work_store import DynamoDbWork
from handlers.domain.outbound import Answer
from handlers.domain.work_message import WorkMessage
from tests.stream_events import failed_ids, queue_batch
from tests.unit.handlers.work_bench import MAX_RECEIVES, WorkBench, messages, order, tenant_config
from tests.unit.ops.dlq_stage import RECORDS_TABLE, DlqStage

ERP = {"url": "https://erp.acme.example/orders/{id}", "method": "PUT"}


def test_a_poison_order_that_was_given_up_is_fulfilled_after_its_redrive(dlqs: DlqStage) -> None:
    bench = WorkBench(configs={"acme": tenant_config(orders=ERP)})
    work, poison = DynamoDbWork(RECORDS_TABLE, dlqs.dynamodb), order(1)
    DynamoDbRecords(RECORDS_TABLE, dlqs.dynamodb).write(poison)
    bench.answer = lambda *_: Answer(503, {}, b"")
    given_up = bench.fulfil(messages(poison, receives=MAX_RECEIVES), store=work)
    assert failed_ids(given_up) == ["message-0"]
    assert status(dlqs, poison.record_id) == "FAILED"
    dlqs.put("orders-dlq", WorkMessage.of(poison).body(), correlationId=poison.correlation_id)

    bench.answer = lambda *_: Answer(200, {}, b"")
    assert dlqs.answer("redrive", "orders-dlq", "--tenant", "acme", "--yes")["sent"] == 1

    [message] = dlqs.messages("orders")
    # Sent twice, as by a redrive that was killed before it could delete: the second is acknowledged.
    again = queue_batch([message["Body"], message["Body"]])
    assert bench.fulfil(again, store=work) == {"batchItemFailures": []}
    assert status(dlqs, poison.record_id) == "COMPLETED"
    assert [event["tenantId"] for _, event in bench.events] == ["acme"]
    assert [line["outcome"] for line in bench.log_lines()] == ["given_up", "done", "done_before"]


def status(dlqs: DlqStage, record_id: str) -> Any:
    item: Any = dlqs.dynamodb.get_item(TableName=RECORDS_TABLE, Key={"pk": {"S": f"acme#{record_id}"}})
    return item["Item"]["status"]["S"]
