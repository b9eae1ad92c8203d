"""SQS queues and their policies."""

from typing import ClassVar

from ops.local.clients import Clients
from ops.local.diff import Identity
from ops.local.resources.base import Inputs, Made, Provider, json_text, physical_name
from ops.local.state import Entry

_ATTRIBUTES = {
    "delaySeconds": ("DelaySeconds", "0"),
    "kmsDataKeyReusePeriodSeconds": ("KmsDataKeyReusePeriodSeconds", "300"),
    "kmsMasterKeyId": ("KmsMasterKeyId", ""),
    "maxMessageSize": ("MaximumMessageSize", "262144"),
    "messageRetentionSeconds": ("MessageRetentionPeriod", "345600"),
    "policy": ("Policy", ""),
    "receiveWaitTimeSeconds": ("ReceiveMessageWaitTimeSeconds", "0"),
    "redriveAllowPolicy": ("RedriveAllowPolicy", ""),
    "redrivePolicy": ("RedrivePolicy", ""),
    "sqsManagedSseEnabled": ("SqsManagedSseEnabled", "true"),
    "visibilityTimeoutSeconds": ("VisibilityTimeout", "30"),
}
"""Properties to SQS's names of them and to what SQS takes where one is absent (SetQueueAttributes)."""


class Queue(Provider):
    """aws.sqs.Queue (standard, no FIFO)."""

    kind: ClassVar = "aws:sqs/queue:Queue"
    identity: ClassVar = Identity(names=("name",))
    applied: ClassVar = frozenset({"name", *_ATTRIBUTES})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateQueue."""
        queue = physical_name(inputs, name)
        url = aws.sqs.create_queue(QueueName=queue, Attributes=_attributes(inputs))["QueueUrl"]  # type: ignore[arg-type]
        return Made(url, {"name": queue, "url": url, "arn": aws.arn("sqs", queue)})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """SetQueueAttributes; one that is gone is set to SQS's own default."""
        before, after = _attributes(old.inputs), _attributes(inputs)
        defaults = dict(_ATTRIBUTES.values())
        changed = {
            n: after.get(n, defaults[n])
            for n in before.keys() | after.keys()
            if before.get(n) != after.get(n)
        }
        aws.sqs.set_queue_attributes(QueueUrl=old.id, Attributes=changed)  # type: ignore[arg-type]
        return Made(old.id, old.outputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteQueue."""
        try:
            aws.sqs.delete_queue(QueueUrl=old.id)
        except aws.sqs.exceptions.QueueDoesNotExist:
            return


def _attributes(inputs: Inputs) -> dict[str, str]:
    return {name: json_text(inputs[key]) for key, (name, _) in _ATTRIBUTES.items() if key in inputs}


class _QueueAttribute(Provider):
    """A single attribute of a queue that is a resource of its own in pulumi-aws."""

    identity: ClassVar = Identity(names=("queueUrl",))
    property: ClassVar[str]

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """SetQueueAttributes."""
        attributes = {_ATTRIBUTES[self.property][0]: json_text(inputs[self.property])}
        aws.sqs.set_queue_attributes(QueueUrl=inputs["queueUrl"], Attributes=attributes)  # type: ignore[arg-type]
        return Made(inputs["queueUrl"], {})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """As create: a queue has one of it."""
        return self.create(aws, old.id, inputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """SetQueueAttributes to nothing."""
        attributes = {_ATTRIBUTES[self.property][0]: ""}
        try:
            aws.sqs.set_queue_attributes(QueueUrl=old.id, Attributes=attributes)  # type: ignore[arg-type]
        except aws.sqs.exceptions.QueueDoesNotExist:
            return


class QueuePolicy(_QueueAttribute):
    """aws.sqs.QueuePolicy."""

    kind: ClassVar = "aws:sqs/queuePolicy:QueuePolicy"
    property: ClassVar = "policy"
    applied: ClassVar = frozenset({"queueUrl", "policy"})


class RedrivePolicy(_QueueAttribute):
    """aws.sqs.RedrivePolicy."""

    kind: ClassVar = "aws:sqs/redrivePolicy:RedrivePolicy"
    property: ClassVar = "redrivePolicy"
    applied: ClassVar = frozenset({"queueUrl", "redrivePolicy"})


class RedriveAllowPolicy(_QueueAttribute):
    """aws.sqs.RedriveAllowPolicy."""

    kind: ClassVar = "aws:sqs/redriveAllowPolicy:RedriveAllowPolicy"
    property: ClassVar = "redriveAllowPolicy"
    applied: ClassVar = frozenset({"queueUrl", "redriveAllowPolicy"})


PROVIDERS = (Queue, QueuePolicy, RedrivePolicy, RedriveAllowPolicy)
