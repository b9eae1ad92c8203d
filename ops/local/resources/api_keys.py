"""API Gateway keys and usage plans."""

from typing import Any, ClassVar

from ops.local.clients import Clients
from ops.local.diff import Identity
from ops.local.resources.base import Inputs, Made, Provider, physical_name, without_missing
from ops.local.resources.rest_apis import patches
from ops.local.state import Entry


class ApiKey(Provider):
    """aws.apigateway.ApiKey; API Gateway makes the value."""

    kind: ClassVar = "aws:apigateway/apiKey:ApiKey"
    identity: ClassVar = Identity(fixed=("value",))
    applied: ClassVar = frozenset({"name", "description", "enabled", "value", "customerId"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateApiKey."""
        optional = {n: inputs[n] for n in ("value", "customerId") if n in inputs}
        there = aws.apigateway.create_api_key(
            name=physical_name(inputs, name),
            description=inputs.get("description", "Managed by Pulumi"),  # as the AWS provider has it
            enabled=inputs.get("enabled", True),
            **optional,
        )
        outputs = {
            "name": there["name"],
            "value": there["value"],
            "arn": f"arn:aws:apigateway:{aws.region}::/apikeys/{there['id']}",
        }
        return Made(there["id"], outputs)

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """UpdateApiKey; the value stays."""
        paths = {name: f"/{name}" for name in ("name", "description", "enabled", "customerId")}
        aws.apigateway.update_api_key(apiKey=old.id, patchOperations=patches(old.inputs, inputs, paths))
        return Made(old.id, {**old.outputs, "name": inputs.get("name", old.outputs["name"])})

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteApiKey."""
        try:
            aws.apigateway.delete_api_key(apiKey=old.id)
        except aws.apigateway.exceptions.NotFoundException:
            return


class UsagePlan(Provider):
    """aws.apigateway.UsagePlan."""

    kind: ClassVar = "aws:apigateway/usagePlan:UsagePlan"
    # The emulator's UpdateUsagePlan turns the list of API stages into a text: a change of it is a new plan.
    identity: ClassVar = Identity(fixed=("apiStages",))
    applied: ClassVar = frozenset({"name", "description", "apiStages", "throttleSettings", "quotaSettings"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateUsagePlan."""
        there = aws.apigateway.create_usage_plan(
            name=physical_name(inputs, name),
            apiStages=[_api_stage(stage) for stage in inputs.get("apiStages", [])],
            **without_missing(
                description=inputs.get("description"),
                throttle=inputs.get("throttleSettings"),
                quota=inputs.get("quotaSettings"),
            ),
        )
        arn = f"arn:aws:apigateway:{aws.region}::/usageplans/{there['id']}"
        return Made(there["id"], {"name": there["name"], "arn": arn})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """UpdateUsagePlan: name, description and limits."""
        operations = patches(old.inputs, inputs, {"name": "/name", "description": "/description"})
        for name, path in (("throttleSettings", "/throttle"), ("quotaSettings", "/quota")):
            before, after = old.inputs.get(name, {}), inputs.get(name, {})
            operations += patches(before, after, {key: f"{path}/{key}" for key in after})
            if before and not after:
                operations.append({"op": "remove", "path": path})
        aws.apigateway.update_usage_plan(usagePlanId=old.id, patchOperations=operations)
        return Made(old.id, {**old.outputs, "name": inputs.get("name", old.outputs["name"])})

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteUsagePlan, after taking its stages away, as AWS asks; its keys go with it."""
        try:
            aws.apigateway.delete_usage_plan(usagePlanId=old.id)
        except aws.apigateway.exceptions.NotFoundException:
            return


def _api_stage(asked: Inputs) -> Any:  # noqa: ANN401 (one of boto3's arguments)
    throttle = {t["path"]: {k: v for k, v in t.items() if k != "path"} for t in asked.get("throttles", [])}
    return {"apiId": asked["apiId"], "stage": asked["stage"], **({"throttle": throttle} if throttle else {})}


class UsagePlanKey(Provider):
    """aws.apigateway.UsagePlanKey: puts a key on a plan."""

    kind: ClassVar = "aws:apigateway/usagePlanKey:UsagePlanKey"
    identity: ClassVar = Identity(names=("keyId", "usagePlanId"), fixed=("keyType",))
    applied: ClassVar = frozenset({"keyId", "keyType", "usagePlanId"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateUsagePlanKey. The key's value is left out of the outputs: the key itself has it."""
        there = aws.apigateway.create_usage_plan_key(
            usagePlanId=inputs["usagePlanId"], keyId=inputs["keyId"], keyType=inputs["keyType"]
        )
        return Made(inputs["keyId"], {"name": there["name"]})

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteUsagePlanKey: the gateway refuses the key from the next request on."""
        try:
            aws.apigateway.delete_usage_plan_key(usagePlanId=old.inputs["usagePlanId"], keyId=old.id)
        except aws.apigateway.exceptions.NotFoundException:
            return


PROVIDERS = (ApiKey, UsagePlan, UsagePlanKey)
