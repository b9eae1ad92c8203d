"""Routes are listed where they are used; this is what keeps the lists one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from handlers.domain.gateway_policy import ROUTES as OPENED
from handlers.operations import accepted, executed
from handlers.read import OPERATIONS as READ
from handlers.read import permission
from infra.routes import ROUTES

if TYPE_CHECKING:
    from handlers.domain.operation import AcceptOperation, ExecuteOperation

CALLED: dict[str, AcceptOperation | ExecuteOperation] = {**accepted.BY_RESOURCE, **executed.BY_RESOURCE}
PERMISSIONS = {resource: operation.permission for resource, operation in CALLED.items()} | {
    resource: permission(resource) for resource in READ
}


def paths_of(function: str) -> set[str]:
    return {route.path for route in ROUTES if route.function == function}


def test_every_route_is_known_to_the_function_that_answers_it() -> None:
    assert paths_of("ingest") == set(accepted.BY_RESOURCE)
    assert paths_of("execute") == set(executed.BY_RESOURCE)
    assert paths_of("read") == set(READ)
    assert {route.function for route in ROUTES} == {"ingest", "execute", "read", "webhooks"}


def test_every_permission_opens_the_routes_that_ask_for_it_and_no_other() -> None:
    opened = {route: permission for permission, routes in OPENED.items() for route in routes}
    # Nobody needs a permission for an open route: its function asks for a proof instead.
    assert opened == {route.source: PERMISSIONS[route.path] for route in ROUTES if not route.open}


def test_what_an_operation_creates_is_found_where_its_location_says() -> None:
    for operation in CALLED.values():
        assert READ[operation.path] == operation.name


def test_only_the_webhooks_path_has_more_than_one_parameter() -> None:
    # `read` takes a record's id or a key from the path, and nothing else.
    several = {route.path for route in ROUTES if len(re.findall(r"{[^}]+}", route.path)) > 1}
    assert several == paths_of("webhooks") == {"/v1/webhooks/{tenant}/{source}"}
