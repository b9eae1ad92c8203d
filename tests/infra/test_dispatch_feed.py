"""How `dispatch` is fed, and that what it cannot handle is kept."""

import json

import pytest

from handlers.adapters.parking import pause_seconds
from infra.components.dispatch_feed import STREAM_FILTER
from infra.timeouts import TIMEOUTS
from tests.infra.engine import Registered
from tests.infra.stages import QUEUES, document, previewed, updated

MAPPING = "aws:lambda/eventSourceMapping:EventSourceMapping"
QUEUE = "aws:sqs/queue:Queue"
DAY_SECONDS = 86_400


def mapping(name: str) -> Registered:
    return updated("dev").one(MAPPING, name)


@pytest.mark.parametrize("name", ["receipts-stream", "retry-queue"])
def test_a_batch_may_fail_in_part(name: str) -> None:
    assert mapping(name).inputs["functionResponseTypes"] == ["ReportBatchItemFailures"]


@pytest.mark.parametrize("name", ["receipts-stream", "retry-queue"])
def test_events_go_to_the_alias_so_that_a_rollback_holds_for_them(name: str) -> None:
    assert mapping(name).inputs["functionName"].endswith(":function:onceward-dev_dispatch:live")


def test_the_stream_is_read_from_its_start_with_halving_and_bounded_retries() -> None:
    inputs = mapping("receipts-stream").inputs
    assert inputs["eventSourceArn"].startswith(
        "arn:aws:dynamodb:eu-west-1:123456789012:table/onceward-dev_receipts/stream/"
    )
    assert inputs["startingPosition"] == "TRIM_HORIZON"
    assert inputs["bisectBatchOnFunctionError"] is True
    # An outage of hours ends by age, not because the tries of a few minutes are used up.
    assert inputs["maximumRetryAttempts"] == 10_000  # Lambda's most
    # The stream itself forgets after a day; the bucket has to get the record before.
    assert DAY_SECONDS / 2 < inputs["maximumRecordAgeInSeconds"] < DAY_SECONDS
    assert 1 <= inputs["parallelizationFactor"] <= 10


def test_only_receipts_with_something_to_dispatch_wake_the_function() -> None:
    (pattern,) = mapping("receipts-stream").inputs["filterCriteria"]["filters"]
    assert json.loads(pattern["pattern"]) == STREAM_FILTER
    assert STREAM_FILTER["eventName"] == ["INSERT", "MODIFY"]
    assert STREAM_FILTER["dynamodb"] == {"NewImage": {"outboxId": {"S": [{"exists": True}]}}}


def test_what_the_stream_gives_up_goes_to_a_bucket_and_rings() -> None:
    run = updated("dev")
    bucket = run.one("aws:s3/bucket:Bucket", "failures")
    target = mapping("receipts-stream").inputs["destinationConfig"]["onFailure"]["destinationArn"]
    assert target == f"arn:aws:s3:::{bucket.inputs['bucket']}"
    assert bucket.inputs["bucket"] == "onceward-dev-failures-123456789012-eu-west-1"
    alarm = run.one("aws:cloudwatch/metricAlarm:MetricAlarm", "alarm-dispatch-given-up")
    assert alarm.inputs["metricName"] == "OnFailureDestinationDeliveredEventCount"
    assert alarm.inputs["dimensions"] == {"EventSourceMappingUUID": "mapping-uuid"}
    # Lambda emits that metric only for a mapping that asks for it.
    assert mapping("receipts-stream").inputs["metricsConfig"] == {"metrics": ["EventCount"]}


def test_the_failure_bucket_is_encrypted_private_and_emptied_in_time() -> None:
    run = updated("prod")
    kind = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
    (rule,) = run.one(kind, "failures-encryption").inputs["rules"]
    assert rule["applyServerSideEncryptionByDefault"] == {
        "sseAlgorithm": "aws:kms",
        "kmsMasterKeyId": "arn:aws:kms:eu-west-1:123456789012:key/k1",
    }
    block = run.one("aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock", "failures-private").inputs
    assert [block[name] for name in block if name != "bucket"] == [True] * 4
    (life,) = run.one(
        "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration", "failures-lifecycle"
    ).inputs["rules"]
    assert life["status"] == "Enabled"
    assert life["expiration"]["days"] > 8  # a receipt, and so what can be replayed, lives that long at least


def test_parked_receipts_end_in_a_dead_letter_queue_that_takes_nothing_else() -> None:
    run = updated("dev")
    retry, dead = run.one(QUEUE, "dispatch-retry").inputs, run.one(QUEUE, "dispatch-dlq").inputs
    redrive = json.loads(retry["redrivePolicy"])
    assert redrive["deadLetterTargetArn"].endswith(":onceward-dev_dispatch-dlq")
    assert redrive["maxReceiveCount"] > 1
    # A message's age counts from its first queue on.
    assert dead["messageRetentionSeconds"] > retry["messageRetentionSeconds"]
    allow = document(
        run.one("aws:sqs/redriveAllowPolicy:RedriveAllowPolicy", "dispatch-dlq-sources"), "redriveAllowPolicy"
    )
    assert allow == {
        "redrivePermission": "byQueue",
        "sourceQueueArns": ["arn:aws:sqs:eu-west-1:123456789012:onceward-dev_dispatch-retry"],
    }


def test_a_parked_receipt_is_tried_for_a_day_before_it_is_given_up() -> None:
    retry = updated("dev").one(QUEUE, "dispatch-retry").inputs
    tries = json.loads(retry["redrivePolicy"])["maxReceiveCount"]
    between_first_and_last = sum(pause_seconds(receives) for receives in range(1, tries))
    assert DAY_SECONDS <= between_first_and_last <= 2 * DAY_SECONDS
    # Retention counts from the first send: the queue must not forget what is still to be tried.
    assert between_first_and_last < retry["messageRetentionSeconds"]


def test_a_parked_receipt_is_hidden_for_six_times_the_functions_timeout() -> None:
    visibility = previewed("dev").one(QUEUE, "dispatch-retry").inputs["visibilityTimeoutSeconds"]
    assert visibility >= 6 * TIMEOUTS["dispatch"]


@pytest.mark.parametrize("name", QUEUES)
def test_every_queue_is_encrypted_with_the_stages_key(name: str) -> None:
    assert updated("dev").one(QUEUE, name).inputs["kmsMasterKeyId"].endswith(":key/k1")
