"""The REST stage: access log, tracing, metrics, and the optional domain and account-wide logging role."""

import json
from typing import Any

import pulumi
import pulumi_aws as aws

from infra import access_log, policies
from infra.routes import ROUTES
from infra.settings import CustomDomain
from infra.stage import Stage


class ApiStage(pulumi.ComponentResource):
    """The REST stage `<stage>` of the API; `url` is what callers use (without `/v1`)."""

    def __init__(
        self,
        stage: Stage,
        rest_api: aws.apigateway.RestApi,
        deployment: aws.apigateway.Deployment,
        key_arn: pulumi.Input[str],
        *,
        parent: pulumi.Resource,
    ) -> None:
        super().__init__("onceward:index:ApiStage", "api-stage", opts=pulumi.ResourceOptions(parent=parent))
        self._stage = stage
        self.access_log = self._access_log(key_arn)
        self.resource = self._rest_stage(rest_api, deployment)
        self._method_settings(rest_api)
        self.domain: dict[str, pulumi.Output[str]] | None = None
        """What a DNS record of the custom domain needs: `name`, and its alias `target` and `zoneId`."""
        self.url: pulumi.Output[str] = self.resource.invoke_url
        if stage.settings.custom_domain is not None:
            self.domain, self.url = self._domain(stage.settings.custom_domain, rest_api)
        self.register_outputs({"url": self.url})

    def _access_log(self, key_arn: pulumi.Input[str]) -> aws.cloudwatch.LogGroup:
        stage = self._stage
        return aws.cloudwatch.LogGroup(
            "access-logs",
            name=stage.names.access_log_group,
            retention_in_days=stage.settings.log_retention_days,
            kms_key_id=key_arn,
            opts=stage.child(self),
        )

    def _rest_stage(
        self, rest_api: aws.apigateway.RestApi, deployment: aws.apigateway.Deployment
    ) -> aws.apigateway.Stage:
        stage = self._stage
        account = [self._account()] if stage.settings.manage_api_gateway_account else []
        return aws.apigateway.Stage(
            "rest-stage",
            rest_api=rest_api.id,
            deployment=deployment.id,
            stage_name=stage.names.stage,
            xray_tracing_enabled=True,
            access_log_settings=aws.apigateway.StageAccessLogSettingsArgs(
                destination_arn=self.access_log.arn, format=json.dumps(access_log.line(stage.names))
            ),
            opts=stage.child(self, depends_on=account),
        )

    def _method_settings(self, rest_api: aws.apigateway.RestApi) -> None:
        """What holds for every method, and the rate of those that no usage plan bounds."""
        # No execution logs: they would hold keys and bodies. The access log and X-Ray say enough.
        common: dict[str, Any] = {
            "metrics_enabled": True,
            "logging_level": "OFF",
            "data_trace_enabled": False,
        }
        settings = self._stage.settings
        limits: dict[str, Any] = {
            "throttling_rate_limit": settings.webhook_rate_per_second,
            "throttling_burst_limit": settings.webhook_burst,
        }
        limited = {f"limit-{each.slug}": (each.settings_path, limits) for each in ROUTES if each.open}
        before: list[pulumi.Resource] = []
        for name, (path, own) in {"method-settings": ("*/*", {}), **limited}.items():
            made = aws.apigateway.MethodSettings(
                name,
                rest_api=rest_api.id,
                stage_name=self.resource.stage_name,
                method_path=path,
                # A method's own settings take the place of the general ones; they do not add to them.
                settings=aws.apigateway.MethodSettingsSettingsArgs(**common, **own),
                # One after the other: all of them update the REST stage, which refuses two at once.
                opts=self._stage.child(self, depends_on=list(before)),
            )
            before.append(made)

    def _account(self) -> pulumi.Resource:
        """Own the region's one logging role. It serves every API of the account, so it is never deleted."""
        keep = pulumi.ResourceOptions(parent=self, retain_on_delete=True)
        role = aws.iam.Role(
            # Named by Pulumi: it outlives the stack, so a stack made again needs another name.
            "api-logging-role",
            description="Lets API Gateway write the logs of every API of the account and region",
            assume_role_policy=json.dumps(policies.trust("apigateway.amazonaws.com")),
            opts=keep,
        )
        partition = self._stage.location.partition
        attachment = aws.iam.RolePolicyAttachment(
            "api-logging-policy",
            role=role.name,
            policy_arn=f"arn:{partition}:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs",
            opts=keep,
        )
        return aws.apigateway.Account(
            "api-logging-account",
            cloudwatch_role_arn=role.arn,
            opts=pulumi.ResourceOptions(parent=self, retain_on_delete=True, depends_on=[attachment]),
        )

    def _domain(
        self, wanted: CustomDomain, rest_api: aws.apigateway.RestApi
    ) -> tuple[dict[str, pulumi.Output[str]], pulumi.Output[str]]:
        domain = aws.apigateway.DomainName(
            "domain",
            domain_name=wanted.name,
            regional_certificate_arn=wanted.certificate_arn,
            endpoint_configuration=aws.apigateway.DomainNameEndpointConfigurationArgs(types="REGIONAL"),
            security_policy="TLS_1_2",
            opts=self._stage.child(self),
        )
        mapping = aws.apigateway.BasePathMapping(
            "domain-mapping",
            rest_api=rest_api.id,
            stage_name=self.resource.stage_name,
            domain_name=domain.domain_name,
            opts=self._stage.child(self),
        )
        record = {
            "name": domain.domain_name,
            "target": domain.regional_domain_name,
            "zoneId": domain.regional_zone_id,
        }
        return record, pulumi.Output.concat("https://", mapping.domain_name)
