"""One Lambda function with everything that is its own: role, log group, versions and the alias `live`."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import pulumi
import pulumi_aws as aws

from handlers.domain.metric_catalogue import NAMESPACE
from infra import policies
from infra.naming import ALIAS
from infra.settings import FunctionName
from infra.stage import Stage

Bundle = Callable[[str, Literal["aarch64", "native"]], Path]
"""Builds a function's zip for a platform and returns its path (`infra.bundle.build`)."""

# Lambda gives CPU in proportion to memory. All functions wait for a few calls to AWS; what costs
# CPU is the cold start (imports), and 512 MB is the usual knee between its length and the price.
_MEMORY_MB: Final = 512
# With canaries these are CodeDeploy's from the second update on: an update that set them would send all calls
# to the new code at once.
_MOVED_BY_CODE_DEPLOY: Final = ["functionVersion", "routingConfig"]


@dataclass(frozen=True)
class FunctionSpec:
    """A function: name (its module in `handlers`), timeout in seconds, its own environment variables."""

    name: FunctionName
    timeout_seconds: int
    environment: Mapping[str, pulumi.Input[str]]


class Function(pulumi.ComponentResource):
    """A function under a role of its own that may make only the calls in `infra.policies`."""

    def __init__(
        self,
        spec: FunctionSpec,
        stage: Stage,
        key_arn: pulumi.Input[str],
        bundle: Bundle,
        *,
        before: Sequence[aws.lambda_.Alias],
    ) -> None:
        """`before`: the aliases that have to be at their new versions before this one is moved."""
        super().__init__("onceward:index:Function", spec.name)
        role, policy = self._role(spec.name, stage)
        logs = aws.cloudwatch.LogGroup(
            f"{spec.name}-logs",
            name=stage.names.log_group(spec.name),
            retention_in_days=stage.settings.log_retention_days,
            kms_key_id=key_arn,
            opts=stage.child(self),
        )
        self.resource = self._function(spec, stage, role, bundle, depends_on=[policy, logs])
        self.alias = aws.lambda_.Alias(
            f"{spec.name}-{ALIAS}",
            name=ALIAS,
            function_name=self.resource.name,
            function_version=self.resource.version,
            opts=stage.child(
                self,
                ignore_changes=_MOVED_BY_CODE_DEPLOY if _canary(stage) else None,
                depends_on=list(before),
            ),
        )
        self.register_outputs({"name": self.resource.name, "alias": self.alias.arn})

    def _role(self, name: FunctionName, stage: Stage) -> tuple[aws.iam.Role, aws.iam.RolePolicy]:
        role = aws.iam.Role(
            f"{name}-role",
            name=stage.names.platform(name),
            description=f"What the Onceward function {name} may do",
            assume_role_policy=json.dumps(policies.trust("lambda.amazonaws.com")),
            opts=stage.child(self),
        )
        policy = aws.iam.RolePolicy(
            f"{name}-policy",
            name="calls",
            role=role.name,
            policy=json.dumps(policies.function_role(name, stage.arns)),
            opts=stage.child(self),
        )
        return role, policy

    def _function(
        self,
        spec: FunctionSpec,
        stage: Stage,
        role: aws.iam.Role,
        bundle: Bundle,
        *,
        depends_on: list[pulumi.Resource],
    ) -> aws.lambda_.Function:
        return aws.lambda_.Function(
            f"{spec.name}-function",
            name=stage.names.platform(spec.name),
            role=role.arn,
            runtime="python3.13",
            architectures=["arm64"],
            handler=f"handlers.{spec.name}.handler",
            code=pulumi.FileArchive(str(bundle(spec.name, stage.settings.bundle_platform))),
            memory_size=_MEMORY_MB,
            timeout=spec.timeout_seconds,
            reserved_concurrent_executions=stage.settings.reserved_concurrency.get(spec.name),
            environment=aws.lambda_.FunctionEnvironmentArgs(variables=_environment(spec, stage)),
            tracing_config=aws.lambda_.FunctionTracingConfigArgs(mode="Active"),
            # Each update publishes a version: the alias can go back to any of them.
            publish=True,
            # The policy first: a function called without its rights fails. The log group first: Lambda
            # would otherwise make one without key or retention.
            opts=stage.child(self, depends_on=depends_on),
        )


def _canary(stage: Stage) -> bool:
    return stage.settings.deployment == "canary"


def _environment(spec: FunctionSpec, stage: Stage) -> dict[str, pulumi.Input[str]]:
    common: dict[str, pulumi.Input[str]] = {
        "STAGE": stage.names.stage,
        "POWERTOOLS_SERVICE_NAME": spec.name,
        "POWERTOOLS_LOG_LEVEL": stage.settings.log_level,
        "POWERTOOLS_METRICS_NAMESPACE": NAMESPACE,
    }
    return common | dict(spec.environment)
