"""The REST API: what `infra.api_spec` says, deployed to one REST stage that is named after the stage."""

import json

import pulumi
import pulumi_aws as aws

from infra.api_spec import API_KEY_SOURCE, BINARY_MEDIA_TYPES, ApiSpec
from infra.components.api_methods import MethodScope, make_methods
from infra.components.api_stage import ApiStage
from infra.components.function import Function
from infra.components.functions import Functions
from infra.cors import Cors
from infra.gateway_responses import GATEWAY_RESPONSES
from infra.naming import ALIAS
from infra.stage import Stage


class Api(pulumi.ComponentResource):
    """API, authorizer, gateway responses, methods, deployment and REST stage."""

    def __init__(
        self, stage: Stage, functions: Functions, key_arn: pulumi.Input[str], *, openapi: str
    ) -> None:
        super().__init__("onceward:index:Api", "api")
        self._stage = stage
        self._functions = functions
        self.spec = ApiSpec(Cors(stage.settings.cors_origins), openapi=openapi)
        self.rest_api = aws.apigateway.RestApi(
            "rest-api",
            name=stage.names.platform("api"),
            description=f"Onceward {stage.names.stage}",
            endpoint_configuration=aws.apigateway.RestApiEndpointConfigurationArgs(types="REGIONAL"),
            binary_media_types=list(BINARY_MEDIA_TYPES),
            opts=stage.child(self),
        )
        self.authorizer = aws.apigateway.Authorizer(
            "api-authorizer",
            name=stage.names.platform("authorizer"),
            rest_api=self.rest_api.id,
            type="REQUEST",
            authorizer_uri=functions["authorizer"].alias.invoke_arn,
            identity_source=API_KEY_SOURCE,
            authorizer_result_ttl_in_seconds=stage.settings.authorizer_cache_seconds,
            opts=stage.child(self),
        )
        self._permissions()
        deployment = self._deployment([*self._methods(), *self._gateway_responses()])
        self.stage = ApiStage(stage, self.rest_api, deployment, key_arn, parent=self)
        self.register_outputs({"url": self.stage.url})

    def _methods(self) -> list[pulumi.Resource]:
        uris: dict[str, pulumi.Input[str]] = {
            name: function.alias.invoke_arn for name, function in self._functions.by_name.items()
        }
        return make_methods(self.spec, MethodScope(self.rest_api, self, self.authorizer.id, uris))

    def _gateway_responses(self) -> list[pulumi.Resource]:
        made: list[pulumi.Resource] = []
        for response_type in GATEWAY_RESPONSES:
            status, parameters, template = self.spec.gateway_response(response_type)
            response = aws.apigateway.Response(
                f"answer-{response_type.lower().replace('_', '-')}",
                rest_api_id=self.rest_api.id,
                response_type=response_type,
                status_code=status,
                response_parameters=parameters,
                response_templates={"application/json": template},
                opts=self._stage.child(self),
            )
            made.append(response)
        return made

    def _permissions(self) -> None:
        """Let the gateway call the functions: one statement a route, however many tenants there are."""
        for route in self.spec.routes:
            source = f"{self._stage.names.stage}/{route.source}"
            self._permission(route.slug, self._functions.by_name[route.function], source)
        authorizer = pulumi.Output.concat("authorizers/", self.authorizer.id)
        self._permission("authorizer", self._functions["authorizer"], authorizer)

    def _permission(self, caller: str, function: Function, source: pulumi.Input[str]) -> None:
        # Pulumi makes the statement's id of this name, and Lambda takes only letters, digits, `-` and `_`.
        aws.lambda_.Permission(
            f"may-call-{caller}",
            action="lambda:InvokeFunction",
            function=function.resource.name,
            qualifier=function.alias.name,
            principal="apigateway.amazonaws.com",
            source_arn=pulumi.Output.concat(self.rest_api.execution_arn, "/", source),
            opts=self._stage.child(self),
        )

    def _deployment(self, content: list[pulumi.Resource]) -> aws.apigateway.Deployment:
        digest = self.spec.digest(
            authorizer=json.dumps([self._stage.settings.authorizer_cache_seconds, API_KEY_SOURCE]),
            redeploy=str(self._stage.settings.redeploy),
            functions=json.dumps(
                [f"{self._stage.arns.function(name)}:{ALIAS}" for name in self._functions.by_name]
            ),
        )
        # A deployment is a frozen copy. A new digest replaces it, the new one first: the REST stage moves
        # over to it before the old one goes ("active stages pointing to this deployment" otherwise).
        return aws.apigateway.Deployment(
            "deployment",
            rest_api=self.rest_api.id,
            description=f"Content {digest}",
            triggers={"content": digest},
            # And after the functions that work on what it lets in: a new route must not be quicker than they.
            opts=self._stage.child(self, depends_on=[self.authorizer, *content, *self._functions.consumers]),
        )
