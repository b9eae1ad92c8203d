"""What API Gateway checks before a method: authorizers and request validators."""

from typing import ClassVar

from ops.local.clients import Clients
from ops.local.diff import Identity
from ops.local.resources.base import Inputs, Made, Provider, physical_name
from ops.local.resources.rest_apis import patches
from ops.local.state import Entry

_AUTHORIZER_PATHS = {
    "name": "/name",
    "authorizerUri": "/authorizerUri",
    "identitySource": "/identitySource",
    "authorizerCredentials": "/authorizerCredentials",
    "identityValidationExpression": "/identityValidationExpression",
    "authorizerResultTtlInSeconds": "/authorizerResultTtlInSeconds",
}


class Authorizer(Provider):
    """aws.apigateway.Authorizer, answered by a function."""

    kind: ClassVar = "aws:apigateway/authorizer:Authorizer"
    identity: ClassVar = Identity(fixed=("restApi", "type"))
    applied: ClassVar = frozenset({"restApi", "type", *_AUTHORIZER_PATHS})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateAuthorizer."""
        api = inputs["restApi"]
        there = aws.apigateway.create_authorizer(
            restApiId=api,
            name=physical_name(inputs, name),
            type=inputs.get("type", "TOKEN"),
            **{key: inputs[key] for key in _AUTHORIZER_PATHS if key in inputs and key != "name"},
        )
        outputs = {
            "name": there["name"],
            "arn": f"arn:aws:apigateway:{aws.region}::/restapis/{api}/authorizers/{there['id']}",
        }
        return Made(there["id"], outputs)

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """UpdateAuthorizer."""
        aws.apigateway.update_authorizer(
            restApiId=inputs["restApi"],
            authorizerId=old.id,
            patchOperations=patches(old.inputs, inputs, _AUTHORIZER_PATHS),
        )
        return Made(old.id, {**old.outputs, "name": inputs.get("name", old.outputs["name"])})

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteAuthorizer."""
        try:
            aws.apigateway.delete_authorizer(restApiId=old.inputs["restApi"], authorizerId=old.id)
        except aws.apigateway.exceptions.NotFoundException:
            return


class RequestValidator(Provider):
    """aws.apigateway.RequestValidator."""

    kind: ClassVar = "aws:apigateway/requestValidator:RequestValidator"
    identity: ClassVar = Identity(
        fixed=("restApi", "name", "validateRequestBody", "validateRequestParameters")
    )
    applied: ClassVar = frozenset(identity.fixed)

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateRequestValidator."""
        there = aws.apigateway.create_request_validator(
            restApiId=inputs["restApi"],
            name=physical_name(inputs, name),
            validateRequestBody=bool(inputs.get("validateRequestBody")),
            validateRequestParameters=bool(inputs.get("validateRequestParameters")),
        )
        return Made(there["id"], {"name": there["name"]})

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteRequestValidator."""
        try:
            aws.apigateway.delete_request_validator(
                restApiId=old.inputs["restApi"], requestValidatorId=old.id
            )
        except aws.apigateway.exceptions.NotFoundException:
            return


PROVIDERS = (Authorizer, RequestValidator)
