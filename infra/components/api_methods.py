"""Paths, methods and mocks of the REST API: resources made from `infra.api_spec`, one for one."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from infra.api_spec import METHODS, MOCK_MEDIA_TYPES, ApiSpec, Mock
from infra.routes import Route


@dataclass(frozen=True)
class MethodScope:
    """Where methods are made: the API, its resources' parent, its authorizer and the functions' URIs."""

    api: aws.apigateway.RestApi
    parent: pulumi.Resource
    authorizer_id: pulumi.Input[str]
    uris: Mapping[str, pulumi.Input[str]]

    @property
    def opts(self) -> pulumi.ResourceOptions:
        """Options of every resource here."""
        return pulumi.ResourceOptions(parent=self.parent)


def make_methods(spec: ApiSpec, scope: MethodScope) -> list[pulumi.Resource]:
    """Make every path, route and mock; returns what a deployment has to wait for."""
    paths = _paths(spec, scope)
    made: list[pulumi.Resource] = []
    for route in spec.routes:
        made += _route(route, paths[route.path], scope)
    for mock in spec.mocks:
        made += _mock(mock, paths[mock.path], scope)
    return made


def _paths(spec: ApiSpec, scope: MethodScope) -> dict[str, pulumi.Output[str]]:
    ids: dict[str, pulumi.Output[str]] = {"": scope.api.root_resource_id}
    for path in spec.paths:
        parent, _, part = path.rpartition("/")
        resource = aws.apigateway.Resource(
            path, rest_api=scope.api.id, parent_id=ids[parent], path_part=part, opts=scope.opts
        )
        ids[path] = resource.id
    return ids


def _route(route: Route, resource_id: pulumi.Input[str], scope: MethodScope) -> list[pulumi.Resource]:
    method = aws.apigateway.Method(
        route.name,
        rest_api=scope.api.id,
        resource_id=resource_id,
        http_method=route.method,
        authorization=METHODS.mock_authorization if route.open else METHODS.route_authorization,
        authorizer_id=None if route.open else scope.authorizer_id,
        api_key_required=METHODS.route_needs_key and not route.open,
        opts=scope.opts,
    )
    integration = aws.apigateway.Integration(
        route.name,
        rest_api=scope.api.id,
        resource_id=resource_id,
        http_method=method.http_method,
        type=METHODS.route_integration,
        integration_http_method=METHODS.route_calls_by,
        uri=scope.uris[route.function],
        opts=scope.opts,
    )
    return [method, integration]


def _mock(mock: Mock, resource_id: pulumi.Input[str], scope: MethodScope) -> list[pulumi.Resource]:
    method = aws.apigateway.Method(
        mock.name,
        rest_api=scope.api.id,
        resource_id=resource_id,
        http_method=mock.method,
        authorization=METHODS.mock_authorization,
        opts=scope.opts,
    )
    integration = aws.apigateway.Integration(
        mock.name,
        rest_api=scope.api.id,
        resource_id=resource_id,
        http_method=method.http_method,
        type="MOCK",
        content_handling=METHODS.mock_content,
        passthrough_behavior=METHODS.mock_passthrough,
        request_templates=dict.fromkeys(MOCK_MEDIA_TYPES, json.dumps({"statusCode": mock.status})),
        opts=scope.opts,
    )
    return [method, integration, *_answer(mock, resource_id, integration.http_method, scope)]


def _answer(
    mock: Mock, resource_id: pulumi.Input[str], http_method: pulumi.Input[str], scope: MethodScope
) -> list[pulumi.Resource]:
    answer = aws.apigateway.MethodResponse(
        mock.name,
        rest_api=scope.api.id,
        resource_id=resource_id,
        http_method=http_method,
        status_code=str(mock.status),
        response_parameters={f"method.response.header.{name}": False for name in mock.declared_headers},
        opts=scope.opts,
    )
    mapping = aws.apigateway.IntegrationResponse(
        mock.name,
        rest_api=scope.api.id,
        resource_id=resource_id,
        http_method=answer.http_method,
        status_code=answer.status_code,
        content_handling=METHODS.mock_content,
        response_parameters={f"method.response.header.{name}": value for name, value in mock.headers.items()},
        response_templates={"application/json": mock.template},
        opts=scope.opts,
    )
    return [answer, mapping]
