"""Tenants: each has its own resources and nothing else moves when one comes, goes or changes."""

import hashlib
import json
from collections import Counter
from typing import Any

import pytest

from tenants.models import Tenant
from tests.infra.computed import key_value
from tests.infra.engine import Run
from tests.infra.stages import document, run_stage, tenant, updated, with_tenants

CONSTANT = (
    "aws:lambda/permission:Permission",
    "aws:iam/role:Role",
    "aws:iam/rolePolicy:RolePolicy",
    "aws:cloudwatch/eventBus:EventBus",
    "aws:cloudwatch/eventRule:EventRule",
    "aws:cloudwatch/eventTarget:EventTarget",
    "aws:lambda/eventSourceMapping:EventSourceMapping",
    "aws:apigateway/usagePlan:UsagePlan",
    "pulumi:providers:aws",
)
KEY = "aws:apigateway/apiKey:ApiKey"
PLAN_KEY = "aws:apigateway/usagePlanKey:UsagePlanKey"
ITEM = "aws:dynamodb/tableItem:TableItem"
SUBSCRIPTION = "aws:sns/topicSubscription:TopicSubscription"


def of_tenant(run: Run, tenant_id: str) -> set[str]:
    """The URNs of a tenant's component and of everything in it."""
    return {
        each.urn
        for each in run.resources.values()
        if "onceward:index:Tenant" in each.urn and each.name.split(".")[0] == tenant_id
    }


def run_with(*tenants: Tenant, preview: bool = True, **changes: Any) -> Run:
    return run_stage("dev", with_tenants(tenants), preview=preview, **changes)


@pytest.mark.parametrize("newcomer", ["aaa", "mmm", "zzz"])
def test_a_new_tenant_registers_its_own_urns_wherever_it_is_in_the_alphabet(newcomer: str) -> None:
    settled = [tenant("bee"), tenant("tea")]
    before, after = run_with(*settled), run_with(*settled, tenant(newcomer))
    assert before.urns <= after.urns
    assert after.urns - before.urns == of_tenant(after, newcomer)
    for urn, each in before.resources.items():
        assert after.resources[urn].inputs == each.inputs, urn


def test_a_tenant_that_leaves_takes_its_own_urns_and_no_others() -> None:
    before, after = (
        run_with(tenant("bee"), tenant("pea"), tenant("tea")),
        run_with(tenant("bee"), tenant("tea")),
    )
    assert before.urns - after.urns == of_tenant(before, "pea")
    assert after.urns <= before.urns


def test_no_tenant_waits_for_another() -> None:
    run = run_with(tenant("bee"), tenant("tea"))
    tea = of_tenant(run, "tea")
    for urn in of_tenant(run, "bee"):
        assert not run.resources[urn].dependencies & tea


@pytest.mark.parametrize(("number", "dashboard"), [(1_000, "shared"), (100, "dedicated")])
def test_a_thousand_tenants_preview_and_the_shared_resources_stay_as_many(
    number: int, dashboard: str
) -> None:
    few = run_with(tenant("one"))
    many = run_with(*(tenant(f"tenant-{each:04}", dashboard=dashboard) for each in range(number)))
    counts = Counter(each.type for each in many.resources.values())
    assert counts["onceward:index:Tenant"] == number
    for kind in CONSTANT:
        assert counts[kind] == len(few.of_type(kind)), kind
    shared = {urn for urn in many.urns if "onceward:index:Tenant" not in urn}
    assert shared == {urn for urn in few.urns if "onceward:index:Tenant" not in urn}


def test_a_tenant_has_nothing_but_what_the_design_lists() -> None:
    run = run_with(tenant("bee", keys=("server", "web")))
    kinds = Counter(run.resources[urn].type for urn in of_tenant(run, "bee"))
    assert kinds == {
        "onceward:index:Tenant": 1,
        "aws:sns/topic:Topic": 1,
        "aws:sns/topicPolicy:TopicPolicy": 1,
        "aws:sns/topicSubscription:TopicSubscription": 1,
        "aws:sqs/queue:Queue": 1,
        "aws:sqs/queuePolicy:QueuePolicy": 1,
        KEY: 2,
        PLAN_KEY: 2,
        ITEM: 3,
        "aws:cloudwatch/metricAlarm:MetricAlarm": 5,
        "aws:cloudwatch/compositeAlarm:CompositeAlarm": 1,
        "aws:cloudwatch/dashboard:Dashboard": 1,
    }


def test_a_shared_dashboard_and_a_stage_without_audit_save_their_resources() -> None:
    run = run_with(tenant("bee", dashboard="shared"), audit=False)
    kinds = {run.resources[urn].type for urn in of_tenant(run, "bee")}
    assert not {kind for kind in kinds if kind.startswith("aws:cloudwatch/")}
    assert "aws:sqs/queue:Queue" not in kinds
    assert SUBSCRIPTION not in kinds


def test_suspending_takes_every_key_off_its_plan_and_says_so_in_the_registry() -> None:
    keys = ("server", "web")
    active = run_with(tenant("bee", keys=keys), preview=False)
    suspended = run_with(tenant("bee", keys=keys, status="suspended"), preview=False)
    assert len(active.of_type(PLAN_KEY)) == 2
    assert suspended.of_type(PLAN_KEY) == []
    assert [each.inputs["enabled"] for each in suspended.of_type(KEY)] == [False, False]
    statuses = [document(each, "item")["status"]["S"] for each in suspended.of_type(ITEM)]
    assert statuses == ["suspended"] * 3


def test_removing_a_key_removes_that_key_alone() -> None:
    before = run_with(tenant("bee", keys=("old", "new")))
    after = run_with(tenant("bee", keys=("new",)))
    gone = {before.resources[urn].name for urn in before.urns - after.urns}
    assert gone == {"bee.key.old", "bee.key.old.plan", "bee.key.old.registry"}
    assert after.urns <= before.urns


def test_the_order_of_keys_and_subscriptions_in_the_file_means_nothing() -> None:
    subscriptions = [
        {"protocol": "https", "endpoint": "https://one.example.com/hook"},
        {"protocol": "email", "endpoint": "two@example.com"},
    ]
    one = run_with(tenant("bee", keys=("a", "b"), subscriptions=tuple(subscriptions)))
    other = run_with(tenant("bee", keys=("b", "a"), subscriptions=tuple(reversed(subscriptions))))
    assert {urn: each.inputs for urn, each in one.resources.items()} == {
        urn: each.inputs for urn, each in other.resources.items()
    }


def test_a_key_is_on_its_tiers_plan() -> None:
    run = run_with(tenant("bee", tier="pro"), tenant("tea", tier="starter"), preview=False)
    plans = {each.name: each.inputs["usagePlanId"] for each in run.of_type(PLAN_KEY)}
    assert plans == {"bee.key.server.plan": "id-of-plan-pro", "tea.key.server.plan": "id-of-plan-starter"}


def test_the_registry_holds_the_hash_of_a_key_and_never_its_value() -> None:
    run = updated("dev")
    items = [each for each in run.of_type(ITEM) if each.name.startswith("acme.key.")]
    hashes = {
        "key#" + hashlib.sha256(key_value(f"acme.key.{name}").encode()).hexdigest()
        for name in ("server", "web")
    }
    assert {document(each, "item")["pk"]["S"] for each in items} == hashes
    for each in items:
        assert "value-of" not in json.dumps(each.inputs)
        assert each.secrets == frozenset()


def test_the_publishable_key_carries_its_operations_and_origins_to_the_authorizer() -> None:
    (item,) = [each for each in updated("dev").of_type(ITEM) if each.name == "acme.key.web.registry"]
    stored = document(item, "item")
    assert [each["S"] for each in stored["operations"]["L"]] == ["leads:create"]
    assert stored["origins"]["L"]
    assert stored["tenantId"] == {"S": "acme"}


def test_subscriptions_carry_their_filter_and_fall_back_to_the_delivery_dlq() -> None:
    wanted = (
        {"protocol": "email", "endpoint": "ops@example.com"},
        {
            "protocol": "sqs",
            "endpoint": "arn:aws:sqs:eu-west-1:123456789012:crm",
            "filterPolicy": {"type": ("lead.created",)},
        },
    )
    run = run_with(tenant("bee", subscriptions=wanted), audit=False, preview=False)
    by_protocol = {each.inputs["protocol"]: each.inputs for each in run.of_type(SUBSCRIPTION)}
    assert json.loads(by_protocol["sqs"]["filterPolicy"]) == {"type": ["lead.created"]}
    assert "filterPolicy" not in by_protocol["email"]
    for inputs in by_protocol.values():
        target = json.loads(inputs["redrivePolicy"])["deadLetterTargetArn"]
        assert target == "arn:aws:sqs:eu-west-1:123456789012:onceward-dev_delivery-dlq"


def test_an_https_subscriber_that_does_not_confirm_fails_nobodys_update() -> None:
    wanted = ({"protocol": "https", "endpoint": "https://hooks.example.com/onceward"},)
    run = run_with(tenant("bee", subscriptions=wanted), audit=False)
    (made,) = run.of_type(SUBSCRIPTION)
    # With it, the provider waits for the confirmation, and fails when none comes.
    assert "endpointAutoConfirms" not in made.inputs


def test_a_tenant_with_a_key_of_its_own_has_its_topic_encrypted_with_it() -> None:
    arn = "arn:aws:kms:eu-west-1:123456789012:key/11111111-2222-3333-4444-555555555555"
    run = run_with(tenant("bee", encryption={"kmsKeyArn": arn}), tenant("tea"), preview=False)
    topics = {each.name: each.inputs["kmsMasterKeyId"] for each in run.of_type("aws:sns/topic:Topic")}
    assert topics["bee.topic"] == arn
    assert topics["tea.topic"] == topics["alarms"] == "arn:aws:kms:eu-west-1:123456789012:key/k1"


def test_the_audit_queue_gets_exactly_what_was_published() -> None:
    run = run_with(tenant("bee"), preview=False)
    (audit,) = run.of_type(SUBSCRIPTION)
    assert audit.inputs["rawMessageDelivery"] is True
    assert audit.inputs["endpoint"] == "arn:aws:sqs:eu-west-1:123456789012:onceward-dev-bee_audit"
    policy = run.one("aws:sqs/queuePolicy:QueuePolicy", "bee.audit-policy")
    assert policy.urn in audit.dependencies  # the topic may send before it starts to


def test_a_key_leaves_its_old_plan_before_it_joins_another() -> None:
    assert run_with(tenant("bee")).one(PLAN_KEY, "bee.key.server.plan").delete_before_replace
