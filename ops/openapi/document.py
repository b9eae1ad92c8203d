"""The whole document: every route that a function answers, and the document's own."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from handlers import http
from handlers.domain.keys import HEADER
from handlers.domain.operation import ExecuteOperation
from handlers.http_request import CORRELATION_HEADER
from infra import openapi
from infra.routes import ROUTES
from ops.openapi import problems, schemas
from ops.openapi.examples import BODIES
from ops.openapi.headers import PARAMETERS, RESPONSE_HEADERS, idempotency_key, references

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from handlers.domain.operation import AcceptOperation
    from infra.routes import Route

Json = dict[str, Any]

_HEADERS_OF_CREATED: Final = (CORRELATION_HEADER, "Location", *problems.REPLAY, "Idempotent-Body-Omitted")
_INTRODUCTION: Final = (
    "Requests may arrive twice; each takes effect once. A repeated request gets the first one's answer. "
    "Errors are application/problem+json (RFC 9457). A path that is not there is 404, another method of one "
    "that is there is 405 with `Allow`. Bodies may hold members that are not named here: they are kept."
)
_VERSION: Final = "1"
_SERVER: Final[Json] = {
    "url": "{apiUrl}",
    "variables": {
        "apiUrl": {"default": "https://api.example.com", "description": "The stack's output `apiUrl`."}
    },
}


class Document:
    """Puts the document together; `operations` by the path that they are posted to."""

    def __init__(self, operations: Mapping[str, AcceptOperation | ExecuteOperation]) -> None:
        self._by_path = operations
        self._by_record = {operation.path: operation for operation in operations.values()}
        self._schemas: dict[str, Json] = {
            "Problem": problems.PROBLEM,
            "Receipt": schemas.RECEIPT,
            **schemas.WEBHOOK_ANSWERS,
        }

    def build(self, routes: Sequence[Route] = ROUTES) -> Json:
        """The document, as JSON's types."""
        # First, since the schemas are collected on the way.
        paths = self._paths(routes)
        return {
            "openapi": "3.1.0",
            "info": {"title": "Onceward", "version": _VERSION, "description": _INTRODUCTION},
            "servers": [_SERVER],
            "security": [{"ApiKey": []}],
            "paths": paths,
            "components": {
                "securitySchemes": {"ApiKey": {"type": "apiKey", "in": "header", "name": "x-api-key"}},
                "parameters": PARAMETERS,
                "headers": RESPONSE_HEADERS,
                "responses": problems.components(),
                "schemas": dict(sorted(self._schemas.items())),
            },
        }

    def _paths(self, routes: Sequence[Route]) -> dict[str, Json]:
        paths: dict[str, Json] = {}
        for route in routes:
            path = re.sub(r"\+\}", "}", route.path)
            paths.setdefault(path, {})[route.method.lower()] = self._route(route)
        paths[openapi.PATH] = {"get": _own_route()}
        return paths

    def _route(self, route: Route) -> Json:
        if route.method == "POST":
            operation = self._by_path[route.path]
            return self._webhook(operation) if route.open else self._create(operation)
        found = self._by_record.get(route.path)
        return _receipt() if found is None else self._read(found)

    def _create(self, operation: AcceptOperation | ExecuteOperation) -> Json:
        name, parts = schemas.body(operation)
        answer = f"{name}Answer"
        self._schemas |= parts | {answer: schemas.first_answer(operation, parts[name])}
        done = _success("Done; or a replay of the first answer.", answer, *_HEADERS_OF_CREATED)
        return {
            "operationId": f"{operation.name}.create",
            "tags": [operation.name],
            "summary": _summary(operation),
            **_of_its_key(operation),
            "parameters": [*_keys(operation), _parameter("CorrelationId")],
            "requestBody": _request_body(operation, name),
            "responses": {
                str(_first_status(operation)): done,
                **problems.answers(*_refusals(operation)),
            },
        }

    def _webhook(self, operation: AcceptOperation | ExecuteOperation) -> Json:
        name, parts = schemas.body(operation)
        self._schemas |= parts
        headers = (CORRELATION_HEADER, "Location")
        return {
            "operationId": "webhooks.receive",
            "tags": [operation.name],
            "summary": "Take in a sender's event, once.",
            "description": "The sender proves itself as the tenant's file says: a bearer token, Basic, a "
            "header, or a signature over the raw body. Types that end in `+json` will do too.",
            "security": [],
            "parameters": [_parameter("Tenant"), _parameter("Source"), _parameter("CorrelationId")],
            "requestBody": _request_body(operation, name),
            "responses": {
                "200": _success("This event was sent before.", "WebhookDuplicate", *headers),
                "202": _success("Taken in.", "WebhookAccepted", *headers),
                **problems.answers(*problems.RECEIVING),
            },
        }

    def _read(self, operation: AcceptOperation | ExecuteOperation) -> Json:
        name = f"{schemas.name_of(operation)}Record"
        self._schemas[name] = schemas.record(operation)
        area = operation.path.split("/")[2]
        return {
            "operationId": f"{area}.read",
            "tags": [operation.name],
            "summary": f"A record of {operation.name}, by its id.",
            "parameters": [_parameter("RecordId"), _parameter("CorrelationId")],
            "responses": {
                "200": _success("The record.", name, CORRELATION_HEADER),
                **problems.answers(*problems.READING),
            },
        }


def text(operations: Mapping[str, AcceptOperation | ExecuteOperation]) -> str:
    """The document as the file holds it: JSON with a newline at its end."""
    return json.dumps(Document(operations).build(), indent=1, ensure_ascii=False) + "\n"


def _receipt() -> Json:
    return {
        "operationId": "receipts.read",
        "tags": ["receipts"],
        "summary": "What became of an idempotency key.",
        "parameters": [_parameter("ReceiptKey"), _parameter("CorrelationId")],
        "responses": {
            "200": _success("The key's receipt.", "Receipt", CORRELATION_HEADER),
            **problems.answers(*problems.READING),
        },
    }


def _own_route() -> Json:
    return {
        "operationId": "openapi.read",
        "tags": ["openapi"],
        "summary": "This document.",
        "security": [],
        "responses": {
            "200": {
                "description": "This document.",
                "content": {"application/json": {"schema": {"type": "object", "required": ["openapi"]}}},
            },
            **problems.answers(*problems.OWN),
        },
    }


def _first_status(operation: AcceptOperation | ExecuteOperation) -> int:
    return http.CREATED if isinstance(operation, ExecuteOperation) else http.success_status(operation)


def _refusals(operation: AcceptOperation | ExecuteOperation) -> tuple[int, ...]:
    usual = problems.EXECUTING if isinstance(operation, ExecuteOperation) else problems.ACCEPTING
    return (*usual, *problems.ALSO.get(operation.name, ()))


def _keys(operation: AcceptOperation | ExecuteOperation) -> list[Json]:
    if operation.key_source == "fields":
        return []
    return [idempotency_key(required=operation.key_source == "header")]


def _of_its_key(operation: AcceptOperation | ExecuteOperation) -> Json:
    if operation.key_source != "fields":
        return {}
    made_of = ", ".join(operation.key_fields)
    return {
        "description": f"{made_of} make the key, unless the tenant's file names others: a new request "
        f"differs in them. An {HEADER} header is not looked at."
    }


def _summary(operation: AcceptOperation | ExecuteOperation) -> str:
    key = {
        "header": "the key is the header's, and required",
        "header-or-body": "the key is the header's, or the body's hash",
        "fields": "the key is made of members of the body",
    }[operation.key_source]
    return f"Create a {operation.record_name}; {key}."


def _request_body(operation: AcceptOperation | ExecuteOperation, schema: str) -> Json:
    content: Json = {"schema": {"$ref": f"#/components/schemas/{schema}"}}
    if operation.name in BODIES:
        content["examples"] = {"usual": {"value": BODIES[operation.name]}}
    return {"required": True, "content": {"application/json": content}}


def _success(description: str, schema: str, *headers: str) -> Json:
    return {
        "description": description,
        "headers": references(*headers),
        "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}},
    }


def _parameter(name: str) -> Json:
    return {"$ref": f"#/components/parameters/{name}"}
