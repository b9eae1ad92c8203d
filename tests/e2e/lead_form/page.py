"""The lead form as a visitor uses it: a page object over headless Chromium."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from tests.e2e.lead_form import chromium

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# As root in a container there is no sandbox to be had; the rest stops the browser's own calls home.
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# Longer than the form's own back-off up to its third attempt, on a machine with both cores busy.
_PATIENCE_MS = 10_000

LEAD = {
    "name": "Ada Lovelace",
    "email": "ada@engines.example",
    "company": "Analytical Engines",
    "message": "We would like to compute Bernoulli numbers.",
}


@contextmanager
def browser() -> Iterator[Browser]:
    """Run headless Chromium; the test is skipped, by name, where the machine has none."""
    path = chromium.find()
    if path is None:
        pytest.skip(f"no Chromium on the PATH (looked for {', '.join(chromium.NAMES)})")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(_FLAGS))
        try:
            yield running
        finally:
            running.close()


class LeadPage:
    """One tab with the form open. `errors` has what its console complained of."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.errors: list[str] = []
        page.set_default_timeout(_PATIENCE_MS)
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(url)

    def fill(self, lead: Mapping[str, str]) -> None:
        """Type the lead into the form, as it is (fields that it does not name are left alone)."""
        for field, value in lead.items():
            self.page.fill(f"#{field}", value)

    def send(self) -> None:
        """Press the button once."""
        self.page.click("#send")

    def reference(self) -> str:
        """Wait for the thanks and return the lead's id."""
        expect(self.page.locator("#done")).to_be_visible(timeout=_PATIENCE_MS)
        return self.page.locator("#lead-id").inner_text()

    def replayed(self) -> bool:
        """Whether the thanks say that the message had been received before."""
        return self.page.locator("#done").get_attribute("data-replayed") == "true"

    def summary(self) -> str:
        """Wait for the fault summary and return its text."""
        expect(self.page.locator("#summary")).to_be_visible(timeout=_PATIENCE_MS)
        return self.page.locator("#summary").inner_text()

    def error_of(self, field: str) -> str:
        """Return what is said next to a field ('' for nothing)."""
        return self.page.locator(f"#{field}-error").inner_text()

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)
