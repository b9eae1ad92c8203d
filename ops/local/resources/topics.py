"""SNS topics, their policies and subscriptions."""

import json
from typing import ClassVar

from ops.local.clients import Clients
from ops.local.diff import Identity
from ops.local.resources.base import Inputs, Made, Provider, json_text, physical_name
from ops.local.state import Entry

_TOPIC_ATTRIBUTES = {
    "displayName": "DisplayName",
    "kmsMasterKeyId": "KmsMasterKeyId",
    "policy": "Policy",
    "deliveryPolicy": "DeliveryPolicy",
    "signatureVersion": "SignatureVersion",
    "tracingConfig": "TracingConfig",
    "sqsSuccessFeedbackRoleArn": "SQSSuccessFeedbackRoleArn",
    "sqsFailureFeedbackRoleArn": "SQSFailureFeedbackRoleArn",
    "httpFailureFeedbackRoleArn": "HTTPFailureFeedbackRoleArn",
    "httpSuccessFeedbackRoleArn": "HTTPSuccessFeedbackRoleArn",
}
"""Properties to SNS's names of them (SetTopicAttributes)."""


class Topic(Provider):
    """aws.sns.Topic (standard, no FIFO)."""

    kind: ClassVar = "aws:sns/topic:Topic"
    identity: ClassVar = Identity(names=("name",))
    applied: ClassVar = frozenset({"name", *_TOPIC_ATTRIBUTES})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateTopic."""
        topic = physical_name(inputs, name)
        arn = aws.sns.create_topic(Name=topic, Attributes=_attributes(inputs, _TOPIC_ATTRIBUTES))["TopicArn"]
        return Made(arn, {"name": topic, "arn": arn, "owner": aws.account})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """SetTopicAttributes for those that changed; one that is gone is set to nothing."""
        before, after = _attributes(old.inputs, _TOPIC_ATTRIBUTES), _attributes(inputs, _TOPIC_ATTRIBUTES)
        for name in sorted(before.keys() | after.keys()):
            if before.get(name) != after.get(name):
                aws.sns.set_topic_attributes(
                    TopicArn=old.id, AttributeName=name, AttributeValue=after.get(name, "")
                )
        return Made(old.id, old.outputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteTopic, which succeeds for one that is not there."""
        aws.sns.delete_topic(TopicArn=old.id)


class TopicPolicy(Provider):
    """aws.sns.TopicPolicy."""

    kind: ClassVar = "aws:sns/topicPolicy:TopicPolicy"
    identity: ClassVar = Identity(names=("arn",))
    applied: ClassVar = frozenset({"arn", "policy"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """SetTopicAttributes."""
        policy = json_text(inputs["policy"])
        aws.sns.set_topic_attributes(TopicArn=inputs["arn"], AttributeName="Policy", AttributeValue=policy)
        return Made(inputs["arn"], {"owner": aws.account})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """As create: a topic has one policy."""
        return self.create(aws, old.id, inputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """Give the topic back the policy that SNS gives a new one: the owner may do all."""
        owner_only = {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Sid": "__default_statement_ID",
                    "Effect": "Allow",
                    "Principal": {"AWS": f"arn:aws:iam::{aws.account}:root"},
                    "Action": [
                        "SNS:Publish",
                        "SNS:Subscribe",
                        "SNS:GetTopicAttributes",
                        "SNS:SetTopicAttributes",
                    ],
                    "Resource": old.id,
                }
            ],
        }
        try:
            aws.sns.set_topic_attributes(
                TopicArn=old.id, AttributeName="Policy", AttributeValue=json.dumps(owner_only)
            )
        except aws.sns.exceptions.NotFoundException:
            return


_SUBSCRIPTION_ATTRIBUTES = {
    "rawMessageDelivery": "RawMessageDelivery",
    "filterPolicy": "FilterPolicy",
    "filterPolicyScope": "FilterPolicyScope",
    "redrivePolicy": "RedrivePolicy",
    "deliveryPolicy": "DeliveryPolicy",
}


class TopicSubscription(Provider):
    """aws.sns.TopicSubscription."""

    kind: ClassVar = "aws:sns/topicSubscription:TopicSubscription"
    identity: ClassVar = Identity(names=("topic", "protocol", "endpoint"))
    applied: ClassVar = frozenset({"topic", "protocol", "endpoint", *_SUBSCRIPTION_ATTRIBUTES})
    not_applied: ClassVar = {
        "confirmationTimeoutInMinutes": "subscriptions confirm themselves in the emulator",
        "endpointAutoConfirms": "subscriptions confirm themselves in the emulator",
    }

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """Subscribe."""
        arn = aws.sns.subscribe(
            TopicArn=inputs["topic"],
            Protocol=inputs["protocol"],
            Endpoint=inputs["endpoint"],
            Attributes=_attributes(inputs, _SUBSCRIPTION_ATTRIBUTES),
            ReturnSubscriptionArn=True,
        )["SubscriptionArn"]
        return Made(arn, {"arn": arn, "ownerId": aws.account})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """SetSubscriptionAttributes for those that changed."""
        before = _attributes(old.inputs, _SUBSCRIPTION_ATTRIBUTES)
        after = _attributes(inputs, _SUBSCRIPTION_ATTRIBUTES)
        for name in sorted(before.keys() | after.keys()):
            if before.get(name) != after.get(name):
                nothing = "false" if name == "RawMessageDelivery" else ""
                aws.sns.set_subscription_attributes(
                    SubscriptionArn=old.id, AttributeName=name, AttributeValue=after.get(name, nothing)
                )
        return Made(old.id, old.outputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """Unsubscribe."""
        try:
            aws.sns.unsubscribe(SubscriptionArn=old.id)
        except aws.sns.exceptions.NotFoundException:
            return


def _attributes(inputs: Inputs, names: dict[str, str]) -> dict[str, str]:
    return {names[key]: json_text(inputs[key]) for key in names if key in inputs}


PROVIDERS = (Topic, TopicPolicy, TopicSubscription)
