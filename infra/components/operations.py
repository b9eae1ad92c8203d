"""What operators have: the alarm topic, the platform's alarms, those on all tenants, and the dashboards."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from infra import dashboards, query_limits, resource_policies
from infra.alarm import Alarm, QueryAlarm
from infra.alarms import DISPATCH_GIVEN_UP, platform_alarms
from infra.components.composite_alarm import make_composite
from infra.components.metric_alarm import make_alarm
from infra.composites import Composite, platform_down, troubles
from infra.stage import Stage
from infra.tenant_alarms import tenant_rules
from tenants.models import Tenant


@dataclass(frozen=True)
class Paging:
    """What pages: the topic that people are told by, and the alarm that mutes composites while it rings."""

    topic_arn: pulumi.Output[str]
    platform_down: aws.cloudwatch.CompositeAlarm


def rules_on_all(stage: Stage, tenants: Collection[Tenant]) -> tuple[QueryAlarm, ...]:
    """The alarms on all tenants; warns where they look at the worst off alone.

    Raises `infra.query_limits.QueryLimitError` for more tenants than they bear.
    """
    silenced = [tenant.id for tenant in tenants if not tenant.alarms.enabled]
    rules = tenant_rules(stage.names, silenced, all_topics=stage.settings.watch_all_topics)
    warning = query_limits.check(rules, len(tenants), len(silenced))
    if warning is not None:
        pulumi.log.warn(warning)
    return rules


class Operations(pulumi.ComponentResource):
    """Alarm topic (encrypted; CloudWatch and EventBridge can publish), alarms, dashboards.

    `rules`: those on all `tenants`, which is how many there are.
    """

    def __init__(
        self, stage: Stage, key_arn: pulumi.Input[str], rules: Sequence[QueryAlarm], tenants: int
    ) -> None:
        super().__init__("onceward:index:Operations", "operations")
        self._stage = stage
        topic = self._topic(key_arn)
        self._subscription(topic)
        self._made: dict[str, aws.cloudwatch.MetricAlarm] = {}
        down, others = platform_down(), troubles()
        paged_for = {child for each in (down, *others) for child in each.children}
        alarms: tuple[Alarm | QueryAlarm, ...] = (*platform_alarms(stage.names), *rules)
        for alarm in alarms:
            self._alarm(alarm, None if alarm.name in paged_for else topic.arn)
        self.paging = Paging(topic.arn, self._composite(down, topic.arn))
        for each in others:
            self._composite(each, topic.arn, self.paging.platform_down)
        place = dashboards.Place(stage.arns, stage.settings.runbook_url)
        # Made beside its stream (`infra.components.dispatch_feed`), and shown with all others.
        shown = (*alarms, DISPATCH_GIVEN_UP)
        self._dashboard("dashboard", "platform", dashboards.platform_body(place, shown, (down, *others)))
        any_tenant = dashboards.any_tenant_body(place, rules, tenants)
        self._dashboard("dashboard-any-tenant", "any-tenant", any_tenant)
        self.alarm_topic_arn: pulumi.Output[str] = topic.arn
        self.register_outputs({"alarmTopicArn": self.alarm_topic_arn})

    def _alarm(self, alarm: Alarm | QueryAlarm, topic_arn: pulumi.Output[str] | None) -> None:
        stage = self._stage
        self._made[alarm.name] = make_alarm(
            f"alarm-{alarm.name}",
            stage.names.platform(alarm.name),
            alarm,
            topic_arn,
            stage.child(self),
            runbook=stage.settings.runbook_url,
        )

    def _composite(
        self,
        composite: Composite,
        topic_arn: pulumi.Output[str],
        suppressor: aws.cloudwatch.CompositeAlarm | None = None,
    ) -> aws.cloudwatch.CompositeAlarm:
        stage = self._stage
        return make_composite(
            f"alarm-{composite.name}",
            stage.names.platform(composite.name),
            composite,
            [(stage.names.platform(child), self._made[child]) for child in composite.children],
            topic_arn,
            stage.child(self),
            runbook=stage.settings.runbook_url,
            suppressor=suppressor,
        )

    def _dashboard(self, logical_name: str, name: str, body: str) -> None:
        aws.cloudwatch.Dashboard(
            logical_name,
            dashboard_name=self._stage.names.platform(name),
            dashboard_body=body,
            opts=self._stage.child(self),
        )

    def _topic(self, key_arn: pulumi.Input[str]) -> aws.sns.Topic:
        stage = self._stage
        topic = aws.sns.Topic(
            "alarms",
            name=stage.names.platform("alarms"),
            kms_master_key_id=key_arn,
            opts=stage.child(self),
        )
        policy = resource_policies.alarm_topic(stage.arns, require_tls=stage.settings.require_tls)
        aws.sns.TopicPolicy("alarms-policy", arn=topic.arn, policy=json.dumps(policy), opts=stage.child(self))
        return topic

    def _subscription(self, topic: aws.sns.Topic) -> None:
        """Tell the person whom the settings name; warn where they name nobody."""
        stage = self._stage
        if stage.settings.alarm_email is not None:
            aws.sns.TopicSubscription(
                "alarms-email",
                topic=topic.arn,
                protocol="email",
                endpoint=stage.settings.alarm_email,
                opts=stage.child(self),
            )
        elif stage.names.stage != "local":
            pulumi.log.warn(
                "onceward:alarmEmail is not set: alarms reach the topic "
                f"{stage.names.platform('alarms')}, and nobody unless something subscribes to it",
                self,
            )
