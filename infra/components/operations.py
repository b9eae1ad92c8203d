"""What operators have: the alarm topic, the platform's alarms and its dashboard."""

import json

import pulumi
import pulumi_aws as aws

from infra import dashboards, resource_policies
from infra.alarms import platform_alarms
from infra.components.metric_alarm import make_alarm
from infra.stage import Stage


class Operations(pulumi.ComponentResource):
    """Alarm topic (encrypted; CloudWatch and EventBridge can publish), alarms, dashboard."""

    def __init__(self, stage: Stage, key_arn: pulumi.Input[str]) -> None:
        super().__init__("onceward:index:Operations", "operations")
        self._stage = stage
        topic = self._topic(key_arn)
        self._subscription(topic)
        for alarm in platform_alarms(stage.names):
            make_alarm(
                f"alarm-{alarm.name}",
                stage.names.platform(alarm.name),
                alarm,
                topic.arn,
                stage.child(self),
            )
        aws.cloudwatch.Dashboard(
            "dashboard",
            dashboard_name=stage.names.platform("platform"),
            dashboard_body=dashboards.platform_body(stage.names, stage.location.region),
            opts=stage.child(self),
        )
        self.alarm_topic_arn: pulumi.Output[str] = topic.arn
        self.register_outputs({"alarmTopicArn": self.alarm_topic_arn})

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
