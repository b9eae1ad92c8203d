"""The OpenAPI document that the gateway serves: word for word, without a key, part of the deployment."""

import json
from pathlib import Path

import pytest

from infra import openapi
from infra.api_spec import ApiSpec
from infra.cors import Cors
from infra.program import REPOSITORY
from tests.infra.stages import updated

METHOD = "aws:apigateway/method:Method"
ANSWER = "aws:apigateway/integrationResponse:IntegrationResponse"
NAME = "GET /v1/openapi.json"


def test_the_template_is_the_document_and_nothing_in_it_is_velocity() -> None:
    document = {"$ref": "#/components/a", "pattern": "^\\$#set($x = 1)\\\\$", "text": "10 € ##"}
    text = openapi.template(json.dumps(document))
    assert json.loads(text) == document
    assert not set(text) & {"$", "#"}
    assert text.isascii()


def test_anybody_may_have_the_document_of_the_repository() -> None:
    run = updated("dev")
    method = run.one(METHOD, NAME).inputs
    assert method["authorization"] == "NONE"
    assert not method.get("apiKeyRequired")
    answer = run.one(ANSWER, NAME).inputs
    assert answer["statusCode"] == "200"
    assert answer["responseParameters"]["method.response.header.Content-Type"] == "'application/json'"
    template = answer["responseTemplates"]["application/json"]
    assert json.loads(template) == json.loads(openapi.read(REPOSITORY))


def test_another_document_is_another_deployment() -> None:
    cors = Cors(("*",))
    assert ApiSpec(cors, openapi='{"a": 1}').digest() != ApiSpec(cors, openapi='{"a": 2}').digest()


def test_a_document_that_no_template_can_hold_stops_the_update(tmp_path: Path) -> None:
    file = tmp_path / openapi.FILE
    file.parent.mkdir()
    file.write_text(json.dumps({"text": "a" * openapi.MAX_TEMPLATE_BYTES}))
    with pytest.raises(ValueError, match=r"docs/openapi\.json: API Gateway takes a template of at most"):
        openapi.read(tmp_path)
