"""Canary deploys: CodeDeploy moves each function's alias, a tenth of the calls first."""

import json
from collections.abc import Mapping
from typing import Final

import pulumi
import pulumi_aws as aws

from infra import policies
from infra.components.functions import Functions
from infra.components.operations import Operations
from infra.naming import Names
from infra.settings import FunctionName
from infra.stage import Stage

# Ten per cent for five minutes, which is one window of the alarms, and then the rest.
_CONFIGURATION: Final = "CodeDeployDefault.LambdaCanary10Percent5Minutes"
# Called once a minute, a canary of ten per cent would mostly be over before it had run at all.
_OTHERWISE: Final[Mapping[FunctionName, str]] = {
    "reconcile": "CodeDeployDefault.LambdaLinear10PercentEvery1Minute"
}
# What is watched beside `<function>-failed`, where that is not `<function>-errors` alone. Anybody can make
# the authorizer raise, so its errors ring after a quarter of an hour only; what it cannot say itself (code
# that cannot be imported) shows in the API's 5xx. A provider that is down adds to it, and holds up this one.
_ERRORS: Final[Mapping[FunctionName, tuple[str, ...]]] = {
    "authorizer": ("api-5xx",),
}


class Canary(pulumi.ComponentResource):
    """A CodeDeploy application `onceward-<stage>_functions` with a deployment group a function.

    Nothing is deployed by the update: `onceward release` starts the deployments.
    """

    def __init__(self, stage: Stage, functions: Functions, operations: Operations) -> None:
        super().__init__("onceward:index:Canary", "canary")
        self._stage = stage
        application = aws.codedeploy.Application(
            "canary-application",
            name=stage.names.platform("functions"),
            compute_platform="Lambda",
            opts=stage.child(self),
        )
        role, policy = self._role()
        for name in functions.by_name:
            aws.codedeploy.DeploymentGroup(
                f"{name}-canary",
                app_name=application.name,
                deployment_group_name=stage.names.platform(name),
                service_role_arn=role.arn,
                deployment_config_name=_OTHERWISE.get(name, _CONFIGURATION),
                deployment_style=aws.codedeploy.DeploymentGroupDeploymentStyleArgs(
                    deployment_type="BLUE_GREEN", deployment_option="WITH_TRAFFIC_CONTROL"
                ),
                alarm_configuration=aws.codedeploy.DeploymentGroupAlarmConfigurationArgs(
                    enabled=True, alarms=watched(name, stage.names)
                ),
                auto_rollback_configuration=aws.codedeploy.DeploymentGroupAutoRollbackConfigurationArgs(
                    enabled=True, events=["DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM"]
                ),
                opts=stage.child(self, depends_on=[policy, operations]),
            )
        self.register_outputs({"application": application.name})

    def _role(self) -> tuple[aws.iam.Role, aws.iam.RolePolicy]:
        role = aws.iam.Role(
            "canary-role",
            name=self._stage.names.platform("canary"),
            description="Lets CodeDeploy move the aliases of the Onceward functions",
            assume_role_policy=json.dumps(policies.trust("codedeploy.amazonaws.com")),
            opts=self._stage.child(self),
        )
        policy = aws.iam.RolePolicy(
            "canary-policy",
            name="calls",
            role=role.name,
            policy=json.dumps(policies.canary_role(self._stage.arns)),
            opts=self._stage.child(self),
        )
        return role, policy


def watched(function: FunctionName, names: Names) -> list[str]:
    """The alarms that roll a function's deployment back: what it fails at, by its own word and by Lambda's.

    Not `api-5xx`, but for the authorizer: a provider that is down (502, 504) would stop every release.
    """
    errors = _ERRORS.get(function, (f"{function}-errors",))
    return [names.platform(alarm) for alarm in (f"{function}-failed", *errors, f"{function}-throttles")]
