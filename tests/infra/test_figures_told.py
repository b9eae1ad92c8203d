"""Figures that texts tell of observability: about what the program counts."""

from __future__ import annotations

import re

import pytest

from infra.naming import Names
from infra.observability import Observability
from infra.observed import of_tenant
from infra.program import REPOSITORY
from infra.query_limits import LONGEST_QUERY
from infra.tenant_alarms import tenant_rules
from tests.infra.stages import tenant

NAMES = Names("prod")
ADR = " ".join((REPOSITORY / "docs/adr/0123-all-tenants-in-one-query.md").read_text(encoding="utf-8").split())
# "About": what a reader would not call wrong.
TENTH = 0.1


@pytest.mark.parametrize("file", ["tenants/template.py", "tenants/acme.yaml"])
def test_files_say_about_how_many_series_metrics_in_detail_are(file: str) -> None:
    plain, detailed = (of_tenant(tenant("anna", metrics=kind), NAMES) for kind in ("standard", "detailed"))
    said = re.search(r"about (\d+) series", (REPOSITORY / file).read_text(encoding="utf-8"))
    assert said is not None
    assert int(said[1]) == pytest.approx(detailed.series - plain.series, rel=TENTH)


def test_the_record_says_about_what_the_alarms_of_a_tenant_cost() -> None:
    one = of_tenant(tenant("anna"), NAMES, all_topics=True)
    # To the nearest dollar.
    own = Observability(alarm_metrics=one.alarm_metrics, composites=one.composites)
    assert f"about ${round(Observability(analysed=one.analysed).usd)} a tenant" in ADR
    assert f"own alarms about ${round(own.usd)} more" in ADR


def test_the_record_says_how_many_silenced_tenants_a_query_takes() -> None:
    # Long ids, and the shortest that there can be; to the nearest ten.
    few, many = (round(fitting(length), -1) for length in (24, 3))
    assert f"{few} to {many} of them fit" in ADR


def fitting(length: int) -> int:
    """How many tenants with ids of this length can be silenced."""
    silenced = ["a" * length]
    while max(len(each.query) for each in tenant_rules(NAMES, silenced)) <= LONGEST_QUERY:
        silenced.append(silenced[0])
    return len(silenced) - 1
