"""What the dashboards' page says of trouble that is its own, in headless Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.dashboard.made import body, counts, store
from tests.unit.dashboard.pages import MadeSource, site

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.dashboard.conftest import Opened

pytestmark = pytest.mark.browser


def test_a_page_that_cannot_draw_an_answer_does_not_blame_the_server(tmp_path: Path, tab: Opened) -> None:
    with (
        store(tmp_path) as metrics,
        site(MadeSource(metrics, {"one": body(counts())})) as url,
        tab(url) as page,
    ):
        page.page.route("**/api/dashboard?*", lambda route: route.fulfill(json={"variables": None}))
        page.page.goto(url)
        assert page.notice().startswith("This dashboard cannot be shown: ")
