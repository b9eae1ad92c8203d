"""Widgets' texts as HTML: what they may do, and above all what they may not."""

from __future__ import annotations

import pytest

from ops.dashboard.markdown import render

CONSOLE = "https://eu-west-1.console.aws.amazon.com/cloudwatch/home?region=eu-west-1"


def test_headings_lists_code_and_tables_are_drawn() -> None:
    html = render("# First\n\n1. **do** `this`\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    for part in (
        '<h1 id="first">First</h1>',
        "<ol>",
        "<strong>do</strong>",
        "<code>this</code>",
        "<td>1</td>",
    ):
        assert part in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "a <b onclick='x()'>b</b>",
        "`<script>`",
    ],
)
def test_html_in_a_text_is_shown_as_text(text: str) -> None:
    html = render(text)
    assert "<script" not in html
    assert "<img" not in html
    assert "<b " not in html


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd"],
)
def test_an_address_that_is_no_web_page_is_no_link(address: str) -> None:
    assert "<a" not in render(f"[x]({address})")
    assert "<a" not in render(f"<{address}>")


def test_a_picture_is_not_loaded() -> None:
    assert "<img" not in render("![x](https://example.com/x.png)")


def test_a_link_opens_beside_the_dashboard_and_tells_nobody_where_it_was_followed() -> None:
    html = render('[runbook](https://example.com/a?b=1&c="2")')
    assert 'target="_blank"' in html
    assert 'rel="noopener noreferrer"' in html
    assert '"2"' not in html


def test_a_link_within_the_page_stays_in_it() -> None:
    assert render("[below](#below)") == '<p><a href="#below">below</a></p>\n'


def test_the_runbook_s_place_in_the_repository_is_its_page_here() -> None:
    assert 'href="/runbook#function-errors"' in render("[what to do](docs/runbook.md#function-errors)")
    code = render("runbook (`docs/runbook.md#function-errors`)")
    assert '(<a href="/runbook#function-errors"><code>docs/runbook.md#function-errors</code></a>)' in code


def test_a_dashboard_in_cloudwatch_s_console_is_the_one_here() -> None:
    html = render(f"[that tenant]({CONSOLE}#dashboards/dashboard/onceward-local_any-tenant)")
    assert html == '<p><a href="/?name=onceward-local_any-tenant">that tenant</a></p>\n'


def test_another_page_of_the_console_is_only_its_text() -> None:
    assert "href" not in render(f"[all alarms]({CONSOLE}#alarmsV2:)")


@pytest.mark.parametrize("address", ["adr/0122-one-page.md", "//example.com/x", "/api/dashboards"])
def test_a_link_to_another_file_of_the_repository_is_only_its_text(address: str) -> None:
    html = render(f"[see there]({address})")
    assert "href" not in html
    assert "see there" in html


def test_a_heading_can_be_linked_to_by_its_words() -> None:
    assert (
        render("## Restoring a table (drill)")
        == '<h2 id="restoring-a-table-drill">Restoring a table (drill)</h2>\n'
    )


def test_cloudwatch_s_buttons_are_links_that_look_like_buttons() -> None:
    html = render("[button:primary:Look](https://example.com/)")
    assert 'class="button primary"' in html
    assert ">Look</a>" in html
