"""What the gateway answers by itself: preflights, 405s and gateway responses."""

import json
import re

import pytest
from botocore.model import StringShape
from botocore.session import get_session

from handlers.http import EXPOSED_HEADERS as HANDLERS_EXPOSED
from infra import cors
from infra.api_spec import ApiSpec
from infra.cors import Cors
from infra.gateway_responses import GATEWAY_RESPONSES, METHOD_NOT_ALLOWED
from infra.routes import ROUTES
from tests.infra.stages import previewed

ANY_ORIGIN = Cors(("*",))
SEVERAL = Cors(("https://one.example.com", "https://two.example.com"))
INTEGRATION = "aws:apigateway/integration:Integration"
PATHS = {route.path for route in ROUTES}
# The problem types of the product (`urn:onceward:problem:<slug>`), whoever answers.
SLUGS = {
    *("unauthorized", "forbidden", "not-found", "method-not-allowed", "unsupported-media-type"),
    *("body-too-large", "invalid-body", "invalid-key", "key-reused", "request-in-progress"),
    *("rate-limited", "store-unavailable", "timeout", "internal-error"),
}


@pytest.mark.parametrize("path", sorted(PATHS))
def test_every_path_with_methods_answers_any_with_405_and_options_with_cors(path: str) -> None:
    spec = ApiSpec(ANY_ORIGIN)
    mocks = {mock.method: mock for mock in spec.mocks if mock.path == path}
    assert set(mocks) == {"ANY", "OPTIONS"}
    assert mocks["ANY"].status == 405
    methods = {route.method for route in ROUTES if route.path == path} | {"OPTIONS"}
    assert mocks["ANY"].headers["Allow"] == f"'{', '.join(sorted(methods))}'"
    body = json.loads(mocks["ANY"].template)
    assert body["type"] == "urn:onceward:problem:method-not-allowed"
    assert body["status"] == 405
    assert mocks["OPTIONS"].headers["Access-Control-Allow-Methods"] == mocks["ANY"].headers["Allow"]


def test_mocks_take_bytes_as_text_and_refuse_types_that_no_template_matches() -> None:
    run = previewed("dev")
    mocks = [each for each in run.of_type(INTEGRATION) if each.inputs["type"] == "MOCK"]
    # And the one of the OpenAPI document, whose path has an OPTIONS and a 405 too.
    assert len(mocks) == 2 * (len(PATHS) + 1) + 1
    for each in mocks:
        assert each.inputs["contentHandling"] == "CONVERT_TO_TEXT"
        assert each.inputs["passthroughBehavior"] == "NEVER"
        statuses = {json.loads(text)["statusCode"] for text in each.inputs["requestTemplates"].values()}
        assert statuses == {405 if each.name.startswith("ANY ") else 200}
    for each in run.of_type("aws:apigateway/integrationResponse:IntegrationResponse"):
        assert each.inputs["contentHandling"] == "CONVERT_TO_TEXT"


def test_every_header_that_a_mock_sets_is_declared_on_its_method() -> None:
    run = previewed("dev")
    for answer in run.of_type("aws:apigateway/integrationResponse:IntegrationResponse"):
        declared = run.one("aws:apigateway/methodResponse:MethodResponse", answer.name).inputs
        assert set(answer.inputs["responseParameters"]) <= set(declared["responseParameters"])


def test_every_gateway_response_type_of_aws_is_set_and_no_other() -> None:
    known = get_session().get_service_model("apigateway").shape_for("GatewayResponseType")
    assert isinstance(known, StringShape)
    assert set(GATEWAY_RESPONSES) == set(known.enum)


@pytest.mark.parametrize("response_type", sorted(GATEWAY_RESPONSES))
def test_gateway_responses_are_problem_json_with_the_gateways_request_id(response_type: str) -> None:
    (found,) = [
        each.inputs
        for each in previewed("dev").of_type("aws:apigateway/response:Response")
        if each.inputs["responseType"] == response_type
    ]
    body = json.loads(found["responseTemplates"]["application/json"])
    assert set(body) == {"type", "title", "status", "detail", "correlationId"}
    assert str(body["status"]) == found["statusCode"]
    assert body["type"].startswith("urn:onceward:problem:")
    assert body["correlationId"] == "$context.requestId"
    headers = {
        name.removeprefix("gatewayresponse.header."): value
        for name, value in found["responseParameters"].items()
    }
    assert headers["Content-Type"] == "'application/problem+json'"
    assert headers["X-Correlation-Id"] == "context.requestId"
    assert headers["Access-Control-Allow-Origin"] == "'*'"


@pytest.mark.parametrize(
    ("response_type", "status"),
    [
        ("UNAUTHORIZED", 401),
        ("ACCESS_DENIED", 403),
        ("INVALID_API_KEY", 403),
        ("MISSING_AUTHENTICATION_TOKEN", 404),
        ("REQUEST_TOO_LARGE", 413),
        ("UNSUPPORTED_MEDIA_TYPE", 415),
        ("THROTTLED", 429),
        ("QUOTA_EXCEEDED", 429),
        ("AUTHORIZER_FAILURE", 503),
        ("AUTHORIZER_CONFIGURATION_ERROR", 503),
        ("INTEGRATION_TIMEOUT", 504),
    ],
)
def test_gateway_responses_have_the_statuses_of_the_contract(response_type: str, status: int) -> None:
    assert GATEWAY_RESPONSES[response_type].status == status


@pytest.mark.parametrize(
    "response_type", ["AUTHORIZER_FAILURE", "AUTHORIZER_CONFIGURATION_ERROR", "THROTTLED"]
)
def test_a_caller_that_may_try_again_is_told_when(response_type: str) -> None:
    _, parameters, _ = ApiSpec(ANY_ORIGIN).gateway_response(response_type)
    assert parameters["gatewayresponse.header.Retry-After"] == "'1'"


@pytest.mark.parametrize("response_type", ["AUTHORIZER_FAILURE", "AUTHORIZER_CONFIGURATION_ERROR"])
def test_an_authorizer_that_raises_is_an_outage_of_the_store(response_type: str) -> None:
    _, _, template = ApiSpec(ANY_ORIGIN).gateway_response(response_type)
    assert json.loads(template)["type"] == "urn:onceward:problem:store-unavailable"


def test_problem_types_are_those_of_the_contract() -> None:
    answered = (*GATEWAY_RESPONSES.values(), METHOD_NOT_ALLOWED)
    assert {each.slug for each in answered} <= SLUGS


def test_the_functions_and_the_gateway_expose_the_same_headers() -> None:
    assert {name.strip() for name in HANDLERS_EXPOSED.split(",")} == set(cors.EXPOSED_HEADERS)


def test_one_origin_is_answered_as_it_is() -> None:
    one = Cors(("https://www.example.com",))
    assert one.on_mocks()["Access-Control-Allow-Origin"] == "'https://www.example.com'"
    assert one.on_gateway_responses()["Access-Control-Allow-Origin"] == "'https://www.example.com'"
    assert one.with_origin("{}") == "{}"


def test_of_several_origins_a_mock_answers_the_one_that_asked_and_only_constants() -> None:
    assert "Access-Control-Allow-Origin" not in SEVERAL.on_preflight()
    template = SEVERAL.with_origin("{}")
    answered = re.findall(r'Access-Control-Allow-Origin = ("[^"]*"|\$\w+)\)', template)
    assert answered == ['"https://one.example.com"', '"https://two.example.com"']
    assert template.endswith("{}")


def test_with_several_origins_a_gateway_response_lets_any_page_read_its_error() -> None:
    assert SEVERAL.on_gateway_responses()["Access-Control-Allow-Origin"] == "'*'"
    assert "Origin" in SEVERAL.on_gateway_responses()["Vary"]


def test_gateway_text_never_starts_a_template_program() -> None:
    """A gateway response's template is not a program: `#` or `$` in a text would come out as they are."""
    for each in (*GATEWAY_RESPONSES.values(), METHOD_NOT_ALLOWED):
        assert not set("#$") & set(each.title + each.detail)
