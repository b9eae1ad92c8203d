"""Moving a function's `live` alias to its newest version by CodeDeploy: some of the calls first, then all."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from infra.naming import ALIAS
from ops.rollback import versions

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_codedeploy import CodeDeployClient
    from mypy_boto3_lambda import LambdaClient

_ALL_AT_ONCE: Final = "CodeDeployDefault.LambdaAllAtOnce"
SUCCEEDED: Final = "Succeeded"
# CodeDeploy API reference, DeploymentInfo: the statuses that nothing follows.
ENDED: Final = frozenset({SUCCEEDED, "Failed", "Stopped"})


class ReleaseError(Exception):
    """Nothing can be released: no function, no alias, no CodeDeploy application; the message says which."""


class NotStarted(Exception):
    """CodeDeploy did not take the deployment of one function; the message says why."""


@dataclass(frozen=True, slots=True)
class Step:
    """One alias, to be moved: published version numbers as text. `function`: the physical name."""

    function: str
    current: str
    target: str

    @property
    def is_due(self) -> bool:
        """Whether there is anything to move."""
        return self.current != self.target


@dataclass(frozen=True, slots=True)
class How:
    """How to release: all calls at once rather than a canary; without looking at any alarm."""

    all_at_once: bool = False
    ignore_alarms: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a deployment is.

    Attributes:
        status: CodeDeploy's word (InProgress, Succeeded, Failed, Stopped).
        weights: percent of the calls by version.
        reason: why it ended otherwise than well; None while it has not.
        alarms: those of the deployment group that ring, once it ended so.
    """

    status: str
    weights: dict[str, int]
    reason: str | None = None
    alarms: tuple[str, ...] = ()


class Releases:
    """CodeDeploy's deployments of one stage's functions; a group is called as its function."""

    def __init__(
        self,
        lambda_: LambdaClient,
        codedeploy: CodeDeployClient,
        cloudwatch: CloudWatchClient,
        application: str,
    ) -> None:
        self._lambda = lambda_
        self._codedeploy = codedeploy
        self._cloudwatch = cloudwatch
        self._application = application

    def step(self, function: str) -> Step:
        """From the version that `live` points at to the newest. Raises ReleaseError."""
        try:
            current = self._lambda.get_alias(FunctionName=function, Name=ALIAS)["FunctionVersion"]
        except self._lambda.exceptions.ResourceNotFoundException:
            raise ReleaseError(f"{function} has no alias {ALIAS}: is the stage deployed?") from None
        published = versions(self._lambda, function)
        if not published:
            raise ReleaseError(f"{function} has no published version: run `pulumi up` first")
        return Step(function, current, str(published[-1]))

    def start(self, step: Step, how: How) -> str:
        """Start the deployment and return its id.

        Raises:
            ReleaseError: the stage has no CodeDeploy application.
            NotStarted: this function's deployment was refused.
        """
        content = _app_spec(step)
        chosen: Any = {"deploymentConfigName": _ALL_AT_ONCE} if how.all_at_once else {}
        if how.ignore_alarms:
            # For this deployment alone; the group's own configuration stays as it is.
            chosen["overrideAlarmConfiguration"] = {"enabled": False}
        exceptions = self._codedeploy.exceptions
        try:
            answer = self._codedeploy.create_deployment(
                applicationName=self._application,
                deploymentGroupName=step.function,
                revision={
                    "revisionType": "AppSpecContent",
                    "appSpecContent": {
                        "content": content,
                        "sha256": hashlib.sha256(content.encode()).hexdigest(),
                    },
                },
                description=f"onceward release: {ALIAS} {step.current} -> {step.target}",
                **chosen,
            )
        except exceptions.ApplicationDoesNotExistException:
            raise ReleaseError(
                f"there is no CodeDeploy application {self._application}: without `deployment: canary`, "
                "`pulumi up` moves the aliases itself"
            ) from None
        except exceptions.DeploymentGroupDoesNotExistException:
            raise NotStarted("it has no deployment group: run `pulumi up` first") from None
        except exceptions.DeploymentLimitExceededException:
            raise NotStarted("a deployment of it is under way already") from None
        return answer["deploymentId"]

    def progress(self, step: Step, deployment: str) -> Progress:
        """How far a deployment is, by CodeDeploy's word and by the alias itself."""
        found = self._codedeploy.get_deployment(deploymentId=deployment)["deploymentInfo"]
        status, weights = found["status"], self._weights(step.function)
        if status not in ENDED or status == SUCCEEDED:
            return Progress(status, weights)
        error = found.get("errorInformation", {})
        said = (error.get("code"), error.get("message"), found.get("rollbackInfo", {}).get("rollbackMessage"))
        reason = ": ".join(part for part in said if part) or "CodeDeploy does not say why"
        return Progress(status, weights, reason, self._ringing(step.function))

    def _weights(self, function: str) -> dict[str, int]:
        alias = self._lambda.get_alias(FunctionName=function, Name=ALIAS)
        more = alias.get("RoutingConfig", {}).get("AdditionalVersionWeights", {})
        percents = {version: round(100 * weight) for version, weight in more.items() if weight}
        return {alias["FunctionVersion"]: 100 - sum(percents.values()), **percents}

    def _ringing(self, function: str) -> tuple[str, ...]:
        group = self._codedeploy.get_deployment_group(
            applicationName=self._application, deploymentGroupName=function
        )["deploymentGroupInfo"]
        watched = [alarm["name"] for alarm in group.get("alarmConfiguration", {}).get("alarms", [])]
        if not watched:
            return ()
        answer = self._cloudwatch.describe_alarms(AlarmNames=watched)
        return tuple(one["AlarmName"] for one in answer["MetricAlarms"] if one["StateValue"] == "ALARM")


def _app_spec(step: Step) -> str:
    # CodeDeploy User Guide, "AppSpec resources section for AWS Lambda deployments"; JSON is YAML too.
    properties = {
        "Name": step.function,
        "Alias": ALIAS,
        "CurrentVersion": step.current,
        "TargetVersion": step.target,
    }
    resource = {"function": {"Type": "AWS::Lambda::Function", "Properties": properties}}
    return json.dumps({"version": 0.0, "Resources": [resource]})
