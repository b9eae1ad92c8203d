"""A planted version: what it is, and which schedule the search has to find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from proof.requests import unmeasured
from proof.search import search

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from handlers.domain.receipt import Receipt
    from proof.scenario import Scenario
    from proof.search import Found
    from tests.fakes.receipts import InMemoryReceipts


@dataclass(frozen=True)
class Planted:
    """The real code with one thing broken.

    Attributes:
        name: a short one, as on the command line.
        what: what is broken, in a sentence.
        breaks: what the search must find, word for word.
        moves, faults: of the smallest schedule that leads there.
        scenario: where it is looked for; without the patch nothing is found in it.
        patch: breaks the one thing while it is entered.
    """

    name: str
    what: str
    breaks: str
    moves: int
    faults: int
    scenario: Callable[[], Scenario]
    patch: Callable[[], AbstractContextManager[Any]]


def find(planted: Planted) -> Found:
    """Search the planted version; the first violation is a shortest."""
    # Made before anything is broken: what the rules go by must be right.
    scenario = planted.scenario()
    with unmeasured(), planted.patch():
        return search(scenario)


def stands(store: InMemoryReceipts, receipt: Receipt) -> Receipt | None:
    """What stands in the place of `receipt`."""
    return store.items.get((receipt.tenant_id, receipt.key))
