"""API Gateway REST APIs: the API itself, its paths and what the gateway itself answers."""

from typing import Any, ClassVar, Literal

from ops.local.clients import Clients
from ops.local.diff import Identity
from ops.local.resources.base import Inputs, Made, Provider, json_text, physical_name, without_missing
from ops.local.state import Entry


def patches(old: Inputs, new: Inputs, paths: dict[str, str]) -> list[Any]:
    """API Gateway's patch operations for the properties that changed; `paths` maps a property to its path.

    A property that is gone is replaced by nothing: the service has no removal of a single value.
    """
    changed = [name for name in paths if old.get(name) != new.get(name)]
    return [{"op": "replace", "path": paths[n], "value": json_text(new.get(n, ""))} for n in changed]


class RestApi(Provider):
    """aws.apigateway.RestApi, without an OpenAPI body."""

    kind: ClassVar = "aws:apigateway/restApi:RestApi"
    # The emulator's UpdateRestApi spoils lists and nested settings: a change of one makes a new API.
    identity: ClassVar = Identity(
        fixed=(
            "binaryMediaTypes",
            "endpointConfiguration",
            "minimumCompressionSize",
            "policy",
            "apiKeySource",
        )
    )
    applied: ClassVar = frozenset({"name", "description", "disableExecuteApiEndpoint", *identity.fixed})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateRestApi; the root path comes with it."""
        there = aws.apigateway.create_rest_api(
            name=physical_name(inputs, name),
            **without_missing(
                description=inputs.get("description"),
                binaryMediaTypes=inputs.get("binaryMediaTypes"),
                endpointConfiguration=_endpoint(inputs.get("endpointConfiguration")),
                minimumCompressionSize=inputs.get("minimumCompressionSize"),
                policy=json_text(inputs["policy"]) if "policy" in inputs else None,
                apiKeySource=inputs.get("apiKeySource"),
                disableExecuteApiEndpoint=inputs.get("disableExecuteApiEndpoint"),
            ),
        )
        api = there["id"]
        resources = aws.apigateway.get_resources(restApiId=api)["items"]
        root = next(r["id"] for r in resources if r["path"] == "/")
        outputs = {
            "name": there["name"],
            "arn": f"arn:aws:apigateway:{aws.region}::/restapis/{api}",
            "executionArn": aws.arn("execute-api", api),
            "rootResourceId": root,
        }
        return Made(api, outputs)

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """UpdateRestApi."""
        paths = {
            "name": "/name",
            "description": "/description",
            "disableExecuteApiEndpoint": "/disableExecuteApiEndpoint",
        }
        aws.apigateway.update_rest_api(restApiId=old.id, patchOperations=patches(old.inputs, inputs, paths))
        return Made(old.id, {**old.outputs, "name": inputs.get("name", old.outputs["name"])})

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteRestApi."""
        try:
            aws.apigateway.delete_rest_api(restApiId=old.id)
        except aws.apigateway.exceptions.NotFoundException:
            return


def _endpoint(asked: Inputs | None) -> dict[str, Any] | None:
    if asked is None:
        return None
    types = asked["types"]
    return {"types": [types] if isinstance(types, str) else types}


class Resource(Provider):
    """aws.apigateway.Resource: one path segment."""

    kind: ClassVar = "aws:apigateway/resource:Resource"
    identity: ClassVar = Identity(names=("restApi", "parentId", "pathPart"))
    applied: ClassVar = frozenset({"restApi", "parentId", "pathPart"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateResource."""
        there = aws.apigateway.create_resource(
            restApiId=inputs["restApi"], parentId=inputs["parentId"], pathPart=inputs["pathPart"]
        )
        return Made(there["id"], {"path": there["path"]})

    def leftover(self, aws: Clients, inputs: Inputs) -> Made | None:
        """The same path below the same parent."""
        where = (inputs["parentId"], inputs["pathPart"])
        there = aws.apigateway.get_resources(restApiId=inputs["restApi"], limit=500)[
            "items"
        ]  # its largest page
        same = (path for path in there if (path.get("parentId"), path.get("pathPart")) == where)
        return next((Made(path["id"], {}) for path in same), None)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteResource."""
        try:
            aws.apigateway.delete_resource(restApiId=old.inputs["restApi"], resourceId=old.id)
        except aws.apigateway.exceptions.NotFoundException:
            return


class GatewayResponse(Provider):
    """aws.apigateway.Response: what the gateway itself answers."""

    kind: ClassVar = "aws:apigateway/response:Response"
    identity: ClassVar = Identity(names=("restApiId", "responseType"))
    applied: ClassVar = frozenset(
        {"restApiId", "responseType", "statusCode", "responseParameters", "responseTemplates"}
    )

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """PutGatewayResponse."""
        kind: Literal["DEFAULT_4XX"] = inputs["responseType"]  # one of 22; the service checks it
        aws.apigateway.put_gateway_response(
            restApiId=inputs["restApiId"],
            responseType=kind,
            **without_missing(
                statusCode=inputs.get("statusCode"),
                responseParameters=inputs.get("responseParameters"),
                responseTemplates=inputs.get("responseTemplates"),
            ),
        )
        return Made(f"aggr-{inputs['restApiId']}-{kind}", {})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """PutGatewayResponse over the old one."""
        return self.create(aws, old.id, inputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteGatewayResponse: the gateway's own answer is back."""
        try:
            aws.apigateway.delete_gateway_response(
                restApiId=old.inputs["restApiId"], responseType=old.inputs["responseType"]
            )
        except aws.apigateway.exceptions.NotFoundException:
            return


PROVIDERS = (RestApi, Resource, GatewayResponse)
