"""The OpenAPI document: valid, current, and of one mind with routes, operations, functions and gateway."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate
from typer.testing import CliRunner

from handlers import http
from handlers.domain.payment_provider import SETTLE_MS
from infra.gateway_responses import GATEWAY_RESPONSES, METHOD_NOT_ALLOWED
from infra.openapi import FILE, PATH
from infra.routes import ROUTES
from ops.cli import app
from ops.openapi import api, document, problems
from ops.openapi.examples import BODIES
from tests.builders import lead_event
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.ingest_calls import post
from tests.unit.handlers.payment_world import Fault, World

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DOCUMENT: dict[str, Any] = json.loads(document.text(api.OPERATIONS))
METHODS = [
    (path, method, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
]
each_method = pytest.mark.parametrize(
    ("path", "method", "operation"), METHODS, ids=lambda part: str(part)[:40]
)


def resolved(part: dict[str, Any]) -> dict[str, Any]:
    """A part of the document, or the component that it refers to."""
    if "$ref" not in part:
        return part
    found: Any = DOCUMENT
    for step in part["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return dict(found)


def complaints(schema: dict[str, Any], value: object) -> list[str]:
    """What a schema of the document says of a value."""
    validator = Draft202012Validator({**schema, "components": DOCUMENT["components"]})
    return [error.message for error in validator.iter_errors(value)]


def test_the_committed_document_is_what_the_operations_say() -> None:
    assert CliRunner().invoke(app, ["openapi", "--check"]).exit_code == 0, "run: onceward openapi"


def test_a_document_that_drifted_fails_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / FILE).parent.mkdir()
    monkeypatch.setattr("ops.commands.openapi._ROOT", tmp_path)
    assert CliRunner().invoke(app, ["openapi", "--check"]).exit_code == 1
    assert CliRunner().invoke(app, ["openapi"]).stdout == f"Wrote {FILE}.\n"
    assert CliRunner().invoke(app, ["openapi", "--check"]).exit_code == 0
    text = (tmp_path / FILE).read_text(encoding="utf-8")
    (tmp_path / FILE).write_text(text.replace("The key's receipt", "A receipt"), encoding="utf-8")
    drifted = CliRunner().invoke(app, ["openapi", "--check"])
    assert (drifted.exit_code, drifted.stdout.splitlines()) == (
        1,
        [f"{FILE}: is out of date; run `onceward openapi`"],
    )


def test_the_document_is_valid_and_small() -> None:
    validate(DOCUMENT)
    assert DOCUMENT["openapi"].startswith("3.1.")
    assert len(document.text(api.OPERATIONS)) < 100_000


def test_every_route_is_described_and_nothing_else() -> None:
    routes = {(re.sub(r"\+}", "}", route.path), route.method.lower()) for route in ROUTES}
    assert {(path, method) for path, method, _ in METHODS} == routes | {(PATH, "get")}


def test_an_api_key_is_asked_for_where_the_gateway_asks_for_one() -> None:
    assert DOCUMENT["security"] == [{"ApiKey": []}]
    unkeyed = {path for path, _, operation in METHODS if operation.get("security") == []}
    assert unkeyed == {route.path for route in ROUTES if route.open} | {PATH}


def test_every_status_of_functions_and_gateway_is_described() -> None:
    of_functions = {row[1] for row in http._PROBLEMS} | {http._INTERNAL[0]}
    of_gateway = {response.status for response in GATEWAY_RESPONSES.values()} | {METHOD_NOT_ALLOWED.status}
    assert of_functions | of_gateway == set(problems.STATUSES)
    declared = {int(status) for _, _, operation in METHODS for status in operation["responses"]}
    assert declared >= of_functions | of_gateway - {METHOD_NOT_ALLOWED.status}


@each_method
def test_an_outage_and_a_spent_rate_are_declared_everywhere(
    path: str, method: str, operation: dict[str, Any]
) -> None:
    # The gateway answers 415 for its mock before it looks whether a body is taken at all.
    wanted = {"400", "403", "413", "429", "500"} | ({"415"} if path == PATH else {"401", "503", "504"})
    assert wanted <= set(operation["responses"]), (path, method)
    for status, response in operation["responses"].items():
        if int(status) >= 400:
            assert set(resolved(response)["content"]) == {"application/problem+json"}


def test_every_header_that_a_page_may_read_is_described() -> None:
    exposed = {name.strip() for name in http.EXPOSED_HEADERS.split(",")}
    # No operation answers an ETag yet; replays would keep it.
    assert exposed - set(DOCUMENT["components"]["headers"]) == {"ETag"}
    for _, method, operation in METHODS:
        if method == "post" and "security" not in operation:
            first = next(response for status, response in operation["responses"].items() if status < "300")
            assert {"Location", "Idempotent-Replayed", "Idempotency-First-Seen"} <= set(first["headers"])


@pytest.mark.parametrize("path", sorted(api.OPERATIONS))
def test_the_key_is_asked_for_as_the_operation_says(path: str) -> None:
    parameters = map(resolved, DOCUMENT["paths"][path]["post"]["parameters"])
    key = [each["required"] for each in parameters if each["name"] == "Idempotency-Key"]
    source = "fields" if "webhooks" in path else api.OPERATIONS[path].key_source
    assert key == {"header": [True], "header-or-body": [False], "fields": []}[source]


@pytest.mark.parametrize("path", sorted(api.OPERATIONS))
def test_every_operation_has_an_example_that_it_takes(path: str) -> None:
    operation = api.OPERATIONS[path]
    body = BODIES[operation.name]
    assert operation.schema(body) == body
    schema = DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert complaints(schema, body) == []


@pytest.mark.parametrize(
    ("path", "change", "complaint"),
    [
        ("/v1/leads", {"email": "nobody"}, "'nobody'"),
        ("/v1/leads", {"name": "  "}, "'  '"),
        ("/v1/leads", {"email": None}, "is not valid under any of the given schemas"),
        ("/v1/leads", {"email": None, "phone": None}, "is not valid under any of the given schemas"),
        ("/v1/appointments", {"startsAt": "2030-01-15T09:30:00.5+01:00"}, "does not match"),
        ("/v1/orders", {"currency": "EUX"}, "'EUX'"),
        ("/v1/orders", {"items": []}, "non-empty"),
        ("/v1/payments", {"amount": 0}, "minimum of 1"),
        ("/v1/payments", {"amount": "42"}, "'integer'"),
    ],
)
def test_the_document_says_what_the_operations_refuse(
    path: str, change: dict[str, Any], complaint: str
) -> None:
    body = BODIES[api.OPERATIONS[path].name] | change
    schema = DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    # An optional member's own complaint is inside that of the two things that it may be.
    assert complaint in " ".join(complaints(schema, body))
    with pytest.raises(Exception, match="fault"):
        api.OPERATIONS[path].schema(body)


def described_headers(path: str, answer: dict[str, Any]) -> set[str]:
    """What the document says that an answer may carry."""
    return set(resolved(DOCUMENT["paths"][path]["post"]["responses"][str(answer["statusCode"])])["headers"])


def declined(world: World) -> dict[str, Any] | None:
    return world.pay(paymentMethod="pm_declined")


def never_charged(world: World) -> dict[str, Any] | None:
    if not world.sent:
        world.pay(Fault("charge", "kill-before"))
        # What its provider keeps keys for, and what may still be under way there by then.
        world.now += 3_600_000 + SETTLE_MS
    return world.pay()


def slot_taken_by_oneself(world: World) -> dict[str, Any] | None:
    world.post("/v1/appointments", BODIES["appointments"])
    if len(world.slots.taken) == 1 and world.slots.writes == 1:
        world.now += 10_000
    return world.post("/v1/appointments", BODIES["appointments"])


def slot_taken(world: World) -> dict[str, Any] | None:
    body = BODIES["appointments"]
    world.post("/v1/appointments", body)
    return world.post("/v1/appointments", body | {"patientId": "another"})


@pytest.mark.parametrize(
    ("path", "refused", "status"),
    [
        ("/v1/payments", declined, 402),
        ("/v1/payments", never_charged, 502),
        ("/v1/appointments", slot_taken, 409),
        ("/v1/appointments", slot_taken_by_oneself, 409),
    ],
)
def test_final_refusals_and_their_replays_are_as_described(
    path: str, refused: Callable[[World], dict[str, Any] | None], status: int
) -> None:
    world = World(honoursSeconds=3600)
    first, again = refused(world), refused(world)
    assert first is not None
    assert again is not None
    assert (first["statusCode"], again["body"]) == (status, first["body"])
    added = again["headers"].keys() - first["headers"].keys()
    assert added == {"Idempotent-Replayed", "Idempotency-First-Seen", "Idempotency-Expires"}
    named = {name for name in again["headers"] if name not in ("Content-Type", "Vary")}
    assert named <= described_headers(path, again)


def test_a_key_made_of_fields_is_said_to_be_one() -> None:
    described = DOCUMENT["paths"]["/v1/appointments"]["post"]["description"]
    assert described.startswith("doctorId, patientId, startsAt make the key")
    assert "An Idempotency-Key header is not looked at." in described
    body = BODIES["leads"] | {"email": None, "phone": "+1 202 555 0100"}
    assert complaints({"$ref": "#/components/schemas/Lead"}, body) == []


@pytest.mark.parametrize("path", ["/v1/leads", "/v1/orders"])
def test_answers_of_accept_mode_are_as_described(path: str) -> None:
    event = lead_event(BODIES[path.removeprefix("/v1/")], headers={"idempotency-key": ["k"]})
    store = InMemoryReceipts()
    for answer in (post(store, event | {"resource": path}) for _ in range(2)):
        described = DOCUMENT["paths"][path]["post"]["responses"][str(answer["statusCode"])]
        assert (
            complaints(described["content"]["application/json"]["schema"], json.loads(answer["body"])) == []
        )
        named = {name for name in answer["headers"] if name not in ("Content-Type", "Vary")}
        assert named <= set(described["headers"])
