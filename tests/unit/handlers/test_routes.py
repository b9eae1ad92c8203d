"""Routes are listed where they are used; this is what keeps the lists one."""

from __future__ import annotations

import re

from handlers.domain.gateway_policy import ROUTES as OPENED
from handlers.operations.accepted import BY_RESOURCE
from handlers.read import OPERATIONS as READ
from infra.api_spec import ROUTES

PERMISSIONS = {resource: operation.permission for resource, operation in BY_RESOURCE.items()} | {
    resource: f"{operation}:read" for resource, operation in READ.items()
}


def test_every_route_is_known_to_the_function_that_answers_it() -> None:
    assert {route.path for route in ROUTES if route.function == "ingest"} == set(BY_RESOURCE)
    assert {route.path for route in ROUTES if route.function == "read"} == set(READ)
    assert {route.function for route in ROUTES} == {"ingest", "read"}


def test_every_permission_opens_the_routes_that_ask_for_it_and_no_other() -> None:
    opened = {route: permission for permission, routes in OPENED.items() for route in routes}
    assert opened == {route.source: PERMISSIONS[route.path] for route in ROUTES}


def test_what_an_operation_creates_is_found_where_its_location_says() -> None:
    for operation in BY_RESOURCE.values():
        assert READ[operation.path] == operation.name


def test_a_path_of_the_api_has_no_more_than_one_parameter() -> None:
    # `read` takes a record's id or a key from the path, and nothing else.
    assert all(len(re.findall(r"{[^}]+}", route.path)) <= 1 for route in ROUTES)
