"""The roles' policies: each function may make the calls it makes and no other."""

import json
import re
import warnings
from collections.abc import Iterator
from typing import Any, get_args

import pytest

from infra import policies
from infra.naming import Arns, Location, Names
from infra.settings import FunctionName
from tests.infra.stages import STAGES, previewed

ARNS = Arns(Location("aws", "123456789012", "eu-west-1"), Names("dev"))
FUNCTIONS: tuple[FunctionName, ...] = get_args(FunctionName)
TAKE = {
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ReceiveMessage",
}
EVERYONE = {"logs:CreateLogStream", "logs:PutLogEvents", "xray:PutTelemetryRecords", "xray:PutTraceSegments"}


def statements(document: Any) -> Iterator[dict[str, Any]]:
    yield from document["Statement"]


def listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def actions(document: Any) -> set[str]:
    return {action for statement in statements(document) for action in listed(statement["Action"])}


def resources_of(document: Any, action: str) -> set[str]:
    return {
        resource
        for statement in statements(document)
        if action in listed(statement["Action"])
        for resource in listed(statement["Resource"])
    }


def registered(stage: str, function: str) -> str:
    """The identity policy of a function's role as the program registers it."""
    policy: str = previewed(stage).one("aws:iam/rolePolicy:RolePolicy", f"{function}-policy").inputs["policy"]
    return policy


every_role = pytest.mark.parametrize(
    ("stage", "function"),
    # "canary" is CodeDeploy's role, in the stage that has canaries.
    [*((stage, function) for stage in STAGES for function in FUNCTIONS), ("prod", "canary")],
)


def test_there_are_no_other_roles_policies() -> None:
    for stage in STAGES:
        names = {each.name for each in previewed(stage).of_type("aws:iam/rolePolicy:RolePolicy")}
        canary = {"canary-policy"} if stage == "prod" else set()
        assert names == {f"{function}-policy" for function in FUNCTIONS} | canary


@every_role
def test_every_role_passes_the_policy_linter(stage: str, function: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # parliament imports pkg_resources, which says that it will go
        import parliament
    found = parliament.analyze_policy_string(registered(stage, function)).findings
    assert [(each.issue, each.detail) for each in found] == []


@every_role
def test_no_role_has_a_wildcard_in_an_action(stage: str, function: str) -> None:
    assert [action for action in actions(json.loads(registered(stage, function))) if "*" in action] == []


@every_role
def test_only_listed_calls_are_on_every_resource(stage: str, function: str) -> None:
    for statement in statements(json.loads(registered(stage, function))):
        if statement["Effect"] == "Deny":
            assert "Condition" not in statement
        assert "NotAction" not in statement
        assert "NotResource" not in statement
        if "*" in listed(statement["Resource"]):
            assert set(listed(statement["Action"])) <= set(policies.TAKES_NO_RESOURCE)
        for resource in listed(statement["Resource"]):
            ours = re.search(rf"[:/]onceward-{stage}[_-]|:parameter/onceward/{stage}/", resource)
            assert resource == "*" or ours, resource


def test_every_listed_call_is_made_and_has_a_reason() -> None:
    made = {action for name in FUNCTIONS for action in actions(policies.function_role(name, ARNS))}
    assert set(policies.TAKES_NO_RESOURCE) <= made
    assert all(len(reason) > 20 for reason in policies.TAKES_NO_RESOURCE.values())


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        ("authorizer", {"dynamodb:GetItem"}),
        ("ingest", {"dynamodb:PutItem"}),
        ("read", {"dynamodb:GetItem"}),
        ("execute", {"dynamodb:PutItem", "dynamodb:UpdateItem", "ssm:GetParameter"}),
        ("webhooks", {"dynamodb:PutItem", "dynamodb:GetItem", "ssm:GetParameter"}),
        ("deliver", {"dynamodb:UpdateItem", "dynamodb:GetItem", "ssm:GetParameter", *TAKE}),
        (
            "fulfil",
            {"dynamodb:UpdateItem", "dynamodb:GetItem", "ssm:GetParameter", "events:PutEvents", *TAKE},
        ),
        ("notify", {"sns:Publish", "sqs:SendMessage"}),
        ("reconcile", {"dynamodb:Query", "dynamodb:UpdateItem", "sqs:SendMessage"}),
        (
            "dispatch",
            {
                "dynamodb:DescribeStream",
                "dynamodb:GetRecords",
                "dynamodb:GetShardIterator",
                "dynamodb:ListStreams",
                "dynamodb:PutItem",
                "s3:ListBucket",
                "s3:PutObject",
                "sns:Publish",
                "sqs:SendMessage",
                *TAKE,
            },
        ),
    ],
)
def test_a_function_may_make_its_own_calls_only(function: str, calls: set[str]) -> None:
    assert actions(policies.function_role(function, ARNS)) == calls | EVERYONE


@pytest.mark.parametrize(
    ("function", "action", "tables"),
    [
        ("authorizer", "dynamodb:GetItem", {"tenants"}),
        ("ingest", "dynamodb:PutItem", {"receipts"}),
        ("read", "dynamodb:GetItem", {"receipts", "records"}),
        ("dispatch", "dynamodb:PutItem", {"records"}),
        ("execute", "dynamodb:PutItem", {"receipts", "slots"}),
        ("execute", "dynamodb:UpdateItem", {"receipts"}),
        ("webhooks", "dynamodb:PutItem", {"receipts"}),
        ("webhooks", "dynamodb:GetItem", {"tenants"}),
        ("deliver", "dynamodb:UpdateItem", {"records"}),
        ("fulfil", "dynamodb:UpdateItem", {"records"}),
        ("reconcile", "dynamodb:UpdateItem", {"records"}),
    ],
)
def test_a_function_reaches_its_own_tables_only(function: str, action: str, tables: set[str]) -> None:
    allowed = resources_of(policies.function_role(function, ARNS), action)
    assert allowed == {ARNS.table(name) for name in tables}


@pytest.mark.parametrize("function", ["dispatch", "notify"])
def test_events_go_to_tenants_topics_of_the_stage_and_to_nothing_else(function: str) -> None:
    allowed = resources_of(policies.function_role(function, ARNS), "sns:Publish")
    assert allowed == {"arn:aws:sns:eu-west-1:123456789012:onceward-dev-*"}
    # The alarm topic has an underscore where a tenant has a hyphen, so the pattern does not meet it.
    assert not ARNS.topic("alarms").startswith(ARNS.tenant_topic_prefix)
    assert not Arns(ARNS.location, Names("dev2")).tenant_topic("acme").startswith(ARNS.tenant_topic_prefix)


def test_a_function_writes_to_its_own_log_group_only() -> None:
    for name in FUNCTIONS:
        allowed = resources_of(policies.function_role(name, ARNS), "logs:PutLogEvents")
        assert allowed == {f"arn:aws:logs:eu-west-1:123456789012:log-group:/aws/lambda/onceward-dev_{name}:*"}


def test_every_function_has_a_role_of_its_own() -> None:
    run = previewed("dev")
    roles = {each.name: each.inputs.get("name") for each in run.of_type("aws:iam/role:Role")}
    for name in FUNCTIONS:
        assert roles[f"{name}-role"] == f"onceward-dev_{name}"
    trusts = {
        each.inputs["assumeRolePolicy"]
        for each in run.of_type("aws:iam/role:Role")
        if each.name.removesuffix("-role") in FUNCTIONS
    }
    (trust,) = map(json.loads, trusts)
    assert trust["Statement"][0]["Principal"] == {"Service": "lambda.amazonaws.com"}
