"""What the dashboards' page shows and does, over hand-made dashboards, in headless Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from ops.dashboard.drawing import AlarmShown
from ops.dashboard.site import serving
from tests.e2e.dashboard.page import faults
from tests.unit.dashboard.made import BEGAN_MS, accepted, body, latency, row, store, widget
from tests.unit.dashboard.pages import MadeSource, site
from tests.unit.dashboard.test_variables import TENANT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ops.observing.store import MetricStore
    from tests.e2e.dashboard.conftest import Opened

pytestmark = pytest.mark.browser

ALARMS = {
    "errors": AlarmShown("errors", "ALARM", "Functions fail. docs/runbook.md#function-errors"),
    "lag": AlarmShown("lag", "OK", "Behind. docs/runbook.md#stream-iterator-age"),
    "quiet": AlarmShown("quiet", "INSUFFICIENT_DATA", "Nothing seen.", muted=True),
}
UNIT = {"left": {"label": "requests per minute", "min": 0}}
NEAR = {"horizontal": [{"label": "alarm: near", "value": 300}]}
FAR = {"horizontal": [{"label": "alarm: far", "value": 9000}]}


def graph(title: str, x: int, y: int, *series: Any, **properties: Any) -> Any:
    rows = [row(each, stat="Sum", label=dict(each.dimensions).get("TenantId", "all")) for each in series]
    properties = {"yAxis": UNIT, "period": 60, "metrics": rows, **properties}
    return widget(place=(x, y, 8, 6), title=title, **properties)


PLATFORM = body(
    widget("text", place=(0, 0, 24, 2), markdown="# First\n\n1. **Alarms**, [then](docs/runbook.md#first)."),
    widget("alarm", place=(0, 2, 24, 3), title="Alarms", alarms=["errors", "lag", "quiet", "elsewhere"]),
    graph("Near", 0, 5, accepted(), annotations=NEAR),
    graph("Far", 8, 5, accepted(), annotations=FAR),
    graph("Stacked", 16, 5, accepted("acme"), accepted("globex"), stacked=True),
    graph("Nothing", 0, 11, accepted("nobody")),
    widget(place=(8, 11, 4, 3), title="In all", view="singleValue", period=60, setPeriodToTimeRange=True,
           yAxis={"left": {"label": "requests"}}, metrics=[row(accepted(), stat="Sum", label="accepted")]),
    widget(place=(12, 11, 4, 6), title="Bars", view="bar", period=60, yAxis=UNIT,
           metrics=[row(accepted(name), stat="Sum", label=name) for name in ("acme", "globex")]),
    widget(place=(16, 11, 8, 6), title="Table", view="table", period=60,
           metrics=[row(latency(), stat=stat, label=stat) for stat in ("p50", "p99")]),
    widget("explorer", place=(0, 17, 8, 3), title="Strange"),
    periodOverride="inherit",
)  # fmt: skip
ANY_TENANT = body(
    widget("text", place=(0, 0, 24, 1), markdown="Tenant TENANT_ID"),
    graph("TENANT_ID: accepted", 0, 1, accepted("TENANT_ID")),
    variables=[TENANT],
    periodOverride="inherit",
)


@pytest.fixture
def metrics(tmp_path: Path) -> Iterator[MetricStore]:
    with store(tmp_path) as made:
        yield made


@pytest.fixture
def source(metrics: MetricStore) -> MadeSource:
    return MadeSource(
        metrics, {"onceward-local_any-tenant": ANY_TENANT, "onceward-local_platform": PLATFORM}, ALARMS
    )


@pytest.fixture
def address(source: MadeSource) -> Iterator[str]:
    with site(source) as url:
        yield url


def test_the_platform_s_dashboard_is_the_first_that_is_shown(address: str, tab: Opened) -> None:
    with tab(address) as page:
        page.open()
        expect(page.page.locator("nav [aria-current]")).to_have_text("onceward-local_platform")
        assert page.page.locator("#source").inner_text() == "Made by hand (over)"
        assert page.page.locator("#ranges [aria-pressed=true]").inner_text() == "all"
        expect(page.page.locator("#refreshing")).to_be_hidden()
        assert page.errors == []


def test_lines_have_their_unit_their_legend_and_their_last_values(address: str, tab: Opened) -> None:
    with tab(address) as page:
        page.open()
        card = page.card("Stacked")
        assert card["units"] == ["requests per minute", ""]
        assert card["legend"] == ["acme120", "globex60"]
        assert card["canvas"]


def test_an_alarm_line_is_drawn_or_named_as_above_the_chart(address: str, tab: Opened) -> None:
    with tab(address) as page:
        page.open()
        assert page.card("Near")["thresholds"] == [["alarm: near300", "true"]]
        assert page.card("Far")["thresholds"] == [["alarm: far9,000above this chart", "false"]]
        assert red_pixels(page, "Near") > 100
        assert red_pixels(page, "Far") == 0


def red_pixels(page: Any, title: str) -> int:
    """How much of a chart has the colour of alarm lines."""
    count: int = page.page.evaluate(
        """(title) => {
          const cards = [...document.querySelectorAll('.card')];
          const card = cards.find((one) => one.querySelector('h2').textContent === title);
          const canvas = card.querySelector('canvas');
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          let count = 0;
          for (let at = 0; at < data.length; at += 4)
            if (data[at] > 180 && data[at + 1] < 80 && data[at + 2] < 80 && data[at + 3] > 200) count += 1;
          return count;
        }""",
        title,
    )
    return count


def test_a_widget_without_data_says_so_and_for_which_time(address: str, tab: Opened) -> None:
    with tab(address) as page:
        page.open()
        card = page.card("Nothing")
        assert card["empty"].startswith("No data from ")
        assert card["empty"].endswith(" UTC.")
        assert card["legend"] == ["nobodyno data"]


def test_numbers_bars_and_tables_show_their_values(address: str, tab: Opened) -> None:
    with tab(address) as page:
        page.open()
        assert page.card("In all")["text"].splitlines()[-2:] == ["360 requests", "accepted"]
        bars = page.page.locator("[data-kind=bars] li")
        assert [each.splitlines() for each in bars.all_inner_texts()] == [["acme", "120"], ["globex", "60"]]
        widths = page.page.locator("[data-kind=bars] i").evaluate_all(
            "(all) => all.map((one) => one.style.width)"
        )
        assert widths == ["100%", "50%"]
        cells = page.page.locator("[data-kind=table] tbody td").all_inner_texts()
        assert cells == ["11 ms"] * 4 + ["13 ms"] * 4


def test_alarms_are_listed_those_that_ring_first_with_what_to_read(address: str, tab: Opened) -> None:
    with tab(address) as page:
        page.open()
        assert (
            page.page.locator(".summary").inner_text() == "1 in alarm · 1 no data · 1 not known here · 1 OK"
        )
        shown = page.page.locator(".alarms li")
        assert shown.evaluate_all("(all) => all.map((one) => one.dataset.state)") == [
            "ALARM",
            "INSUFFICIENT_DATA",
            "UNKNOWN",
            "OK",
        ]
        assert "Functions fail." in shown.nth(0).inner_text()
        assert "muted" in shown.nth(1).inner_text()
        with page.page.expect_popup() as runbook:
            shown.nth(0).locator("a").click()
        expect(runbook.value.locator("#function-errors")).to_be_in_viewport()


def test_a_text_is_drawn_and_an_unknown_widget_says_that_it_is_not(address: str, tab: Opened) -> None:
    with tab(address) as page:
        page.open()
        assert page.page.locator("[data-kind=text] h1").inner_text() == "First"
        assert page.page.locator("[data-kind=text] a").get_attribute("href") == "/runbook#first"
        assert "not drawn here" in page.card("Strange")["text"]


@pytest.mark.parametrize("width", [1280, 1920, 700])
def test_nothing_lies_on_anything_else_or_is_cut_off(address: str, tab: Opened, width: int) -> None:
    with tab(address, width) as page:
        page.open()
        # The two that have nothing to show are found; all else is as it should be.
        assert {fault.partition(":")[0] for fault in faults(page.cards(), width)} == {"Nothing", "Strange"}
        assert page.errors == []


def test_what_is_wrong_with_cards_is_found(address: str, tab: Opened) -> None:
    """The control of the test above: cards pushed onto each other, and texts cut off, are faults."""
    with tab(address) as page:
        page.open()
        page.page.evaluate(
            """() => {
              const [near, far, stacked] = [...document.querySelectorAll('[data-kind=lines]')];
              near.style.transform = 'translateX(200px)';
              far.querySelector('.units span').textContent = '';
              far.querySelector('h2').style.cssText = 'width: 10px; height: 10px; overflow: hidden';
              stacked.querySelector('.legend').style.marginTop = '-3rem';
              stacked.querySelector('.units').style.transform = 'translateY(-20px)';
            }"""
        )
        found = faults(page.cards(), 1280)
        assert "Near lies on Far" in found
        assert "Far: no unit" in found
        assert "Far: cut off: Far" in found
        assert any(fault.startswith("Stacked: on each other") for fault in found)


def test_a_tenant_is_chosen_and_stays_chosen(address: str, tab: Opened) -> None:
    with tab(address) as page:
        page.open("onceward-local_any-tenant")
        assert page.card("acme: accepted")["legend"] == ["acme120"]
        drawn = page.drawings()
        page.page.select_option("#variable-tenant", "globex")
        page.wait_for_drawing(drawn)
        assert page.card("globex: accepted")["legend"] == ["globex60"]
        assert page.page.locator("[data-kind=text]").inner_text() == "Tenant globex"
        page.page.reload()
        page.wait_for_drawing(0)
        assert page.card("globex: accepted")["legend"] == ["globex60"]


def test_another_dashboard_range_and_period_are_chosen(address: str, tab: Opened) -> None:
    with tab(address) as page:
        page.open()
        drawn = page.drawings()
        page.page.get_by_role("button", name="5 min", exact=True).click()
        page.wait_for_drawing(drawn)
        assert "range=5m" in page.page.url
        page.page.select_option("#period", "fine")
        page.wait_for_drawing(drawn + 1)
        assert page.card("Near")["units"][0] == "requests per 10 s"
        assert "Not drawn at 10 s periods: alarm: near" in page.card("Near")["text"]
        page.page.get_by_role("link", name="onceward-local_any-tenant").click()
        page.wait_for_drawing(drawn + 2)
        assert page.card("acme: accepted")["canvas"]


def test_the_values_under_the_mouse_are_shown(address: str, tab: Opened) -> None:
    with tab(address) as page:
        page.open()
        plot = page.page.locator("[data-kind=lines] .u-over").nth(2)
        box = plot.bounding_box()
        assert box is not None
        plot.hover(position={"x": box["width"] * 0.9, "y": 20})
        stamp = page.page.locator("[data-kind=lines] .plot").nth(2)
        expect(stamp).to_have_attribute("data-at", "from 15:01:00")


def test_new_figures_are_drawn_while_a_platform_runs(
    metrics: MetricStore, source: MadeSource, tab: Opened
) -> None:
    source.live, source.now_ms = True, BEGAN_MS + 120_000
    with site(source) as url, tab(url) as page:
        page.page.clock.install()
        page.open("onceward-local_any-tenant")
        assert page.page.locator("#source").inner_text() == "Live: Made by hand"
        assert page.card("acme: accepted")["legend"] == ["acme120"]
        from ops.observing.series import Unit

        metrics.put(accepted("acme"), Unit.COUNT, BEGAN_MS + 119_000, 1, 80)
        page.page.clock.run_for(10_000)
        page.wait_for_drawing(1)
        assert page.card("acme: accepted")["legend"] == ["acme200"]


def test_a_server_that_ended_is_told_and_the_last_figures_stay(source: MadeSource, tab: Opened) -> None:
    with site(source) as url, tab(url) as page:
        page.open()
        page.page.route("**/api/**", lambda route: route.abort())
        page.page.get_by_role("button", name="5 min", exact=True).click()
        assert "does not answer" in page.notice()
        assert page.card("Near")["canvas"]


def test_what_a_source_has_to_say_stands_above_the_widgets(
    source: MadeSource, address: str, tab: Opened
) -> None:
    source.told = "The platform does not answer any more."
    with tab(address) as page:
        page.open()
        assert page.notice() == "The platform does not answer any more."


def test_a_dashboard_that_is_broken_says_so(metrics: MetricStore, tab: Opened) -> None:
    with serving(MadeSource(metrics, {"broken": "{"}), 0) as url, tab(url) as page:
        page.page.goto(url)
        assert "not JSON" in page.notice()


def test_a_dark_page_has_light_writing(address: str, tab: Opened) -> None:
    with tab(address, scheme="dark") as page:
        page.open()
        ink = page.page.evaluate("getComputedStyle(document.body).color")
        assert ink == "rgb(232, 238, 236)"
        assert page.errors == []
