"""The dashboards that the program really makes, drawn with figures for every metric that they read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from infra.program import REPOSITORY
from ops.dashboard.alarms import AlarmWatch
from ops.observing.alarm_definitions import COMPOSITE_ALARM, METRIC_ALARM, Definitions
from ops.observing.store import MetricStore
from tests.e2e.dashboard.figures import BEGAN_MS, MINUTES, points
from tests.e2e.dashboard.page import faults
from tests.infra.stages import previewed
from tests.unit.dashboard.pages import MadeSource, site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.dashboard.conftest import Opened

pytestmark = pytest.mark.browser

DASHBOARD = "aws:cloudwatch/dashboard:Dashboard"
SCREENS = REPOSITORY / "build" / "screens"
NAMES = ("onceward-local_any-tenant", "onceward-local_platform", "onceward-local-acme")


# Before the browser, in whose event loop the program could not run: autouse fixtures come first.
@pytest.fixture(scope="module", autouse=True)
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MadeSource]:
    """The stage `local` of the repository, its dashboards and alarms, and made-up figures."""
    run = previewed("local")
    bodies = {each.inputs["dashboardName"]: each.inputs["dashboardBody"] for each in run.of_type(DASHBOARD)}
    kinds = (METRIC_ALARM, COMPOSITE_ALARM)
    alarms = Definitions(tuple((kind, each.inputs) for kind in kinds for each in run.of_type(kind)))
    with MetricStore(tmp_path_factory.mktemp("figures") / "metrics.sqlite") as store:
        store.put_all(points(bodies.values()))
        states = AlarmWatch(alarms).states(store, BEGAN_MS + MINUTES * 60_000 - 1000)
        assert states
        yield MadeSource(store, dict(sorted(bodies.items())), states)


@pytest.fixture
def address(source: MadeSource) -> Iterator[str]:
    with site(source) as url:
        yield url


def test_the_dashboards_are_those_that_are_drawn_below(source: MadeSource) -> None:
    assert set(NAMES) <= set(source.bodies())


@pytest.mark.parametrize("width", [1280, 1920])
@pytest.mark.parametrize("name", NAMES)
def test_every_widget_has_title_unit_and_data_and_nothing_covers_anything(
    address: str, tab: Opened, name: str, width: int
) -> None:
    with tab(address, width) as page:
        page.open(name)
        cards = page.cards()
        page.photograph(SCREENS / f"{name}-{width}.png")
        assert faults(cards, width) == []
        assert page.errors == []


@pytest.mark.parametrize("name", NAMES)
def test_a_dark_and_narrow_page_is_whole_too(address: str, tab: Opened, name: str) -> None:
    with tab(address, 600, "dark") as page:
        page.open(name, range="5m", period="fine")
        page.photograph(SCREENS / f"{name}-dark.png")
        assert faults(page.cards(), 600) == []


def test_links_to_other_dashboards_and_to_the_runbook_stay_here(address: str, tab: Opened) -> None:
    with tab(address) as page:
        page.open("onceward-local_platform")
        text = page.page.locator("[data-kind=text]").first
        assert text.locator('a[href="/?name=onceward-local_any-tenant"]').count() == 1
        assert text.locator('a[href="/runbook#platform-down"]').count() == 1
        assert text.locator("a[href^=http]").count() == 0


def test_another_tenant_s_figures_are_drawn(address: str, tab: Opened) -> None:
    with tab(address) as page:
        page.open("onceward-local_any-tenant")
        before = {card["title"]: card["legend"] for card in page.cards()}
        drawn = page.drawings()
        page.page.select_option("#variable-tenant", "storm-b")
        page.wait_for_drawing(drawn)
        after = {card["title"]: card["legend"] for card in page.cards()}
        assert before.keys() == after.keys()
        assert before != after
        assert "Tenant storm-b: what to do first" in page.page.locator("[data-kind=text]").first.inner_text()
