"""What makes an API Gateway REST API reachable: deployments, stages, domains and the account's settings."""

from typing import Any, ClassVar

from ops.local.clients import Clients
from ops.local.diff import Identity
from ops.local.resources.base import Inputs, Made, Provider, json_text, without_missing
from ops.local.resources.rest_apis import patches
from ops.local.state import Entry


class Deployment(Provider):
    """aws.apigateway.Deployment."""

    kind: ClassVar = "aws:apigateway/deployment:Deployment"
    identity: ClassVar = Identity(fixed=("restApi", "triggers", "description", "variables"))
    applied: ClassVar = frozenset(identity.fixed)

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateDeployment. `triggers` only say when a new one is due."""
        there = aws.apigateway.create_deployment(
            restApiId=inputs["restApi"], description=inputs.get("description", "")
        )
        return Made(there["id"], {})

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteDeployment."""
        try:
            aws.apigateway.delete_deployment(restApiId=old.inputs["restApi"], deploymentId=old.id)
        except aws.apigateway.exceptions.NotFoundException:
            return


class Stage(Provider):
    """aws.apigateway.Stage."""

    kind: ClassVar = "aws:apigateway/stage:Stage"
    identity: ClassVar = Identity(names=("restApi", "stageName"), fixed=("variables",))
    applied: ClassVar = frozenset(
        {
            "restApi",
            "stageName",
            "deployment",
            "description",
            "variables",
            "xrayTracingEnabled",
            "accessLogSettings",
        }
    )

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateStage, and the access log, which that does not take."""
        api, stage = inputs["restApi"], inputs["stageName"]
        aws.apigateway.create_stage(
            restApiId=api,
            stageName=stage,
            deploymentId=inputs["deployment"],
            tracingEnabled=bool(inputs.get("xrayTracingEnabled")),
            **without_missing(description=inputs.get("description"), variables=inputs.get("variables")),
        )
        operations = _access_log({}, inputs)
        if operations:
            aws.apigateway.update_stage(restApiId=api, stageName=stage, patchOperations=operations)
        outputs = {
            "arn": f"arn:aws:apigateway:{aws.region}::/restapis/{api}/stages/{stage}",
            "executionArn": aws.arn("execute-api", f"{api}/{stage}"),
            "invokeUrl": f"{aws.endpoint_url}/_aws/execute-api/{api}/{stage}",
        }
        return Made(f"ags-{api}-{stage}", outputs)

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """UpdateStage."""
        paths = {
            "deployment": "/deploymentId",
            "description": "/description",
            "xrayTracingEnabled": "/tracingEnabled",
        }
        aws.apigateway.update_stage(
            restApiId=inputs["restApi"],
            stageName=inputs["stageName"],
            patchOperations=[*patches(old.inputs, inputs, paths), *_access_log(old.inputs, inputs)],
        )
        return Made(old.id, old.outputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteStage."""
        try:
            aws.apigateway.delete_stage(restApiId=old.inputs["restApi"], stageName=old.inputs["stageName"])
        except aws.apigateway.exceptions.NotFoundException:
            return


def _access_log(old: Inputs, new: Inputs) -> list[Any]:
    before, after = old.get("accessLogSettings", {}), new.get("accessLogSettings", {})
    if before and not after:
        return [{"op": "remove", "path": "/accessLogSettings"}]
    paths = {"destinationArn": "/accessLogSettings/destinationArn", "format": "/accessLogSettings/format"}
    return patches(before, after, paths)


_METHOD_SETTINGS = {
    "metricsEnabled": "metrics/enabled",
    "loggingLevel": "logging/loglevel",
    "dataTraceEnabled": "logging/dataTrace",
    "throttlingBurstLimit": "throttling/burstLimit",
    "throttlingRateLimit": "throttling/rateLimit",
    "cachingEnabled": "caching/enabled",
    "cacheTtlInSeconds": "caching/ttlInSeconds",
    "cacheDataEncrypted": "caching/dataEncrypted",
}
"""Settings to the ends of UpdateStage's paths."""


class MethodSettings(Provider):
    """aws.apigateway.MethodSettings."""

    kind: ClassVar = "aws:apigateway/methodSettings:MethodSettings"
    identity: ClassVar = Identity(names=("restApi", "stageName", "methodPath"))
    applied: ClassVar = frozenset({"restApi", "stageName", "methodPath", "settings"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """UpdateStage. Raises ValueError for a setting that is not known here."""
        strange = sorted(inputs["settings"].keys() - _METHOD_SETTINGS.keys())
        if strange:
            raise ValueError(f"settings: not applied by the local platform: {', '.join(strange)}")
        prefix = _settings_path(inputs)
        operations: list[Any] = [
            {"op": "replace", "path": f"{prefix}/{_METHOD_SETTINGS[key]}", "value": json_text(value)}
            for key, value in inputs["settings"].items()
        ]
        aws.apigateway.update_stage(
            restApiId=inputs["restApi"], stageName=inputs["stageName"], patchOperations=operations
        )
        return Made(f"{inputs['restApi']}-{inputs['stageName']}-{inputs['methodPath']}", {})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """Remove the old settings and set the new."""
        self.delete(aws, old)
        return self.create(aws, old.id, inputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """UpdateStage: remove the whole of it."""
        try:
            aws.apigateway.update_stage(
                restApiId=old.inputs["restApi"],
                stageName=old.inputs["stageName"],
                patchOperations=[{"op": "remove", "path": _settings_path(old.inputs)}],
            )
        except aws.apigateway.exceptions.NotFoundException:
            return


def _settings_path(inputs: Inputs) -> str:
    """`/RESOURCE/METHOD`, the resource's own slashes escaped as JSON Pointer has it."""
    resource, _, method = inputs["methodPath"].rpartition("/")
    return f"/{resource.replace('~', '~0').replace('/', '~1')}/{method}"


class Account(Provider):
    """aws.apigateway.Account: the role by which API Gateway writes logs, one an account and region."""

    kind: ClassVar = "aws:apigateway/account:Account"
    identity: ClassVar = Identity()
    applied: ClassVar = frozenset({"cloudwatchRoleArn"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """UpdateAccount."""
        self._set(aws, inputs.get("cloudwatchRoleArn", ""))
        return Made("api-gateway-account", {})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """As create."""
        return self.create(aws, old.id, inputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """UpdateAccount to no role."""
        self._set(aws, "")

    def _set(self, aws: Clients, role: str) -> None:
        aws.apigateway.update_account(
            patchOperations=[{"op": "replace", "path": "/cloudwatchRoleArn", "value": role}]
        )


PROVIDERS = (Deployment, Stage, MethodSettings, Account)
