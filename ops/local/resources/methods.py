"""API Gateway methods with their integrations and the responses of both."""

from typing import Any, ClassVar

from ops.local.clients import Clients
from ops.local.diff import Identity
from ops.local.resources.base import Inputs, Made, Provider, without_missing
from ops.local.state import Entry


def _at(inputs: Inputs) -> dict[str, Any]:
    """The address of a method."""
    return {
        "restApiId": inputs["restApi"],
        "resourceId": inputs["resourceId"],
        "httpMethod": inputs["httpMethod"],
    }


def _id(prefix: str, inputs: Inputs) -> str:
    parts = (inputs["restApi"], inputs["resourceId"], inputs["httpMethod"], inputs.get("statusCode"))
    return "-".join([prefix, *(str(part) for part in parts if part)])


_METHOD = ("restApi", "resourceId", "httpMethod")


class Method(Provider):
    """aws.apigateway.Method."""

    kind: ClassVar = "aws:apigateway/method:Method"
    identity: ClassVar = Identity(names=_METHOD)
    applied: ClassVar = frozenset(
        {
            *_METHOD, "authorization", "authorizerId", "authorizationScopes", "apiKeyRequired",
            "operationName", "requestParameters", "requestModels", "requestValidatorId",
        }
    )  # fmt: skip

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """PutMethod."""
        aws.apigateway.put_method(
            **_at(inputs),
            authorizationType=inputs["authorization"],
            apiKeyRequired=bool(inputs.get("apiKeyRequired")),
            **without_missing(
                authorizerId=inputs.get("authorizerId"),
                authorizationScopes=inputs.get("authorizationScopes"),
                operationName=inputs.get("operationName"),
                requestParameters=inputs.get("requestParameters"),
                requestModels=inputs.get("requestModels"),
                requestValidatorId=inputs.get("requestValidatorId"),
            ),
        )
        return Made(_id("agm", inputs), {})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """PutMethod again, and then what hung on the old one.

        UpdateMethod would leave that alone, but the emulator's stores the text 'false' for a false.
        """
        there = aws.apigateway.get_method(**_at(inputs))
        made = self.create(aws, old.id, inputs)
        for status, response in there.get("methodResponses", {}).items():
            aws.apigateway.put_method_response(**_at(inputs), statusCode=status, **_settings(response))
        if there.get("methodIntegration"):
            _put_back(aws, inputs, dict(there["methodIntegration"]))
        return made

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteMethod."""
        try:
            aws.apigateway.delete_method(**_at(old.inputs))
        except aws.apigateway.exceptions.NotFoundException:
            return


def _settings(there: Any) -> dict[str, Any]:  # noqa: ANN401 (one of boto3's answers)
    """An answer as arguments to make the same again."""
    left_out = {"ResponseMetadata", "statusCode", "integrationResponses", "cacheNamespace"}
    return {name: value for name, value in there.items() if value not in (None, "") and name not in left_out}


def _put_back(aws: Clients, inputs: Inputs, integration: dict[str, Any]) -> None:
    settings = _settings(integration)
    settings["integrationHttpMethod"] = settings.pop("httpMethod", None)
    aws.apigateway.put_integration(**_at(inputs), **without_missing(**settings))
    _put_back_responses(aws, inputs, integration)


def _put_back_responses(aws: Clients, inputs: Inputs, integration: dict[str, Any]) -> None:
    for status, response in integration.get("integrationResponses", {}).items():
        aws.apigateway.put_integration_response(**_at(inputs), statusCode=status, **_settings(response))


class MethodResponse(Provider):
    """aws.apigateway.MethodResponse."""

    kind: ClassVar = "aws:apigateway/methodResponse:MethodResponse"
    identity: ClassVar = Identity(names=(*_METHOD, "statusCode"))
    applied: ClassVar = frozenset({*_METHOD, "statusCode", "responseModels", "responseParameters"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """PutMethodResponse."""
        names = ("responseModels", "responseParameters")
        aws.apigateway.put_method_response(
            **_at(inputs), statusCode=inputs["statusCode"], **{n: inputs[n] for n in names if n in inputs}
        )
        return Made(_id("agmr", inputs), {})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """PutMethodResponse over the old one."""
        return self.create(aws, old.id, inputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteMethodResponse."""
        try:
            aws.apigateway.delete_method_response(**_at(old.inputs), statusCode=old.inputs["statusCode"])
        except aws.apigateway.exceptions.NotFoundException:
            return


class Integration(Provider):
    """aws.apigateway.Integration."""

    kind: ClassVar = "aws:apigateway/integration:Integration"
    identity: ClassVar = Identity(names=_METHOD)
    applied: ClassVar = frozenset(
        {
            *_METHOD, "type", "integrationHttpMethod", "uri", "credentials", "contentHandling",
            "connectionType", "passthroughBehavior", "requestParameters", "requestTemplates",
            "timeoutMilliseconds", "cacheKeyParameters",
        }
    )  # fmt: skip

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """PutIntegration."""
        same = (
            "type", "integrationHttpMethod", "uri", "credentials", "contentHandling", "connectionType",
            "passthroughBehavior", "requestParameters", "requestTemplates", "cacheKeyParameters",
        )  # fmt: skip
        settings = {name: inputs[name] for name in same if name in inputs}
        if "timeoutMilliseconds" in inputs:
            settings["timeoutInMillis"] = inputs["timeoutMilliseconds"]
        aws.apigateway.put_integration(**_at(inputs), **settings)
        return Made(_id("agi", inputs), {})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """PutIntegration again, and then its responses, which go with the old one."""
        there = aws.apigateway.get_integration(**_at(inputs))
        made = self.create(aws, old.id, inputs)
        _put_back_responses(aws, inputs, dict(there))
        return made

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteIntegration."""
        try:
            aws.apigateway.delete_integration(**_at(old.inputs))
        except aws.apigateway.exceptions.NotFoundException:
            return


class IntegrationResponse(Provider):
    """aws.apigateway.IntegrationResponse."""

    kind: ClassVar = "aws:apigateway/integrationResponse:IntegrationResponse"
    identity: ClassVar = Identity(names=(*_METHOD, "statusCode"))
    _settings: ClassVar = ("contentHandling", "responseParameters", "responseTemplates", "selectionPattern")
    applied: ClassVar = frozenset({*_METHOD, "statusCode", *_settings})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """PutIntegrationResponse."""
        settings = {name: inputs[name] for name in self._settings if name in inputs}
        aws.apigateway.put_integration_response(**_at(inputs), statusCode=inputs["statusCode"], **settings)
        return Made(_id("agir", inputs), {})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """PutIntegrationResponse over the old one."""
        return self.create(aws, old.id, inputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteIntegrationResponse."""
        try:
            aws.apigateway.delete_integration_response(**_at(old.inputs), statusCode=old.inputs["statusCode"])
        except aws.apigateway.exceptions.NotFoundException:
            return


PROVIDERS = (Method, MethodResponse, Integration, IntegrationResponse)
