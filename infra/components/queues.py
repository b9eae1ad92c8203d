"""The platform's queues: parked dispatches, queued work, what was given up, deliveries that failed."""

import json
from typing import Final

import pulumi
import pulumi_aws as aws

from infra import resource_policies
from infra.naming import NOTIFY_RULE, WORKERS
from infra.policies import Document
from infra.settings import FunctionName
from infra.stage import Stage
from infra.timeouts import TIMEOUTS

# SQS's longest: a message in a dead-letter queue waits for a person. It counts from the first send, so it
# has to be longer than the retry queue's own.
_DEAD_RETENTION_SECONDS: Final = 14 * 86_400
_RETRY_RETENTION_SECONDS: Final = 4 * 86_400
# Lambda's documentation of SQS event sources: at least six times the function's timeout.
_VISIBILITY_TIMEOUTS: Final = 6
# `dispatch` lets a message wait a minute after its first try, twice as long after each, two hours at most:
# twenty tries span 26 hours, so that what an outage of SNS or a lost right has parked outlasts it. After that
# a person has to look.
_MAX_RECEIVES: Final = 20
# SQS's most (API reference, SetQueueAttributes). A parked image holds a document of up to 238 KiB as JSON
# inside JSON, whose escapes can double it; the provider's default, 256 KiB, would refuse it, and a record
# that cannot be parked holds up its shard. The dead-letter queue must take what the retry queue took.
_MAX_MESSAGE_BYTES: Final = 1_048_576


class Queues(pulumi.ComponentResource):
    """`dispatch-retry`, `orders` and `webhooks`, each with its `-dlq` behind it; `delivery-dlq` behind the
    tenants' subscriptions; `notify-dlq` for what the event bus could not hand on."""

    def __init__(self, stage: Stage, key_arn: pulumi.Input[str]) -> None:
        super().__init__("onceward:index:Queues", "queues")
        self._stage = stage
        self._key_arn = key_arn
        self.dispatch_retry = self._with_dead_letters("dispatch-retry", "dispatch", _MAX_RECEIVES)
        self.work = {
            name: self._with_dead_letters(name, worker, stage.settings.work_receives)
            for name, worker in WORKERS.items()
        }
        self.delivery_dlq = self._delivery()
        self.notify_dlq = self._notify()
        self.register_outputs({"retryUrl": self.dispatch_retry.url})

    def _with_dead_letters(self, name: str, consumer: FunctionName, receives: int) -> aws.sqs.Queue:
        """A queue that `consumer` takes from, and the dead-letter queue behind it."""
        dead_name = f"{name.removesuffix('-retry')}-dlq"
        dead = self._queue(dead_name, _DEAD_RETENTION_SECONDS)
        queue = self._queue(
            name,
            _RETRY_RETENTION_SECONDS,
            visibility_timeout_seconds=_VISIBILITY_TIMEOUTS * TIMEOUTS[consumer],
            redrive_policy=dead.arn.apply(
                lambda arn: json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": receives})
            ),
        )
        aws.sqs.RedriveAllowPolicy(
            f"{dead_name}-sources",
            queue_url=dead.url,
            redrive_allow_policy=json.dumps(
                {"redrivePermission": "byQueue", "sourceQueueArns": [self._stage.arns.queue(name)]}
            ),
            opts=self._stage.child(self),
        )
        if self._stage.settings.require_tls:
            for each, made in ((dead_name, dead), (name, queue)):
                self._policy(each, made, resource_policies.tls_only_queue(self._stage.arns.queue(each)))
        return queue

    def _notify(self) -> aws.sqs.Queue:
        """What neither the bus, nor the rule's target, nor `notify` itself could handle."""
        queue = self._queue("notify-dlq", _DEAD_RETENTION_SECONDS)
        arns = self._stage.arns
        policy = resource_policies.bus_to_queue(
            arns.queue("notify-dlq"),
            [arns.rule(NOTIFY_RULE, self._stage.names.platform("orders")), arns.bus("orders")],
            require_tls=self._stage.settings.require_tls,
        )
        self._policy("notify-dlq", queue, policy)
        return queue

    def _delivery(self) -> aws.sqs.Queue:
        """The dead-letter queue of every tenant subscription."""
        queue = self._queue("delivery-dlq", _DEAD_RETENTION_SECONDS)
        policy = resource_policies.topic_to_queue(
            self._stage.arns.queue("delivery-dlq"),
            f"{self._stage.arns.tenant_topic_prefix}*",
            require_tls=self._stage.settings.require_tls,
        )
        self._policy("delivery-dlq", queue, policy)
        return queue

    def _policy(self, name: str, queue: aws.sqs.Queue, policy: Document) -> None:
        aws.sqs.QueuePolicy(
            f"{name}-policy",
            queue_url=queue.url,
            policy=json.dumps(policy),
            opts=self._stage.child(self),
        )

    def _queue(
        self,
        name: str,
        retention_seconds: int,
        *,
        visibility_timeout_seconds: int | None = None,
        redrive_policy: pulumi.Input[str] | None = None,
    ) -> aws.sqs.Queue:
        return aws.sqs.Queue(
            name,
            name=self._stage.names.platform(name),
            kms_master_key_id=self._key_arn,
            max_message_size=_MAX_MESSAGE_BYTES,
            message_retention_seconds=retention_seconds,
            visibility_timeout_seconds=visibility_timeout_seconds,
            redrive_policy=redrive_policy,
            opts=self._stage.keeper(self),
        )
