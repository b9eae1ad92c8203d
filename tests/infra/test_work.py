"""Queued work: queues with their dead letters, bounded workers, the event bus, the reconciler's schedule."""

import json

import pytest

from handlers.adapters import pending_index
from handlers.domain import work
from infra.components.tables import PENDING_ATTRIBUTES
from infra.naming import PENDING_INDEX, WORK_QUEUES, WORKERS
from infra.settings import SettingsError
from infra.timeouts import TIMEOUTS
from tests.infra.stages import document, run_stage, updated, with_tenants

QUEUE = "aws:sqs/queue:Queue"
MAPPING = "aws:lambda/eventSourceMapping:EventSourceMapping"
FUNCTION = "aws:lambda/function:Function"
RULE = "aws:cloudwatch/eventRule:EventRule"
TARGET = "aws:cloudwatch/eventTarget:EventTarget"
INVOKE_CONFIG = "aws:lambda/functionEventInvokeConfig:FunctionEventInvokeConfig"
PERMISSION = "aws:lambda/permission:Permission"

every_queue = pytest.mark.parametrize("queue", WORK_QUEUES)


def test_every_operation_with_work_has_its_queue() -> None:
    assert {each.queue for each in work.BY_OPERATION.values()} == set(WORKERS) == set(WORK_QUEUES)


@every_queue
def test_work_that_fails_again_and_again_ends_in_a_queue_that_takes_nothing_else(queue: str) -> None:
    run = updated("dev")
    waiting, dead = run.one(QUEUE, queue).inputs, run.one(QUEUE, f"{queue}-dlq").inputs
    redrive = json.loads(waiting["redrivePolicy"])
    assert redrive["deadLetterTargetArn"].endswith(f":onceward-dev_{queue}-dlq")
    # A message's age counts from its first queue on.
    assert dead["messageRetentionSeconds"] > waiting["messageRetentionSeconds"]
    allow = run.one("aws:sqs/redriveAllowPolicy:RedriveAllowPolicy", f"{queue}-dlq-sources")
    assert document(allow, "redriveAllowPolicy") == {
        "redrivePermission": "byQueue",
        "sourceQueueArns": [f"arn:aws:sqs:eu-west-1:123456789012:onceward-dev_{queue}"],
    }


@every_queue
def test_the_worker_knows_which_receive_is_the_last(queue: str) -> None:
    run = run_stage("dev", with_tenants([]), preview=False, workReceives=5)
    redrive = json.loads(run.one(QUEUE, queue).inputs["redrivePolicy"])
    variables = run.one(FUNCTION, f"{WORKERS[queue]}-function").inputs["environment"]["variables"]
    assert (redrive["maxReceiveCount"], variables["MAX_RECEIVES"]) == (5, "5")


@every_queue
def test_a_message_is_hidden_for_six_times_its_workers_timeout(queue: str) -> None:
    inputs = updated("dev").one(QUEUE, queue).inputs
    assert inputs["visibilityTimeoutSeconds"] >= 6 * TIMEOUTS[WORKERS[queue]]


@every_queue
def test_a_worker_takes_bounded_batches_that_may_fail_in_part_through_its_alias(queue: str) -> None:
    inputs = updated("dev").one(MAPPING, f"{queue}-queue").inputs
    assert inputs["eventSourceArn"].endswith(f":onceward-dev_{queue}")
    assert inputs["functionName"].endswith(f":function:onceward-dev_{WORKERS[queue]}:live")
    assert inputs["functionResponseTypes"] == ["ReportBatchItemFailures"]
    assert inputs["scalingConfig"] == {"maximumConcurrency": 10}


def test_a_stage_bounds_each_worker_below_what_is_reserved_for_it() -> None:
    limits = {"fulfil": 20, "deliver": 4}
    reserved = {"fulfil": 21}
    run = run_stage("dev", with_tenants([]), workerConcurrency=limits, reservedConcurrency=reserved)
    for queue, worker in WORKERS.items():
        most = run.one(MAPPING, f"{queue}-queue").inputs["scalingConfig"]["maximumConcurrency"]
        assert most == limits[worker]
    with pytest.raises(SettingsError, match=r"reservedConcurrency\.fulfil: must be above 20"):
        run_stage("dev", workerConcurrency=limits, reservedConcurrency={"fulfil": 20})


def test_the_index_brings_all_that_a_message_of_work_is_made_of() -> None:
    assert pending_index.INDEX == PENDING_INDEX
    assert {"operation", "tenantId", "recordId", "eventId", "correlationId"} <= set(PENDING_ATTRIBUTES)


def test_the_bus_has_one_rule_that_hands_every_event_of_ours_to_notify() -> None:
    run = updated("dev")
    (bus,) = run.of_type("aws:cloudwatch/eventBus:EventBus")
    assert bus.inputs["name"] == "onceward-dev_orders"
    assert bus.inputs["kmsKeyIdentifier"].endswith(":key/k1")
    # What cannot be encrypted or decrypted reaches no rule, and so not the queue of the rule's target.
    assert bus.inputs["deadLetterConfig"]["arn"].endswith(":onceward-dev_notify-dlq")
    (rule,) = [each for each in run.of_type(RULE) if "eventBusName" in each.inputs]
    assert rule.inputs["eventBusName"] == "onceward-dev_orders"
    # Nothing of a tenant: a rule a tenant would meet the quota of 300 a bus.
    assert json.loads(rule.inputs["eventPattern"]) == {"source": ["onceward.dev"]}
    target = run.one(TARGET, rule.name).inputs
    assert target["arn"].endswith(":function:onceward-dev_notify:live")
    assert target["eventBusName"] == "onceward-dev_orders"
    assert target["deadLetterConfig"]["arn"].endswith(":onceward-dev_notify-dlq")
    # EventBridge's most: a day, 185 tries.
    assert target["retryPolicy"] == {"maximumEventAgeInSeconds": 86_400, "maximumRetryAttempts": 185}


def test_what_notify_itself_gives_up_is_kept_too() -> None:
    config = updated("dev").one(INVOKE_CONFIG, "notify-calls").inputs
    assert (config["functionName"], config["qualifier"]) == ("onceward-dev_notify", "live")
    assert config["destinationConfig"]["onFailure"]["destination"].endswith(":onceward-dev_notify-dlq")


def test_only_the_bus_and_its_rule_may_put_failures_on_the_dead_letter_queue_of_notify() -> None:
    policy = document(updated("dev").one("aws:sqs/queuePolicy:QueuePolicy", "notify-dlq-policy"), "policy")
    (allow,) = [each for each in policy["Statement"] if each["Effect"] == "Allow"]
    assert allow["Principal"] == {"Service": "events.amazonaws.com"}
    rule = "arn:aws:events:eu-west-1:123456789012:rule/onceward-dev_orders/onceward-dev_orders-notify"
    bus = "arn:aws:events:eu-west-1:123456789012:event-bus/onceward-dev_orders"
    assert allow["Condition"] == {"ArnEquals": {"aws:SourceArn": [rule, bus]}}
    assert updated("dev").one(RULE, "orders-notify").inputs["name"] == rule.rsplit("/", 1)[1]


def test_the_reconciler_is_called_once_a_minute_and_never_twice_for_one() -> None:
    run = updated("dev")
    rule = run.one(RULE, "reconcile-schedule").inputs
    assert rule["scheduleExpression"] == "rate(1 minute)"
    target = run.one(TARGET, "reconcile-schedule").inputs
    assert target["arn"].endswith(":function:onceward-dev_reconcile:live")
    assert target["retryPolicy"] == {"maximumEventAgeInSeconds": 60, "maximumRetryAttempts": 0}
    assert run.one(INVOKE_CONFIG, "reconcile-calls").inputs["maximumRetryAttempts"] == 0
    assert TIMEOUTS["reconcile"] < 60


def test_eventbridge_may_call_its_two_functions_each_for_its_own_rule() -> None:
    found = {
        (each.inputs["function"], each.inputs["qualifier"], each.inputs["sourceArn"].split(":rule/")[1])
        for each in updated("dev").of_type(PERMISSION)
        if each.inputs["principal"] == "events.amazonaws.com"
    }
    assert found == {
        ("onceward-dev_notify", "live", "onceward-dev_orders/onceward-dev_orders-notify"),
        ("onceward-dev_reconcile", "live", "onceward-dev_reconcile"),
    }
