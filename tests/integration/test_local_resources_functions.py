"""Functions, roles, alarms and rules: made, changed and deleted; read back from the local AWS."""

from __future__ import annotations

import json
from typing import Any

import pulumi
import pulumi_aws as aws
import pytest

from tests.integration.local_stack import REGION, TRUST, Stack, allow, clients, function, names, stack

__all__ = ["clients", "stack"]

pytestmark = pytest.mark.platform


def test_functions_versions_and_what_calls_them(stack: Stack) -> None:
    def program(changed: bool) -> None:
        made = function(changed)
        aws.iam.RolePolicy(
            "calls", name="calls", role=made.role.apply(lambda arn: arn.split("/")[-1]), policy=allow("sqs:*")
        )
        alias = aws.lambda_.Alias("live", name="live", function_name=made.name, function_version=made.version)
        queue = aws.sqs.Queue("queue", name="s_source")
        aws.lambda_.EventSourceMapping(
            "mapping",
            event_source_arn=queue.arn,
            function_name=alias.arn,
            batch_size=7 if changed else 5,
            function_response_types=[] if changed else ["ReportBatchItemFailures"],
            scaling_config=aws.lambda_.EventSourceMappingScalingConfigArgs(maximum_concurrency=2),
        )
        aws.lambda_.Permission(
            "permission",
            action="lambda:InvokeFunction",
            function=made.name,
            qualifier=alias.name,
            principal="events.amazonaws.com",
            source_account="111111111111" if changed else "222222222222",
        )
        aws.lambda_.FunctionEventInvokeConfig(
            "asynchronous",
            function_name=made.name,
            qualifier=alias.name,
            maximum_retry_attempts=2 if changed else 1,
            destination_config=aws.lambda_.FunctionEventInvokeConfigDestinationConfigArgs(
                on_failure=aws.lambda_.FunctionEventInvokeConfigDestinationConfigOnFailureArgs(
                    destination=queue.arn
                )
            ),
        )

    def call() -> Any:
        answer = stack.aws.functions.invoke(FunctionName="s_function", Qualifier="live", Payload=b'"event"')
        return json.loads(answer["Payload"].read())

    stack.up(lambda: program(False))
    assert call() == [0, "old", "event"]
    changed = stack.through_change(program)
    assert names(changed.updated) == {"role", "function", "live", "mapping", "asynchronous"}
    assert names(changed.replaced) == {"permission"}
    assert call() == [1, "new", "event"]
    versions = stack.aws.functions.list_versions_by_function(FunctionName="s_function")["Versions"]
    assert [version["Version"] for version in versions] == ["$LATEST", "1", "2"]
    [mapping] = stack.aws.functions.list_event_source_mappings(FunctionName="s_function:live")[
        "EventSourceMappings"
    ]
    assert (mapping["BatchSize"], mapping["FunctionResponseTypes"]) == (7, [])


def test_policies_to_be_attached(stack: Stack) -> None:
    def program(changed: bool) -> None:
        role = aws.iam.Role("role", name="s-attached", assume_role_policy=TRUST)
        policy = aws.iam.Policy("policy", name="s-policy", policy=allow("sqs:*" if changed else "sns:*"))
        aws.iam.RolePolicyAttachment("attachment", role=role.name, policy_arn=policy.arn)

    assert names(stack.through(program).updated) == {"policy"}
    arn = f"arn:aws:iam::{stack.aws.account}:policy/s-policy"
    assert len(stack.aws.iam.list_policy_versions(PolicyArn=arn)["Versions"]) == 1
    [attached] = stack.aws.iam.list_attached_role_policies(RoleName="s-attached")["AttachedPolicies"]
    assert attached["PolicyName"] == "s-policy"


def test_alarms_rules_and_dashboards(stack: Stack) -> None:
    def program(changed: bool) -> None:
        topic = aws.sns.Topic("topic", name="s-alarms")
        alarm = aws.cloudwatch.MetricAlarm(
            "alarm",
            name="s-alarm",
            comparison_operator="GreaterThanThreshold",
            evaluation_periods=1,
            metric_name="Errors",
            namespace="AWS/Lambda",
            period=60,
            statistic="Sum",
            threshold=2 if changed else 1,
            dimensions={"FunctionName": "f"},
            alarm_actions=[topic.arn],
        )
        aws.cloudwatch.MetricAlarm(
            "ratio",
            name="s-ratio",
            comparison_operator="GreaterThanThreshold",
            evaluation_periods=1,
            threshold=0.5,
            metric_queries=[
                aws.cloudwatch.MetricAlarmMetricQueryArgs(
                    id="r", expression="a/2", label="r", return_data=True
                ),
                aws.cloudwatch.MetricAlarmMetricQueryArgs(
                    id="a",
                    metric=aws.cloudwatch.MetricAlarmMetricQueryMetricArgs(
                        metric_name="Errors",
                        namespace="AWS/Lambda",
                        period=60,
                        stat="Sum",
                        dimensions={"A": "b"},
                    ),
                ),
            ],
        )
        aws.cloudwatch.CompositeAlarm(
            "any",
            alarm_name="s-any",
            alarm_rule=alarm.name.apply(lambda name: f"ALARM({name})"),
            alarm_description="new" if changed else "old",
        )
        aws.cloudwatch.Dashboard(
            "board",
            dashboard_name="s-board",
            dashboard_body=json.dumps({"widgets": [], "start": f"-PT{1 + changed}H"}),
        )
        rule = aws.cloudwatch.EventRule(
            "rule", name="s-rule", schedule_expression=f"rate({5 + changed} minutes)"
        )
        aws.cloudwatch.EventTarget(
            "target", rule=rule.name, target_id="topic", arn=topic.arn, input='"new"' if changed else '"old"'
        )
        bus = aws.cloudwatch.EventBus(
            "bus",
            name="s-bus",
            description="new" if changed else "old",
            dead_letter_config=aws.cloudwatch.EventBusDeadLetterConfigArgs(
                arn=f"arn:aws:sqs:{REGION}:000000000000:s-{'new' if changed else 'old'}"
            ),
        )
        heard = aws.cloudwatch.EventRule(
            "heard", name="s-heard", event_bus_name=bus.name, event_pattern=json.dumps({"source": ["s"]})
        )
        aws.cloudwatch.EventTarget(
            "hears",
            rule=heard.name,
            event_bus_name=bus.name,
            target_id="topic",
            arn=topic.arn,
            retry_policy=aws.cloudwatch.EventTargetRetryPolicyArgs(maximum_retry_attempts=3 + changed),
        )

    changed = stack.through(program)
    assert names(changed.updated) == {"alarm", "any", "board", "bus", "hears", "rule", "target"}
    [alarm] = stack.aws.cloudwatch.describe_alarms(AlarmNames=["s-alarm"])["MetricAlarms"]
    assert alarm["Threshold"] == 2
    events = stack.aws.events
    assert events.list_targets_by_rule(Rule="s-rule")["Targets"][0]["Input"] == '"new"'
    found = events.describe_event_bus(Name="s-bus")
    assert (found["Description"], found["DeadLetterConfig"]["Arn"].rsplit(":")[-1]) == ("new", "s-new")
    [target] = events.list_targets_by_rule(Rule="s-heard", EventBusName="s-bus")["Targets"]
    assert target["RetryPolicy"] == {"MaximumRetryAttempts": 4}


def test_a_provider_of_the_programs_own_must_be_the_platforms(stack: Stack) -> None:
    def program(changed: bool) -> None:
        provider = aws.Provider(
            "own", region=REGION, allowed_account_ids=["000000000000"] + ["1" * 12] * changed
        )
        aws.sns.Topic("topic", name="s-own", opts=pulumi.ResourceOptions(provider=provider))

    assert names(stack.through(program).updated) == {"own"}
    with pytest.raises(Exception, match="region: must be eu-central-1"):
        stack.up(_elsewhere)


def _elsewhere() -> None:
    aws.Provider("elsewhere", region="us-west-2")
