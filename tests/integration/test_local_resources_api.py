"""An API Gateway REST API with everything around it: made, changed and deleted on the local AWS."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws
import pytest

from tests.integration.local_stack import Stack, clients, function, names, stack

__all__ = ["clients", "stack"]

pytestmark = pytest.mark.platform


def test_an_api_with_everything_around_it(stack: Stack) -> None:
    def program(changed: bool) -> None:
        api = aws.apigateway.RestApi("api", name="s-api", description="new" if changed else "old")
        path = aws.apigateway.Resource(
            "path", rest_api=api.id, parent_id=api.root_resource_id, path_part="things"
        )
        called = function(False)
        authorizer = aws.apigateway.Authorizer(
            "authorizer",
            rest_api=api.id,
            name="s-authorizer",
            type="REQUEST",
            authorizer_uri=called.invoke_arn,
            identity_source="method.request.header.x-api-key",
            authorizer_result_ttl_in_seconds=60 if changed else 30,
        )
        validator = aws.apigateway.RequestValidator(
            "validator", rest_api=api.id, name="v", validate_request_body=True
        )
        method = aws.apigateway.Method(
            "method",
            rest_api=api.id,
            resource_id=path.id,
            http_method="GET",
            authorization="NONE",
            api_key_required=changed,
            request_validator_id=validator.id,
        )
        integration = aws.apigateway.Integration(
            "integration",
            rest_api=api.id,
            resource_id=path.id,
            http_method=method.http_method,
            type="MOCK",
            passthrough_behavior="WHEN_NO_MATCH" if changed else "NEVER",
            request_templates={"application/json": '{"statusCode": 200}'},
        )
        answer = aws.apigateway.MethodResponse(
            "answer", rest_api=api.id, resource_id=path.id, http_method=method.http_method, status_code="200"
        )
        mapping = aws.apigateway.IntegrationResponse(
            "mapping",
            rest_api=api.id,
            resource_id=path.id,
            http_method=integration.http_method,
            status_code=answer.status_code,
            response_templates={"application/json": '{"made": true}'},
        )
        refusal = aws.apigateway.Response(
            "refusal",
            rest_api_id=api.id,
            response_type="ACCESS_DENIED",
            status_code="418" if changed else "403",
        )
        deployment = aws.apigateway.Deployment(
            "deployment",
            rest_api=api.id,
            triggers={"content": str(changed)},
            opts=pulumi.ResourceOptions(depends_on=[mapping, refusal, authorizer]),
        )
        stage = aws.apigateway.Stage(
            "stage", rest_api=api.id, deployment=deployment.id, stage_name="s", xray_tracing_enabled=changed
        )
        aws.apigateway.MethodSettings(
            "settings",
            rest_api=api.id,
            stage_name=stage.stage_name,
            method_path="*/*",
            settings=aws.apigateway.MethodSettingsSettingsArgs(metrics_enabled=changed, logging_level="OFF"),
        )
        key = aws.apigateway.ApiKey("key", name="s-key", description="new" if changed else "old")
        plan = aws.apigateway.UsagePlan(
            "plan",
            name="s-plan",
            api_stages=[aws.apigateway.UsagePlanApiStageArgs(api_id=api.id, stage=stage.stage_name)],
            throttle_settings=aws.apigateway.UsagePlanThrottleSettingsArgs(
                rate_limit=5, burst_limit=9 if changed else 3
            ),
        )
        aws.apigateway.UsagePlanKey("on-plan", key_id=key.id, key_type="API_KEY", usage_plan_id=plan.id)
        aws.apigateway.Account("account", cloudwatch_role_arn=called.role)
        domain = aws.apigateway.DomainName(
            "domain",
            domain_name="api.example.com",
            regional_certificate_arn="arn:aws:acm:eu-central-1:0:certificate/c",
        )
        aws.apigateway.BasePathMapping(
            "root", rest_api=api.id, stage_name=stage.stage_name, domain_name=domain.domain_name
        )
        pulumi.export("ids", {"api": api.id, "path": path.id, "plan": plan.id})
        pulumi.export("key", key.value)

    changed = stack.through(program)
    assert names(changed.replaced) == {"deployment"}
    assert names(changed.updated) == {
        *("api", "authorizer", "method", "integration", "refusal", "stage", "settings", "key", "plan")
    }
    ids, gateway = stack.outputs()["ids"], stack.aws.apigateway
    there = gateway.get_method(restApiId=ids["api"], resourceId=ids["path"], httpMethod="GET")
    assert there["apiKeyRequired"] is True
    # What hangs on a method and on an integration survives the change of either.
    assert there["methodResponses"].keys() == {"200"}
    assert there["methodIntegration"]["passthroughBehavior"] == "WHEN_NO_MATCH"
    assert there["methodIntegration"]["integrationResponses"]["200"]["responseTemplates"] == {
        "application/json": '{"made": true}'
    }
    assert len(gateway.get_deployments(restApiId=ids["api"])["items"]) == 1
    assert float(gateway.get_usage_plan(usagePlanId=ids["plan"])["throttle"]["burstLimit"]) == 9
    assert len(stack.outputs()["key"]) >= 20
