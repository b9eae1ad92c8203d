"""One usage plan a tier: rate, burst and monthly quota, which API Gateway counts per key."""

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from infra.components.api_stage import ApiStage
from infra.stage import Stage
from tenants.models import Tier


class UsagePlans(pulumi.ComponentResource):
    """The tiers' plans on the REST stage; `ids` by tier name."""

    def __init__(
        self,
        stage: Stage,
        rest_api: aws.apigateway.RestApi,
        api_stage: ApiStage,
        tiers: Mapping[str, Tier],
    ) -> None:
        super().__init__("onceward:index:UsagePlans", "usage-plans")
        self.ids: dict[str, pulumi.Output[str]] = {}
        for name, tier in tiers.items():
            plan = aws.apigateway.UsagePlan(
                f"plan-{name}",
                name=stage.names.platform(name),
                description=f"Tier {name}",
                api_stages=[
                    aws.apigateway.UsagePlanApiStageArgs(
                        api_id=rest_api.id, stage=api_stage.resource.stage_name
                    )
                ],
                throttle_settings=aws.apigateway.UsagePlanThrottleSettingsArgs(
                    rate_limit=tier.rate_per_second, burst_limit=tier.burst
                ),
                quota_settings=aws.apigateway.UsagePlanQuotaSettingsArgs(
                    limit=tier.quota_per_month, period="MONTH"
                ),
                opts=stage.child(self),
            )
            self.ids[name] = plan.id
        self.register_outputs({"ids": self.ids})
