"""What the functions say of every outcome: the catalogue's metrics and no others, and lines to search."""

from __future__ import annotations

import pytest

from handlers.domain import metric_catalogue
from handlers.domain.metric_catalogue import IN_DETAIL, OF_TENANT
from infra.timeouts import TIMEOUTS
from tests.emitting.everything import RUNS, everything, said_by
from tests.emitting.heard import Heard, Series, catalogued

TRACE = "1-5759e988-bd862e3fe1be46a994272793"
# What is behind a claim; `read` and `notify` make none, and a refused request has none yet.
WITH_A_CLAIM = {
    "ingest": {"accepted", "replayed", "mismatch", "failed"},
    "execute": {
        "accepted",
        "replayed",
        "mismatch",
        "in_progress",
        "effect_unknown",
        "effect_failed",
        "failed",
    },
    "webhooks": {"accepted", "replayed", "failed"},
    "dispatch": {"dispatched", "parked", "still_parked", "failed", "not_attempted"},
    "deliver": {"done", "done_before", "twin_in_progress", "failed", "given_up"},
    "fulfil": {"done", "done_before", "twin_in_progress", "failed", "given_up"},
}
# Of a run over all tenants, and of a key that nobody has.
ABOUT_NOBODY = {"looked", "unknown_key"}


def test_every_function_is_run() -> None:
    assert set(RUNS) == set(TIMEOUTS) == set(metric_catalogue.BY_FUNCTION)


def test_the_functions_emit_what_the_catalogue_says_and_nothing_else() -> None:
    emitted = {series for heard in everything().values() for series in heard.series()}
    assert emitted - catalogued() == set()
    assert catalogued() - emitted == set()


@pytest.mark.parametrize("changed", ["name", "unit", "dimensions", "function"])
def test_the_comparison_above_can_fail(changed: str) -> None:
    emitted = everything()["ingest"].series()
    one = next(each for each in sorted(emitted) if each.name == "Accepted")
    others: dict[str, object] = {"dimensions": frozenset({"Service", "Key"})}
    other = Series(**{**one._asdict(), changed: others.get(changed, "Other")})
    assert other not in catalogued()
    assert one in catalogued()


@pytest.mark.parametrize("function", sorted(RUNS))
def test_only_a_tenant_in_detail_has_series_by_operation(function: str) -> None:
    plain = {series.dimensions for series in said_by(function, detailed=False).series()}
    assert frozenset(IN_DETAIL) not in plain
    detailed = {series.dimensions for series in said_by(function, detailed=True).series()}
    assert (frozenset(IN_DETAIL) in detailed) == (function not in metric_catalogue.NEVER_IN_DETAIL)


def of_tenants(heard: Heard, name: str) -> list[int]:
    """Every value of a metric that is emitted for a tenant."""
    return [
        line[name][0]
        for line in heard.metrics
        for each in line["_aws"]["CloudWatchMetrics"]
        if list(OF_TENANT) in each["Dimensions"] and name in {metric["Name"] for metric in each["Metrics"]}
    ]


@pytest.mark.parametrize("function", ["ingest", "execute", "webhooks", "read"])
def test_the_average_of_failed_is_the_share_of_a_tenants_requests_that_failed(function: str) -> None:
    heard = said_by(function, detailed=False)
    failed = of_tenants(heard, "Failed")
    # Each request has its line, but for those whose sender did not prove who it is.
    requests = [line for line in heard.lines if line["outcome"] != "unauthorized"]
    assert len(failed) == len(requests)
    assert sum(failed) == len([line for line in requests if line["outcome"] == "failed"]) > 0


def test_a_tenants_share_of_5xx_is_that_of_its_failures_and_its_providers_together() -> None:
    heard = said_by("execute", detailed=False)
    failed, trouble = of_tenants(heard, "Failed"), of_tenants(heard, "EffectTrouble")
    answered = [line["status"] for line in heard.lines]
    assert len(trouble) == len(failed) == len(answered)
    assert sum(trouble) > 0
    assert sum(failed) + sum(trouble) == len([status for status in answered if status >= 500])


@pytest.mark.parametrize("function", sorted(RUNS))
def test_every_line_says_whose_it_is_and_how_to_find_the_others(
    function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As Lambda sets it, for tracing is on (infra.components.function).
    monkeypatch.setenv("_X_AMZN_TRACE_ID", f"Root={TRACE};Parent=53995c3f42cd8ad8;Sampled=1")
    heard = said_by(function, detailed=False)
    assert heard.lines
    for line in heard.lines:
        assert line["outcome"] == line["message"]
        assert line["operation"]
        assert line["xray_trace_id"] == TRACE
        about_nobody = line["outcome"] in ABOUT_NOBODY or "shard" in line
        assert about_nobody or (line["correlation_id"] and (function == "authorizer" or line["tenant"])), line
    claimed = [line for line in heard.lines if line["outcome"] in WITH_A_CLAIM.get(function, set())]
    assert {line["outcome"] for line in claimed} == WITH_A_CLAIM.get(function, set())
    assert [line for line in claimed if not line.get("attempt")] == []


def test_series_sort_by_what_they_are() -> None:
    assert Series("a", "b", "c", frozenset(), "d") < Series("a", "b", "d", frozenset(), "d")
