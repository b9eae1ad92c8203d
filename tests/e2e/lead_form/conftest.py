"""Fixtures of the form's tests: one Chromium a module, one fake API and one fresh tab a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.lead_form.fake_api import PUBLISHABLE_KEY, LeadApi, form_site, lead_api
from tests.e2e.lead_form.page import LeadPage, browser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture
def fake_api() -> Iterator[LeadApi]:
    with lead_api() as running:
        yield running


@pytest.fixture
def form(chromium: Browser, fake_api: LeadApi) -> Iterator[LeadPage]:
    config = {"apiUrl": fake_api.url, "tenantName": "Acme Industries", "apiKey": PUBLISHABLE_KEY}
    with form_site(config) as url, chromium.new_context() as context:
        yield LeadPage(context.new_page(), url)
