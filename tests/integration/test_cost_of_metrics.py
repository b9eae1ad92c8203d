"""The series that `onceward cost` counts are those that the functions really emit, line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from handlers import read
from handlers.domain.metric_catalogue import API, IN_DETAIL, OF_OPERATION, OF_SERVICE, OF_TENANT
from handlers.domain.work import BY_OPERATION
from handlers.operations import accepted, executed
from infra.access_log import metric_filters
from infra.naming import Names
from infra.observed import OPERATIONS, of_platform, of_tenant
from tests.emitting.everything import everything
from tests.infra.stages import tenant

if TYPE_CHECKING:
    from handlers.domain.metric_catalogue import Dimensions

NAMES = Names("dev")


def emitted(dimensions: Dimensions) -> int:
    """How many families of series functions and access log have under these dimensions."""
    wanted = frozenset(dimensions)
    families = {each for heard in everything().values() for each in heard.series()}
    filters = {each.metric for each in metric_filters(["anna"]) if frozenset(each.dimensions) == wanted}
    return sum(each.dimensions == wanted for each in families) + len(filters)


def with_each_operation(dimensions: Dimensions) -> int:
    """The same, each family as often as its function has operations."""
    wanted = frozenset(dimensions)
    families = {each for heard in everything().values() for each in heard.series()}
    return sum(OPERATIONS[each.function] for each in families if each.dimensions == wanted)


def test_a_tenant_has_as_many_series_as_are_emitted_for_it() -> None:
    assert of_tenant(tenant("anna", dashboard="shared"), NAMES).series == emitted(OF_TENANT)


def test_a_tenant_in_detail_has_those_of_its_operations_too() -> None:
    plain, detailed = (of_tenant(tenant("anna", metrics=kind), NAMES) for kind in ("standard", "detailed"))
    assert detailed.series - plain.series == with_each_operation(IN_DETAIL)


def test_the_platform_has_the_roll_ups() -> None:
    assert of_platform(NAMES).series == emitted(OF_SERVICE) + with_each_operation(OF_OPERATION)


@pytest.mark.parametrize("dimensions", [OF_SERVICE, OF_TENANT, OF_OPERATION, IN_DETAIL])
def test_a_series_that_is_not_emitted_would_be_noticed(
    dimensions: Dimensions, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = emitted(dimensions)
    heard = dict(everything())
    del heard["ingest"]
    monkeypatch.setattr("tests.integration.test_cost_of_metrics.everything", lambda: heard)
    assert emitted(dimensions) < before


def test_each_function_has_the_operations_that_it_is_counted_with() -> None:
    taken_in = {**accepted.BY_RESOURCE, **executed.BY_RESOURCE}
    one = dict.fromkeys(("authorizer", "webhooks", "deliver", "fulfil", "notify"), 1)
    assert (
        one
        | {
            "ingest": len(accepted.BY_RESOURCE),
            "execute": len(executed.BY_RESOURCE),
            "read": len(set(read.OPERATIONS.values())),
            "dispatch": len(taken_in) + one["webhooks"],
            "reconcile": len(BY_OPERATION),
        }
        == OPERATIONS
    )
    assert API not in OPERATIONS
