"""The dashboards' page as an operator sees it: a page object over headless Chromium, and what it measures."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from playwright.sync_api import ConsoleMessage, Page, expect

# A dashboard of a hundred charts is drawn in a second; the rest is for a machine with both cores busy.
_PATIENCE_MS: Final = 60_000

_LOOK: Final = (Path(__file__).parent / "look.js").read_text(encoding="utf-8")


class DashboardPage:
    """One tab with dashboards. `errors` has what its console complained of."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.errors: list[str] = []
        self._address = address
        page.set_default_timeout(_PATIENCE_MS)
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def open(self, name: str | None = None, **choices: str) -> None:
        """Open a dashboard, with what is chosen as its address says, and wait until it is drawn."""
        query = urlencode({**({"name": name} if name else {}), **choices})
        self.page.goto(f"{self._address}?{query}")
        self.wait_for_drawing(0)

    def drawings(self) -> int:
        """How often it was drawn since it was opened."""
        return int(self.page.locator("body").get_attribute("data-drawn") or 0)

    def wait_for_drawing(self, after: int) -> None:
        """Wait until it was drawn once more than `after` times."""
        # Not by a function: the page's own policy forbids what is not a file of its own, in tests too.
        self.page.locator(f'body[data-drawn]:not([data-drawn="{after}"])').wait_for()

    def cards(self) -> list[dict[str, Any]]:
        """Each widget's card, as look.js measures it, in order."""
        cards: list[dict[str, Any]] = self.page.evaluate(_LOOK)
        return cards

    def card(self, title: str) -> dict[str, Any]:
        """The one card with this title."""
        (card,) = [one for one in self.cards() if one["title"] == title]
        return card

    def notice(self) -> str:
        """Wait for a notice above the widgets, and return it."""
        expect(self.page.locator("#notice")).to_be_visible(timeout=_PATIENCE_MS)
        return self.page.locator("#notice").inner_text()

    def photograph(self, file: Path) -> None:
        """A picture of the whole page."""
        file.parent.mkdir(parents=True, exist_ok=True)
        self.page.evaluate("document.querySelector('.top').style.position = 'static'")
        self.page.screenshot(path=file, full_page=True)

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)


def faults(cards: list[dict[str, Any]], width: int) -> list[str]:
    """What a person would find wrong with the cards, each fault with the title of its card."""
    found = []
    for card in cards:
        where = card["title"] or card["text"][:40]
        if card["kind"] not in ("text", "alarm"):
            found += [f"{where}: no title"] if not card["title"] else []
            found += [f"{where}: no unit"] if card["kind"] == "lines" and not card["units"][0] else []
            found += [f"{where}: {card['empty']}"] if card["empty"] else []
            found += [f"{where}: no chart"] if card["kind"] == "lines" and not card["canvas"] else []
        found += [f"{where}: fault"] if card["kind"] == "fault" else []
        found += [f"{where}: outside its card: {text}" for text in card["outside"]]
        found += [f"{where}: on each other: {pair}" for pair in card["covered"]]
        found += [f"{where}: cut off: {text}" for text in card["cut"]]
        if card["box"]["left"] < 0 or card["box"]["right"] > width:
            found.append(f"{where}: outside the page")
    return found + [f"{one} lies on {other}" for one, other in _lying_on_each_other(cards)]


def _lying_on_each_other(cards: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [
        (one["title"], other["title"])
        for at, one in enumerate(cards)
        for other in cards[at + 1 :]
        if _meet(one["box"], other["box"])
    ]


def _meet(one: dict[str, float], other: dict[str, float]) -> bool:
    wide = min(one["right"], other["right"]) - max(one["left"], other["left"])
    high = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
    return wide > 1 and high > 1
