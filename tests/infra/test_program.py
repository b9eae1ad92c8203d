"""The program as a whole: what a preview promises is what an update does."""

import json
import os
import runpy
from pathlib import Path
from typing import get_args

import pytest
from pulumi.runtime import rpc
from pulumi.runtime.proto.resource_pb2 import RegisterResourceRequest, RegisterResourceResponse

from infra import bundle
from infra.access_log import MAX_TENANTS_OF_A_FILTER, TooManyTenants
from infra.program import REPOSITORY
from infra.query_limits import QueryLimitError
from infra.settings import FunctionName
from tenants.models import Tenant
from tests.infra.engine import STACK_TYPE, Engine, run
from tests.infra.stages import (
    STAGES,
    config_of,
    empty_bundle,
    previewed,
    run_stage,
    sample_tenants,
    tenant,
    updated,
    with_tenants,
)

# Documents that a person reviews in a preview: nothing in them may be unknown until the update.
REVIEWED = (
    ("aws:iam/rolePolicy:RolePolicy", "policy"),
    ("aws:iam/role:Role", "assumeRolePolicy"),
    ("aws:kms/key:Key", "policy"),
    ("aws:sns/topicPolicy:TopicPolicy", "policy"),
    ("aws:sqs/queuePolicy:QueuePolicy", "policy"),
    ("aws:cloudwatch/dashboard:Dashboard", "dashboardBody"),
    ("aws:apigateway/deployment:Deployment", "triggers"),
    ("aws:cloudwatch/eventRule:EventRule", "name"),
)


@pytest.mark.parametrize("stage", STAGES)
def test_preview_and_update_register_the_same_urns(stage: str) -> None:
    assert previewed(stage).urns == updated(stage).urns


@pytest.mark.parametrize("stage", STAGES)
def test_every_policy_dashboard_and_trigger_is_known_at_preview(stage: str) -> None:
    for kind, field in REVIEWED:
        found = previewed(stage).of_type(kind)
        assert found, kind
        for each in found:
            assert rpc.UNKNOWN not in json.dumps(each.inputs[field]), f"{each.urn} {field}"


@pytest.mark.parametrize("stage", STAGES)
def test_every_resource_has_a_component_for_a_parent(stage: str) -> None:
    for each in previewed(stage).resources.values():
        if each.type.startswith("aws:"):
            assert "onceward:index:" in each.parent, each.urn


def test_outputs_hold_what_the_local_platform_and_the_storm_read() -> None:
    outputs = updated("dev").outputs
    assert outputs["apiUrl"] == "https://api1.execute-api.eu-west-1.amazonaws.com/dev"
    assert outputs["stage"] == "dev"
    assert outputs["region"] == "eu-west-1"
    assert outputs["tables"] == {
        name: f"onceward-dev_{name}" for name in ("receipts", "records", "slots", "tenants")
    }
    assert outputs["functions"]["ingest"] == {"name": "onceward-dev_ingest", "alias": "live"}
    assert sorted(outputs["functions"]) == sorted(get_args(FunctionName))
    assert (outputs["deployment"], updated("prod").outputs["deployment"]) == ("all-at-once", "canary")
    assert set(outputs["tenants"]) == {each.id for each in sample_tenants("dev").tenants}
    assert set(outputs["tenants"]["acme"]["keys"]) == {"server", "web"}
    assert outputs["tenants"]["acme"]["topicArn"].endswith(":onceward-dev-acme")
    assert outputs["tenants"]["acme"]["auditQueueUrl"].endswith("/onceward-dev-acme_audit")


def test_a_stage_without_audit_exports_no_audit_queue() -> None:
    run = updated("prod")
    assert all(each.get("auditQueueUrl") is None for each in run.outputs["tenants"].values())
    assert not [each for each in run.of_type("aws:sqs/queue:Queue") if each.name.endswith(".audit")]


def test_key_values_leave_the_program_only_as_secrets() -> None:
    run = updated("dev")
    assert run.secret_outputs == {"tenants"}
    for each in run.resources.values():
        if each.type != "aws:apigateway/apiKey:ApiKey":
            assert "value-of-" not in json.dumps(each.inputs), each.urn


def test_the_entry_point_deploys_the_stack_that_is_selected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "build", empty_bundle)
    # As Pulumi runs it: in the directory of `main`, knowing nothing of where the repository is.
    monkeypatch.chdir(REPOSITORY / "infra")

    def entry_point() -> None:
        runpy.run_path(str(REPOSITORY / "infra"), run_name="__main__")

    assert run(entry_point, "prod", config_of("prod"), preview=True).urns == previewed("prod").urns


def test_a_stack_that_is_no_stage_is_refused_before_anything_is_declared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from infra.program import deploy

    with pytest.raises(ValueError, match=r"stack name 'Dev-1': must be a stage"):
        run(deploy, "Dev-1", config_of("dev"), preview=True)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("tier: none\nstages: [dev]\nkeys: [server]\n", r"acme\.yaml:3: tier: "),
        (
            "tier: pro\nstages: [dev, prd]\nkeys: [server]\n",
            r"acme\.yaml:4: stages\[1\]: .*Pulumi\.prd\.yaml",
        ),
        (
            "tier: pro\nstages: [dev]\nkeys: [server]\nsubscriptions:\n"
            "  - {protocol: sqs, endpoint: 'arn:aws:sqs:us-east-1:123456789012:crm'}\n",
            r"acme\.yaml:7: subscriptions\[0\]\.endpoint: .* 123456789012 in eu-west-1",
        ),
    ],
)
def test_a_faulty_tenant_file_stops_the_update_and_names_file_line_field_and_rule(
    tmp_path: Path, text: str, fault: str
) -> None:
    from infra.program import deploy
    from tenants.errors import TenantFileError

    directory = tmp_path / "tenants"
    directory.mkdir()
    (directory / "tiers.yaml").write_text((REPOSITORY / "tenants" / "tiers.yaml").read_text())
    (directory / "acme.yaml").write_text(f"id: acme\nname: Acme\n{text}")
    relative = os.path.relpath(directory, REPOSITORY)
    config = config_of("dev") | {"onceward:tenantsDirectory": relative}
    with pytest.raises(TenantFileError, match=fault):
        run(deploy, "dev", config, preview=True)


@pytest.mark.parametrize(
    ("tenants", "refused"),
    [
        ([tenant(f"bee-{number}", alarms={"enabled": False}) for number in range(90)], QueryLimitError),
        ([tenant(f"bee-{number}x") for number in range(MAX_TENANTS_OF_A_FILTER + 1)], TooManyTenants),
    ],
)
def test_tenants_that_cannot_be_watched_are_refused_before_anything_is_declared(
    tenants: list[Tenant], refused: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    register = Engine.RegisterResource

    def noted(engine: Engine, request: RegisterResourceRequest) -> RegisterResourceResponse:
        asked.append(request.type)
        return register(engine, request)

    monkeypatch.setattr(Engine, "RegisterResource", noted)
    with pytest.raises(refused):
        run_stage("dev", with_tenants(tenants))
    assert set(asked) <= {STACK_TYPE}
    # They are noted where there are any.
    run_stage("dev", with_tenants([]))
    assert "aws:kms/key:Key" in asked
