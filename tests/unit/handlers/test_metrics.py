"""The line of metrics: one a request, and under each set of dimensions what the catalogue says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from handlers.adapters import metrics
from handlers.adapters.metrics import About

if TYPE_CHECKING:
    import pytest

COUNTS = {"Failed": 0, "Accepted": 1, "Abandoned": 1}


def emitted(capsys: pytest.CaptureFixture[str], about: About) -> dict[str, Any]:
    metrics.emit(about, COUNTS, {"RequestLatency": 12.5})
    [line] = capsys.readouterr().out.splitlines()
    document: dict[str, Any] = json.loads(line)
    return document


def sets_of(line: dict[str, Any]) -> dict[tuple[str, ...], set[str]]:
    """The names under each set of dimensions."""
    return {
        tuple(names): {metric["Name"] for metric in directive["Metrics"]}
        for directive in line["_aws"]["CloudWatchMetrics"]
        for names in directive["Dimensions"]
    }


def test_one_line_holds_every_set_of_dimensions(capsys: pytest.CaptureFixture[str]) -> None:
    line = emitted(capsys, About("dev", "ingest", "leads", "acme"))
    everything = {"Failed", "Accepted", "Abandoned", "RequestLatency"}
    assert sets_of(line) == {
        ("Service",): everything,
        ("Service", "Operation"): everything,
        ("Service", "TenantId"): {"Failed", "Accepted"},
    }
    assert (line["Service"], line["Operation"], line["TenantId"]) == ("onceward-dev_ingest", "leads", "acme")
    assert (line["Failed"], line["RequestLatency"]) == ([0], [12.5])
    assert {each["Namespace"] for each in line["_aws"]["CloudWatchMetrics"]} == {"Onceward"}


def test_a_tenant_in_detail_has_everything_by_operation_too(capsys: pytest.CaptureFixture[str]) -> None:
    line = emitted(capsys, About("dev", "ingest", "leads", "acme", detailed=True))
    found = sets_of(line)
    assert found["Service", "TenantId", "Operation"] == found["Service",]
    assert len(found) == 4


def test_without_a_tenant_there_is_no_series_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    line = emitted(capsys, About("dev", "ingest", "none", None, detailed=True))
    assert set(sets_of(line)) == {("Service",), ("Service", "Operation")}
    assert "TenantId" not in line


def test_a_function_with_nothing_for_tenants_makes_no_series_of_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = emitted(capsys, About("dev", "notify", "orders", "acme"))
    assert "TenantId" not in line


def test_what_is_told_for_a_tenant_alone_is_counted_nowhere_else(capsys: pytest.CaptureFixture[str]) -> None:
    metrics.emit_of_tenant(About("dev", "reconcile", "orders", "acme"), {"WorkGivenUp": 1})
    [line] = map(json.loads, capsys.readouterr().out.splitlines())
    assert sets_of(line) == {("Service", "TenantId"): {"WorkGivenUp"}}
    assert (line["Service"], line["TenantId"]) == ("onceward-dev_reconcile", "acme")
