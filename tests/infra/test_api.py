"""The REST API: routes, deployment, REST stage, plans."""

import json
import re
from dataclasses import fields, replace
from typing import Any

import pytest

from infra import access_log, api_spec
from infra.api_spec import METHODS, ApiSpec, MethodConstants
from infra.cors import Cors
from infra.gateway_responses import GATEWAY_RESPONSES
from infra.naming import Names
from infra.routes import ROUTES, Route
from infra.settings import Settings
from tests.infra.stages import STAGES, previewed, run_stage, updated, with_tenants

ANY_ORIGIN = Cors(("*",))
METHOD = "aws:apigateway/method:Method"
INTEGRATION = "aws:apigateway/integration:Integration"
DEPLOYMENT = "aws:apigateway/deployment:Deployment"
SETTINGS = "aws:apigateway/methodSettings:MethodSettings"


def trigger(**changes: Any) -> str:
    run = run_stage("dev", with_tenants([]), **changes)
    digest: str = run.one(DEPLOYMENT, "deployment").inputs["triggers"]["content"]
    return digest


def test_every_route_but_the_webhooks_needs_the_authorizer_and_a_key() -> None:
    run = updated("dev")
    assert [route.name for route in ROUTES if route.open] == ["POST /v1/webhooks/{tenant}/{source}"]
    for route in ROUTES:
        method = run.one(METHOD, route.name).inputs
        assert method["authorization"] == ("NONE" if route.open else "CUSTOM")
        assert method.get("authorizerId") == (None if route.open else "id-of-api-authorizer")
        assert method["apiKeyRequired"] is not route.open
        integration = run.one(INTEGRATION, route.name).inputs
        assert integration["type"] == "AWS_PROXY"
        assert integration["integrationHttpMethod"] == "POST"
        assert integration["uri"].endswith(f":onceward-dev_{route.function}:live/invocations")


def test_the_authorizer_is_keyed_by_the_api_key_and_called_by_its_alias() -> None:
    (authorizer,) = updated("dev").of_type("aws:apigateway/authorizer:Authorizer")
    assert authorizer.inputs["type"] == "REQUEST"
    assert authorizer.inputs["identitySource"] == "method.request.header.x-api-key"
    assert authorizer.inputs["authorizerResultTtlInSeconds"] == 60
    assert authorizer.inputs["authorizerUri"].endswith(":onceward-dev_authorizer:live/invocations")


def test_bodies_arrive_as_the_bytes_that_were_sent() -> None:
    (api,) = previewed("dev").of_type("aws:apigateway/restApi:RestApi")
    assert api.inputs["binaryMediaTypes"] == ["*/*"]


def test_the_deployment_waits_for_everything_it_freezes() -> None:
    run = updated("dev")
    deployment = run.one(DEPLOYMENT, "deployment")
    frozen = ("method", "integration", "methodResponse", "integrationResponse", "response", "authorizer")
    for kind in frozen:
        found = [each for each in run.resources.values() if each.type.startswith(f"aws:apigateway/{kind}:")]
        assert found, kind
        assert {each.urn for each in found} <= deployment.dependencies, kind


def test_the_deployment_is_replaced_when_its_content_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    before = trigger()
    assert trigger(corsOrigins=["https://www.example.com"]) != before
    assert trigger(authorizerCacheSeconds=61) != before
    assert trigger(redeploy=1) not in (before, trigger(redeploy=2))
    changed = replace(GATEWAY_RESPONSES["THROTTLED"], detail="Another text.")
    monkeypatch.setattr(api_spec, "GATEWAY_RESPONSES", {**GATEWAY_RESPONSES, "THROTTLED": changed})
    assert trigger() != before


def test_the_content_is_every_route_with_its_function() -> None:
    digests = {
        ApiSpec(ANY_ORIGIN, routes).digest()
        for routes in (
            ROUTES,
            ROUTES[:-1],
            (*ROUTES, Route("DELETE", "/v1/leads/{id}", "read")),
            (replace(ROUTES[0], open=True), *ROUTES[1:]),
            (replace(ROUTES[0], function="read"), *ROUTES[1:]),
        )
    }
    assert len(digests) == 5


@pytest.mark.parametrize("name", [each.name for each in fields(MethodConstants)])
def test_what_all_methods_have_alike_is_content_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = ApiSpec(ANY_ORIGIN).digest()
    other: dict[str, Any] = {name: "another"}
    monkeypatch.setattr(api_spec, "METHODS", replace(METHODS, **other))
    assert ApiSpec(ANY_ORIGIN).digest() != before


def test_the_deployment_stays_when_other_things_change() -> None:
    before = trigger()
    assert trigger(logRetentionDays=14) == before
    assert trigger(audit=False) == before
    assert trigger(logLevel="DEBUG") == before
    assert trigger(alarmEmail="ops@example.com") == before


def test_a_new_deployment_is_there_before_the_old_one_goes() -> None:
    assert not previewed("dev").one(DEPLOYMENT, "deployment").delete_before_replace


def test_the_gateway_may_call_each_function_for_its_own_routes_only() -> None:
    found = {
        (each.inputs["function"], each.inputs["qualifier"], each.inputs["sourceArn"])
        for each in updated("dev").of_type("aws:lambda/permission:Permission")
        if each.inputs["principal"] == "apigateway.amazonaws.com"
    }
    api = "arn:aws:execute-api:eu-west-1:123456789012:api1"
    assert found == {
        *(
            ("onceward-dev_ingest", "live", f"{api}/dev/POST/v1/{operation}")
            for operation in ("leads", "orders")
        ),
        *(
            ("onceward-dev_execute", "live", f"{api}/dev/POST/v1/{operation}")
            for operation in ("payments", "appointments")
        ),
        ("onceward-dev_webhooks", "live", f"{api}/dev/POST/v1/webhooks/*/*"),
        *(
            ("onceward-dev_read", "live", f"{api}/dev/GET/v1/{things}/*")
            for things in ("leads", "payments", "appointments", "orders", "webhook-events", "receipts")
        ),
        ("onceward-dev_authorizer", "live", f"{api}/authorizers/id-of-api-authorizer"),
    }


# What Pulumi's provider names after the logical name where the program does not (and adds 8 characters to).
AUTO_NAMED = {
    "aws:apigateway/apiKey:ApiKey": "name",
    "aws:apigateway/authorizer:Authorizer": "name",
    "aws:apigateway/restApi:RestApi": "name",
    "aws:apigateway/usagePlan:UsagePlan": "name",
    "aws:cloudwatch/dashboard:Dashboard": "dashboardName",
    "aws:cloudwatch/logGroup:LogGroup": "name",
    "aws:cloudwatch/metricAlarm:MetricAlarm": "name",
    "aws:dynamodb/table:Table": "name",
    "aws:iam/role:Role": "name",
    "aws:iam/rolePolicy:RolePolicy": "name",
    "aws:kms/alias:Alias": "name",
    "aws:lambda/alias:Alias": "name",
    "aws:lambda/function:Function": "name",
    "aws:lambda/permission:Permission": "statementId",
    "aws:s3/bucket:Bucket": "bucket",
    "aws:sns/topic:Topic": "name",
    "aws:sqs/queue:Queue": "name",
}


@pytest.mark.parametrize("stage", STAGES)
def test_what_pulumi_names_by_itself_gets_a_name_that_aws_takes(stage: str) -> None:
    unnamed = [
        each
        for each in previewed(stage).resources.values()
        if each.type in AUTO_NAMED and AUTO_NAMED[each.type] not in each.inputs
    ]
    assert {each.type for each in unnamed} >= {"aws:lambda/permission:Permission"}
    for each in unnamed:
        # A statement id has at most 100 characters (Lambda, AddPermission), a role's name 64.
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,90}", each.name), each.urn


def test_the_access_log_is_json_with_tenant_and_correlation_id_and_no_header_of_the_caller() -> None:
    (stage,) = updated("dev").of_type("aws:apigateway/stage:Stage")
    line = json.loads(stage.inputs["accessLogSettings"]["format"])
    assert line == access_log.line(Names("dev"))
    assert line["service"] == "onceward-dev_api"
    assert line["tenant"] == "$context.authorizer.tenantId"
    assert line["correlationId"] == "$context.requestId"
    assert stage.inputs["xrayTracingEnabled"] is True
    # API Gateway escapes nothing: only what cannot hold a quote may be in the line.
    assert not [value for value in line.values() if "userAgent" in value or ".path" in value]


def test_requests_are_never_written_to_the_execution_log() -> None:
    # A method's own settings take the place of the general ones, so every one of them has to say it.
    found = previewed("dev").of_type(SETTINGS)
    assert {each.inputs["methodPath"] for each in found} > {"*/*"}
    for each in found:
        settings = each.inputs["settings"]
        assert (settings["loggingLevel"], settings["dataTraceEnabled"]) == ("OFF", False)
        assert settings["metricsEnabled"] is True


def test_what_no_usage_plan_bounds_has_a_rate_of_its_own() -> None:
    run = updated("dev")
    (general,) = [each for each in run.of_type(SETTINGS) if each.inputs["methodPath"] == "*/*"]
    assert "throttlingRateLimit" not in general.inputs["settings"]
    (webhooks,) = [each for each in run.of_type(SETTINGS) if each is not general]
    assert webhooks.inputs["methodPath"] == "v1/webhooks/{tenant}/{source}/POST"
    limits = [webhooks.inputs["settings"][f"throttling{kind}Limit"] for kind in ("Rate", "Burst")]
    default = Settings(stage="dev")
    assert limits == [default.webhook_rate_per_second, default.webhook_burst]
    # Both change the REST stage, which AWS refuses to have changed twice at a time.
    assert general.urn in webhooks.dependencies
    run = run_stage("dev", with_tenants([]), webhookRatePerSecond=7, webhookBurst=3)
    other = run.one(SETTINGS, webhooks.name)
    limits = [other.inputs["settings"][f"throttling{kind}Limit"] for kind in ("Rate", "Burst")]
    assert limits == [7, 3]


def test_the_accounts_logging_role_is_made_only_on_request_and_is_never_deleted() -> None:
    account = "aws:apigateway/account:Account"
    assert previewed("prod").of_type(account) == []
    run = previewed("dev")
    (owned,) = run.of_type(account)
    (stage,) = run.of_type("aws:apigateway/stage:Stage")
    assert owned.retain
    role = run.one("aws:iam/role:Role", "api-logging-role")
    assert role.retain
    # It stays when the stack goes: under a fixed name the next stack could not make its own.
    assert "name" not in role.inputs
    assert owned.urn in stage.dependencies


def test_a_custom_domain_becomes_the_urls_host() -> None:
    arn = "arn:aws:acm:eu-west-1:123456789012:certificate/abc"
    run = run_stage(
        "prod",
        with_tenants([]),
        preview=False,
        customDomain={"name": "api.example.com", "certificateArn": arn},
    )
    assert run.outputs["apiUrl"] == "https://api.example.com"
    (domain,) = run.of_type("aws:apigateway/domainName:DomainName")
    assert domain.inputs["regionalCertificateArn"] == arn
    assert domain.inputs["securityPolicy"] == "TLS_1_2"
    # What the domain's alias record in DNS needs.
    assert run.outputs["customDomain"] == {
        "name": "api.example.com",
        "target": "d-1.api.example.com.example",
        "zoneId": "Z1",
    }
    assert "customDomain" not in updated("prod").outputs


def test_each_tier_is_one_usage_plan_with_its_limits() -> None:
    run = updated("dev")
    (plan,) = [each for each in run.of_type("aws:apigateway/usagePlan:UsagePlan") if each.name == "plan-pro"]
    assert plan.inputs["apiStages"] == [{"apiId": "id-of-rest-api", "stage": "dev"}]
    assert plan.inputs["throttleSettings"].keys() == {"rateLimit", "burstLimit"}
    assert plan.inputs["quotaSettings"]["period"] == "MONTH"
