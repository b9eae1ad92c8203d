"""What feeds `dispatch`: the receipts stream and the retry queue, and where given-up batches go."""

import json
from typing import Final

import pulumi
import pulumi_aws as aws

from infra.alarms import DISPATCH_GIVEN_UP
from infra.components.failure_bucket import FailureBucket
from infra.components.function import Function
from infra.components.metric_alarm import make_alarm
from infra.settings import RETRY_CONCURRENCY
from infra.stage import Stage

STREAM_FILTER: Final = {
    "eventName": ["INSERT", "MODIFY"],
    # A filter compares leaves only, hence the type letter: the id's text exists.
    "dynamodb": {"NewImage": {"outboxId": {"S": [{"exists": True}]}}},
}
"""Receipts with something to dispatch. A removal (TTL, eviction) undoes nothing, so it is left out."""

# 50 records, three calls each (record, queue of work, topic), fit well into the timeout (infra.timeouts).
_STREAM_BATCH: Final = 50
# Events are not ordered (DESIGN section 8), so several batches of a shard may run at once; 10 is the most.
_PARALLEL_BATCHES: Final = 4
# Only an outage of the records table or the retry queue gets here (a record's own fault is parked), and that
# has to end by age: a number of tries is used up in minutes. This is the most that Lambda takes; a batch that
# kills the function is halved meanwhile.
_ATTEMPTS: Final = 10_000
# Streams forget after 24 h: a record goes to the bucket four hours before that.
_MAX_AGE_SECONDS: Final = 20 * 3600
# SQS's largest batch without a batching window.
_RETRY_BATCH: Final = 10


class DispatchFeed(pulumi.ComponentResource):
    """Both event source mappings, on the alias `live`, with partial batch failures."""

    def __init__(
        self,
        stage: Stage,
        dispatch: Function,
        *,
        key_arn: pulumi.Input[str],
        stream_arn: pulumi.Input[str],
        retry_queue_arn: pulumi.Input[str],
        alarm_topic_arn: pulumi.Input[str],
    ) -> None:
        super().__init__("onceward:index:DispatchFeed", "dispatch-feed")
        failures = FailureBucket(stage, key_arn, parent=self)
        mapping = self._stream(stage, dispatch, stream_arn, failures)
        self._retries(stage, dispatch, retry_queue_arn)
        make_alarm(
            "alarm-dispatch-given-up",
            stage.names.platform("dispatch-given-up"),
            DISPATCH_GIVEN_UP,
            alarm_topic_arn,
            stage.child(self),
            runbook=stage.settings.runbook_url,
            made_dimensions={"EventSourceMappingUUID": mapping.uuid},
        )
        self.register_outputs({"failureBucket": failures.name})

    def _retries(self, stage: Stage, dispatch: Function, queue_arn: pulumi.Input[str]) -> None:
        aws.lambda_.EventSourceMapping(
            "retry-queue",
            function_name=dispatch.alias.arn,
            event_source_arn=queue_arn,
            batch_size=_RETRY_BATCH,
            function_response_types=["ReportBatchItemFailures"],
            scaling_config=aws.lambda_.EventSourceMappingScalingConfigArgs(
                maximum_concurrency=RETRY_CONCURRENCY
            ),
            opts=stage.child(self),
        )

    def _stream(
        self,
        stage: Stage,
        dispatch: Function,
        stream_arn: pulumi.Input[str],
        failures: FailureBucket,
    ) -> aws.lambda_.EventSourceMapping:
        return aws.lambda_.EventSourceMapping(
            "receipts-stream",
            function_name=dispatch.alias.arn,
            event_source_arn=stream_arn,
            starting_position="TRIM_HORIZON",
            filter_criteria=aws.lambda_.EventSourceMappingFilterCriteriaArgs(
                filters=[
                    aws.lambda_.EventSourceMappingFilterCriteriaFilterArgs(pattern=json.dumps(STREAM_FILTER))
                ]
            ),
            batch_size=_STREAM_BATCH,
            parallelization_factor=_PARALLEL_BATCHES,
            function_response_types=["ReportBatchItemFailures"],
            bisect_batch_on_function_error=True,
            maximum_retry_attempts=_ATTEMPTS,
            maximum_record_age_in_seconds=_MAX_AGE_SECONDS,
            # A bucket, not a queue: S3 gets the records themselves, a queue only where they were.
            destination_config=aws.lambda_.EventSourceMappingDestinationConfigArgs(
                on_failure=aws.lambda_.EventSourceMappingDestinationConfigOnFailureArgs(
                    destination_arn=failures.arn
                )
            ),
            metrics_config=aws.lambda_.EventSourceMappingMetricsConfigArgs(metrics=["EventCount"]),
            opts=stage.child(self, depends_on=[failures]),
        )
