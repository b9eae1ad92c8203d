"""Stacks of resource types on a local AWS of their own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulumi
import pulumi_aws as aws
import pytest

from ops.local.clients import Clients
from ops.local.emulator import Emulator
from ops.local.monitor import Program
from ops.local.resources.registry import PROVIDERS
from ops.local.state import State
from ops.local.update import Inputs, run
from ops.local.urn import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ops.local.summary import UpdateSummary

REGION = "eu-central-1"
TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
        ],
    }
)


def allow(action: str) -> str:
    return json.dumps(
        {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": action, "Resource": "*"}]}
    )


@dataclass
class Stack:
    """One stack on the emulator."""

    home: Path
    aws: Clients

    def up(self, program: Callable[[], None]) -> UpdateSummary:
        inputs = Inputs(Program("p", "s", self.home), {"aws:region": REGION}, program, PROVIDERS)
        state = State(self.home / "state.json")
        summary = run(inputs, state, self.aws, lambda _step, _urn, _changed: None)
        assert State(self.home / "state.json").condemned == []
        return summary

    def through(self, program: Callable[[bool], None]) -> UpdateSummary:
        """The program as it is, unchanged, and changed; returns what the change did."""
        assert self.up(lambda: program(False)).created
        return self.through_change(program)

    def through_change(self, program: Callable[[bool], None]) -> UpdateSummary:
        """As `through`, where the program is up already."""
        assert self.up(lambda: program(False)).changes == 0
        changed = self.up(lambda: program(True))
        assert self.up(lambda: program(True)).changes == 0
        return changed

    def outputs(self) -> dict[str, Any]:
        return State(self.home / "state.json").outputs

    def left_over(self) -> list[str]:
        """What is still there of anything that a program can make."""
        kinds = self.aws
        return [
            *kinds.dynamodb.list_tables()["TableNames"],
            *(
                each["Name"]
                for each in kinds.events.list_event_buses()["EventBuses"]
                if each["Name"] != "default"
            ),
            *kinds.sqs.list_queues().get("QueueUrls", []),
            *(topic["TopicArn"] for topic in kinds.sns.list_topics()["Topics"]),
            *(made["FunctionName"] for made in kinds.functions.list_functions()["Functions"]),
            *(
                mapping["UUID"]
                for mapping in kinds.functions.list_event_source_mappings()["EventSourceMappings"]
            ),
            *(role["RoleName"] for role in kinds.iam.list_roles()["Roles"]),
            *(policy["PolicyName"] for policy in kinds.iam.list_policies(Scope="Local")["Policies"]),
            *(api["id"] for api in kinds.apigateway.get_rest_apis()["items"]),
            *(key["id"] for key in kinds.apigateway.get_api_keys()["items"]),
            *(plan["id"] for plan in kinds.apigateway.get_usage_plans()["items"]),
            *(domain["domainName"] for domain in kinds.apigateway.get_domain_names()["items"]),
            *(bucket["Name"] for bucket in kinds.s3.list_buckets()["Buckets"]),
            *(alarm["AlarmName"] for alarm in kinds.cloudwatch.describe_alarms()["MetricAlarms"]),
            *(board["DashboardName"] for board in kinds.cloudwatch.list_dashboards()["DashboardEntries"]),
            *(
                group["logGroupName"]
                for group in kinds.logs.describe_log_groups(logGroupNamePrefix="/s/")["logGroups"]
            ),
            *(rule["Name"] for rule in kinds.events.list_rules()["Rules"]),
        ]


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clients]:
    emulator = Emulator(tmp_path_factory.mktemp("aws"), REGION, owned=True)
    yield Clients(emulator.start(), REGION)
    emulator.stop()


@pytest.fixture
def stack(tmp_path: Path, clients: Clients) -> Iterator[Stack]:
    made = Stack(tmp_path, clients)
    yield made
    made.up(lambda: None)
    assert made.left_over() == []


def names(urns: tuple[str, ...]) -> set[str]:
    return {name_of(urn) for urn in urns}


def function(changed: bool) -> aws.lambda_.Function:
    role = aws.iam.Role(
        "role", name="s-role", assume_role_policy=TRUST, description="new" if changed else "old"
    )
    code = (
        f"import os\ndef handler(event, context):\n    return [{int(changed)}, os.environ['WORD'], event]\n"
    )
    return aws.lambda_.Function(
        "function",
        name="s_function",
        role=role.arn,
        runtime="python3.13",
        handler="app.handler",
        code=pulumi.AssetArchive({"app.py": pulumi.StringAsset(code)}),
        environment=aws.lambda_.FunctionEnvironmentArgs(
            variables={"WORD": pulumi.Output.secret("new" if changed else "old")}
        ),
        publish=True,
        timeout=20 if changed else 10,
        reserved_concurrent_executions=None if changed else 5,
    )
