"""Everything that one tenant has of its own: topic, subscriptions, keys, registry items, audit queue.

Nothing here depends on another tenant or on a tenant's place in a list: a new file registers its own
URNs and no others.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from infra import resource_policies
from infra.components.operations import Paging
from infra.components.tenant_operations import make_alarms, make_dashboard
from infra.stage import Stage
from tenants import registry
from tenants.models import ApiKey, Tenant, Tier
from tenants.subscriptions import Subscription

# The audit queue's messages are read by the check after a storm; a day is ample and costs next to nothing.
_AUDIT_RETENTION_SECONDS: Final = 86_400


@dataclass(frozen=True)
class Shared:
    """What tenants share: key, registry table, plans by tier, delivery DLQ, and what pages."""

    key_arn: pulumi.Input[str]
    registry_table: pulumi.Input[str]
    plans: Mapping[str, pulumi.Output[str]]
    delivery_dlq_arn: pulumi.Output[str]
    paging: Paging


class TenantResources(pulumi.ComponentResource):
    """One tenant, as `onceward:index:Tenant`; children are named `<tenantId>.<what>` (ids hold no dot)."""

    def __init__(self, tenant: Tenant, tier: Tier, stage: Stage, shared: Shared) -> None:
        super().__init__("onceward:index:Tenant", tenant.id)
        self._tenant = tenant
        self._tier = tier
        self._stage = stage
        self._shared = shared
        self.topic = self._topic()
        for subscription in tenant.subscriptions_on(stage.names.stage):
            self._subscription(subscription)
        self.keys = {key.name: self._key(key) for key in tenant.keys}
        self._registry_item("registry", _json(registry.tenant_item(tenant, tier)))
        self.audit_queue = self._audit_queue() if stage.settings.audit else None
        make_alarms(tenant, stage, shared.paging, parent=self)
        if tenant.dashboard == "dedicated":
            make_dashboard(tenant, stage, parent=self)
        self.register_outputs({"topicArn": self.topic.arn})

    @property
    def outputs(self) -> dict[str, object]:
        """What the stack exports of this tenant; key values are secret."""
        return {
            "keys": {name: _secret(key.value) for name, key in self.keys.items()},
            "topicArn": self.topic.arn,
            "auditQueueUrl": None if self.audit_queue is None else self.audit_queue.url,
            "tier": self._tenant.tier,
            "status": self._tenant.status,
            "synthetic": self._tenant.synthetic,
        }

    def _child_name(self, part: str) -> str:
        return f"{self._tenant.id}.{part}"

    def _topic(self) -> aws.sns.Topic:
        own_key = self._tenant.kms_key_on(self._stage.names.stage)
        topic = aws.sns.Topic(
            self._child_name("topic"),
            name=self._stage.names.tenant(self._tenant.id),
            kms_master_key_id=self._shared.key_arn if own_key is None else own_key,
            # HTTPS subscribers check signatures with SHA-256 rather than SHA-1.
            signature_version=2,
            opts=self._stage.child(self),
        )
        policy = resource_policies.tenant_topic(
            self._tenant.id, self._stage.arns, require_tls=self._stage.settings.require_tls
        )
        aws.sns.TopicPolicy(
            self._child_name("topic-policy"),
            arn=topic.arn,
            policy=json.dumps(policy),
            opts=self._stage.child(self),
        )
        return topic

    def _subscription(self, wanted: Subscription) -> None:
        # Named after what it is: SNS has one subscription per topic, protocol and endpoint, and the order
        # in the file means nothing.
        digest = hashlib.sha256(wanted.endpoint.encode()).hexdigest()[:12]
        aws.sns.TopicSubscription(
            self._child_name(f"subscription.{wanted.protocol}.{digest}"),
            topic=self.topic.arn,
            protocol=wanted.protocol,
            endpoint=wanted.endpoint,
            filter_policy=wanted.filter_policy_json(),
            # Nothing waits for a confirmation: a subscriber that is away must not fail the others' update.
            redrive_policy=self._shared.delivery_dlq_arn.apply(
                lambda arn: json.dumps({"deadLetterTargetArn": arn})
            ),
            opts=self._stage.child(self),
        )

    def _key(self, key: ApiKey) -> aws.apigateway.ApiKey:
        active = self._tenant.status == "active"
        made = aws.apigateway.ApiKey(
            self._child_name(f"key.{key.name}"),
            name=self._stage.names.tenant_part(self._tenant.id, key.name),
            description=f"Tenant {self._tenant.id}, key {key.name}",
            enabled=active,
            opts=self._stage.child(self),
        )
        if active:
            # Off its plan, the gateway refuses the key at once, whatever the authorizer's cache says.
            aws.apigateway.UsagePlanKey(
                self._child_name(f"key.{key.name}.plan"),
                key_id=made.id,
                key_type="API_KEY",
                usage_plan_id=self._shared.plans[self._tenant.tier],
                # A key can be on one plan of a REST stage only: to change tiers it leaves the old one first.
                opts=self._stage.child(self, delete_before_replace=True),
            )
        # Only the hash of the value is in the item, so the item need not be a secret.
        item = pulumi.Output.unsecret(
            made.value.apply(
                lambda value: _json(
                    registry.key_item(self._tenant, self._tier, key, registry.key_hash(value))
                )
            )
        )
        self._registry_item(f"key.{key.name}.registry", item)
        return made

    def _registry_item(self, part: str, item: pulumi.Input[str]) -> None:
        aws.dynamodb.TableItem(
            self._child_name(part),
            table_name=self._shared.registry_table,
            hash_key="pk",
            item=item,
            opts=self._stage.child(self),
        )

    def _audit_queue(self) -> aws.sqs.Queue:
        stage, tenant = self._stage, self._tenant
        name = stage.names.tenant_part(tenant.id, "audit")
        queue = aws.sqs.Queue(
            self._child_name("audit"),
            name=name,
            kms_master_key_id=self._shared.key_arn,
            message_retention_seconds=_AUDIT_RETENTION_SECONDS,
            opts=stage.child(self),
        )
        policy = resource_policies.topic_to_queue(
            stage.location.arn("sqs", name),
            stage.arns.tenant_topic(tenant.id),
            require_tls=stage.settings.require_tls,
        )
        allowed = aws.sqs.QueuePolicy(
            self._child_name("audit-policy"),
            queue_url=queue.url,
            policy=json.dumps(policy),
            opts=stage.child(self),
        )
        aws.sns.TopicSubscription(
            self._child_name("audit-subscription"),
            topic=self.topic.arn,
            protocol="sqs",
            endpoint=queue.arn,
            # The queue holds exactly what `dispatch` published, without SNS's envelope.
            raw_message_delivery=True,
            opts=stage.child(self, depends_on=[allowed]),
        )
        return queue


def _json(item: registry.Item) -> str:
    return json.dumps(item, sort_keys=True)


def _secret(value: pulumi.Output[str]) -> pulumi.Output[str]:
    made: pulumi.Output[str] = pulumi.Output.secret(value)
    return made
