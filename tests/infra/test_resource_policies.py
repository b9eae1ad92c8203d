"""Who may use the key, the topics, the queues and the bucket."""

import json
from typing import Any

import pytest

from infra import resource_policies
from infra.alarms import FUNCTIONS
from tests.infra.stages import document, previewed, updated
from tests.infra.test_policies import ARNS

PUBLISH = {"kms:Decrypt", "kms:GenerateDataKey"}
OF_A_BUS = "kms:EncryptionContext:aws:events:event-bus:arn"


def service_grants(policy: Any, service: str) -> list[dict[str, Any]]:
    """The Allow statements that name a service as a principal."""
    return [
        statement
        for statement in policy["Statement"]
        if statement["Effect"] == "Allow" and service in _listed(statement["Principal"].get("Service", []))
    ]


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


@pytest.mark.parametrize("service", ["cloudwatch.amazonaws.com", "events.amazonaws.com"])
def test_an_alarm_can_be_published_to_the_encrypted_alarm_topic(service: str) -> None:
    run = previewed("prod")
    topic = run.one("aws:sns/topic:Topic", "alarms")
    key = run.one("aws:kms/key:Key", "key")
    assert key.urn in topic.dependencies  # encrypted with the stage's key
    (publish,) = service_grants(
        document(run.one("aws:sns/topicPolicy:TopicPolicy", "alarms-policy"), "policy"), service
    )
    assert publish["Action"] == "sns:Publish"
    assert publish["Resource"].endswith(f":{topic.inputs['name']}")
    # EventBridge brings no source to a topic: a condition would drop its events.
    own_account = {"StringEquals": {"aws:SourceAccount": "123456789012"}}
    assert publish.get("Condition") == (own_account if service.startswith("cloudwatch") else None)
    (use,) = [
        each for each in service_grants(document(key, "policy"), service) if each["Sid"] == "Publishers"
    ]
    assert set(use["Action"]) == PUBLISH
    # A topic's or a queue's use of the key has no bus in its encryption context.
    assert use["Condition"] == {"Null": {OF_A_BUS: "true"}}


def test_no_other_bus_can_use_the_key() -> None:
    uses = service_grants(resource_policies.key(ARNS), "events.amazonaws.com")
    with_a_bus = [each for each in uses if each.get("Condition") != {"Null": {OF_A_BUS: "true"}}]
    assert [(set(each["Action"]), each.get("Condition")) for each in with_a_bus] == [
        (PUBLISH, {"StringEquals": {OF_A_BUS: ARNS.bus("orders")}}),
        ({"kms:DescribeKey"}, None),
    ]


def test_sns_can_put_messages_into_the_encrypted_queues() -> None:
    (use,) = service_grants(resource_policies.key(ARNS), "sns.amazonaws.com")
    assert set(use["Action"]) >= PUBLISH


def test_the_key_lets_the_platforms_roles_in_through_services_only() -> None:
    policy: Any = resource_policies.key(ARNS)
    (roles,) = [each for each in policy["Statement"] if each["Sid"] == "RolesThroughServices"]
    assert roles["Condition"] == {
        "StringEquals": {
            "kms:CallerAccount": "123456789012",
            "kms:ViaService": [
                f"{service}.eu-west-1.amazonaws.com" for service in ("dynamodb", "s3", "sns", "sqs", "ssm")
            ],
        },
        "ArnLike": {"aws:PrincipalArn": "arn:aws:iam::123456789012:role/onceward-dev_*"},
    }
    assert not any("*" in action for action in roles["Action"])


def test_the_key_encrypts_the_log_groups_that_the_program_makes() -> None:
    policy: Any = resource_policies.key(ARNS)
    (logs,) = service_grants(policy, "logs.eu-west-1.amazonaws.com")
    patterns = logs["Condition"]["ArnLike"]["kms:EncryptionContext:aws:logs:arn"]
    groups = [each.inputs["name"] for each in previewed("dev").of_type("aws:cloudwatch/logGroup:LogGroup")]
    assert len(groups) == len(FUNCTIONS) + 1
    for name in groups:
        arn = f"arn:aws:logs:eu-west-1:123456789012:log-group:{name}"
        assert any(arn.startswith(pattern.removesuffix("*")) for pattern in patterns), name


def test_the_account_can_always_administer_the_key() -> None:
    policy: Any = resource_policies.key(ARNS)
    (administer,) = [each for each in policy["Statement"] if each["Sid"] == "Administer"]
    assert administer["Principal"] == {"AWS": "arn:aws:iam::123456789012:root"}
    assert administer["Action"] == ["kms:*"]


def test_only_dispatch_publishes_to_a_tenants_topic() -> None:
    policy: Any = resource_policies.tenant_topic("acme", ARNS, require_tls=True)
    denied, allowed = (
        [each for each in policy["Statement"] if each["Effect"] == effect] for effect in ("Deny", "Allow")
    )
    (allow,) = allowed
    assert allow["Condition"]["ArnLike"]["aws:PrincipalArn"][0] == ARNS.role("dispatch")
    (others,) = [each for each in denied if each["Sid"] == "NobodyElsePublishes"]
    assert others["Principal"] == {"AWS": "*"}
    assert others["Condition"]["ArnNotLike"] == allow["Condition"]["ArnLike"]
    assert {each["Resource"] for each in (allow, others)} == {ARNS.tenant_topic("acme")}


def test_an_audit_queue_takes_messages_of_its_own_tenants_topic_only() -> None:
    run = previewed("dev")
    policy = document(run.one("aws:sqs/queuePolicy:QueuePolicy", "acme.audit-policy"), "policy")
    (allow,) = [each for each in policy["Statement"] if each["Effect"] == "Allow"]
    assert allow["Principal"] == {"Service": "sns.amazonaws.com"}
    assert allow["Condition"]["ArnLike"]["aws:SourceArn"] == ARNS.tenant_topic("acme")


@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_unencrypted_connections_are_denied_wherever_data_is(stage: str) -> None:
    run = previewed(stage)
    kinds = (
        "aws:sns/topicPolicy:TopicPolicy",
        "aws:sqs/queuePolicy:QueuePolicy",
        "aws:s3/bucketPolicy:BucketPolicy",
    )
    for kind in kinds:
        assert run.of_type(kind), kind
        for each in run.of_type(kind):
            deny = [one for one in document(each, "policy")["Statement"] if one["Sid"] == "TlsOnly"]
            assert [one["Condition"] for one in deny] == [{"Bool": {"aws:SecureTransport": "false"}}], (
                each.urn
            )


@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_every_queue_denies_everything_that_is_not_encrypted_on_its_way(stage: str) -> None:
    run = updated(stage)
    policies = {
        each.inputs["queueUrl"]: document(each, "policy")
        for each in run.of_type("aws:sqs/queuePolicy:QueuePolicy")
    }
    queues = run.of_type("aws:sqs/queue:Queue")
    assert {each.name for each in queues} >= {"dispatch-retry", "dispatch-dlq", "delivery-dlq"}
    for each in queues:
        name = each.inputs["name"]
        policy = policies[f"https://sqs.eu-west-1.amazonaws.com/123456789012/{name}"]
        (deny,) = [one for one in policy["Statement"] if one["Effect"] == "Deny"]
        assert (deny["Action"], deny["Principal"]) == ("sqs:*", {"AWS": "*"}), name
        assert deny["Resource"] == [f"arn:aws:sqs:eu-west-1:123456789012:{name}"]


def test_only_the_local_stage_goes_without_tls() -> None:
    text = json.dumps([each.inputs.get("policy") for each in previewed("local").resources.values()])
    assert "SecureTransport" not in text
