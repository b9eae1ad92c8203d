"""Fixtures of the dashboards' tests: one Chromium a module, a fresh tab a test."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.e2e.dashboard.page import DashboardPage
from tests.e2e.lead_form.page import browser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from playwright.sync_api import Browser

    Opened = Callable[..., AbstractContextManager[DashboardPage]]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture
def tab(chromium: Browser) -> Opened:
    """Opens a tab for an address: `with tab(address, width=1280) as page:`."""

    @contextmanager
    def opened(address: str, width: int = 1280, scheme: str = "light") -> Iterator[DashboardPage]:
        size = {"width": width, "height": 900}
        with chromium.new_context(viewport=size, color_scheme=scheme) as context:  # type: ignore[arg-type]
            yield DashboardPage(context.new_page(), address)

    return opened
