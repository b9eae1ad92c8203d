"""The event bus of completed orders, its one rule, and the schedule of the reconciler."""

import json
from typing import Final

import pulumi
import pulumi_aws as aws

from infra.components.function import Function
from infra.naming import NOTIFY_RULE
from infra.stage import Stage

# EventBridge's and Lambda's most: what fails for a day (a rule) or six hours (an asynchronous call) needs a
# person, and waits for one in the dead-letter queue.
_RULE_MAX_AGE_SECONDS: Final = 86_400
_RULE_ATTEMPTS: Final = 185
_CALL_MAX_AGE_SECONDS: Final = 6 * 3600
_CALL_RETRIES: Final = 2
# EventBridge's and Lambda's least: the next minute's call does what a late one would.
_SCHEDULE_MAX_AGE_SECONDS: Final = 60


class EventBus(pulumi.ComponentResource):
    """The bus `onceward-<stage>_orders`, encrypted with the stage's key.

    `failures` takes the events that the bus itself could not encrypt or decrypt, before any rule saw them.
    """

    def __init__(self, stage: Stage, key_arn: pulumi.Input[str], failures: aws.sqs.Queue) -> None:
        super().__init__("onceward:index:EventBus", "event-bus")
        bus = aws.cloudwatch.EventBus(
            "orders-bus",
            name=stage.names.platform("orders"),
            description=f"Onceward {stage.names.stage}: completed orders",
            kms_key_identifier=key_arn,
            dead_letter_config=aws.cloudwatch.EventBusDeadLetterConfigArgs(arn=failures.arn),
            opts=stage.child(self),
        )
        self.name: pulumi.Output[str] = bus.name
        self.register_outputs({"name": self.name})


class Notifications(pulumi.ComponentResource):
    """The bus's one rule, for all tenants: everything of ours goes to `notify`, which knows the topic."""

    def __init__(self, stage: Stage, bus: EventBus, notify: Function, failures: aws.sqs.Queue) -> None:
        super().__init__("onceward:index:Notifications", "notifications")
        rule = aws.cloudwatch.EventRule(
            NOTIFY_RULE,
            name=stage.names.platform(NOTIFY_RULE),
            event_bus_name=bus.name,
            description="Every event of the platform goes to its tenant's topic",
            event_pattern=json.dumps({"source": [f"onceward.{stage.names.stage}"]}),
            opts=stage.child(self),
        )
        _target(NOTIFY_RULE, stage, self, rule, notify, bus_name=bus.name, failures=failures)
        aws.lambda_.FunctionEventInvokeConfig(
            "notify-calls",
            function_name=notify.resource.name,
            qualifier=notify.alias.name,
            maximum_event_age_in_seconds=_CALL_MAX_AGE_SECONDS,
            maximum_retry_attempts=_CALL_RETRIES,
            destination_config=aws.lambda_.FunctionEventInvokeConfigDestinationConfigArgs(
                on_failure=aws.lambda_.FunctionEventInvokeConfigDestinationConfigOnFailureArgs(
                    destination=failures.arn
                )
            ),
            opts=stage.child(self),
        )
        self.register_outputs({"rule": rule.name})


class Schedule(pulumi.ComponentResource):
    """Calls `reconcile` once a minute."""

    def __init__(self, stage: Stage, reconcile: Function) -> None:
        super().__init__("onceward:index:Schedule", "schedule")
        rule = aws.cloudwatch.EventRule(
            "reconcile-schedule",
            name=stage.names.platform("reconcile"),
            description="Look for work that has been pending too long",
            schedule_expression="rate(1 minute)",
            opts=stage.child(self),
        )
        _target("reconcile-schedule", stage, self, rule, reconcile)
        aws.lambda_.FunctionEventInvokeConfig(
            "reconcile-calls",
            function_name=reconcile.resource.name,
            qualifier=reconcile.alias.name,
            maximum_event_age_in_seconds=_SCHEDULE_MAX_AGE_SECONDS,
            maximum_retry_attempts=0,
            opts=stage.child(self),
        )
        self.register_outputs({"rule": rule.name})


def _target(
    name: str,
    stage: Stage,
    parent: pulumi.Resource,
    rule: aws.cloudwatch.EventRule,
    function: Function,
    *,
    bus_name: pulumi.Input[str] | None = None,
    failures: aws.sqs.Queue | None = None,
) -> None:
    """Let the rule call the function's alias, and make it do so."""
    allowed = aws.lambda_.Permission(
        f"may-call-{name}",
        action="lambda:InvokeFunction",
        function=function.resource.name,
        qualifier=function.alias.name,
        principal="events.amazonaws.com",
        source_arn=rule.arn,
        opts=stage.child(parent),
    )
    kept = failures is not None
    aws.cloudwatch.EventTarget(
        name,
        rule=rule.name,
        event_bus_name=bus_name,
        target_id=name,
        arn=function.alias.arn,
        retry_policy=aws.cloudwatch.EventTargetRetryPolicyArgs(
            maximum_event_age_in_seconds=_RULE_MAX_AGE_SECONDS if kept else _SCHEDULE_MAX_AGE_SECONDS,
            maximum_retry_attempts=_RULE_ATTEMPTS if kept else 0,
        ),
        dead_letter_config=None
        if failures is None
        else aws.cloudwatch.EventTargetDeadLetterConfigArgs(arn=failures.arn),
        opts=stage.child(parent, depends_on=[allowed]),
    )
