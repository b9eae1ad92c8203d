"""Planted versions: the real code with one thing broken, each of which the search has to find."""

from __future__ import annotations

from typing import Final

from proof.planted import (
    accepting,
    answering,
    booking,
    claims,
    delivering,
    documents,
    effects,
    fences,
    outages,
    takeovers,
    windows,
    working,
)
from proof.planted.plant import Planted, find

__all__ = ["ALL", "Planted", "find"]

ALL: Final[tuple[Planted, ...]] = (
    *claims.PLANTED,
    *fences.PLANTED,
    *takeovers.PLANTED,
    *windows.PLANTED,
    *effects.PLANTED,
    *answering.PLANTED,
    *outages.PLANTED,
    *booking.PLANTED,
    *accepting.PLANTED,
    *delivering.PLANTED,
    *documents.PLANTED,
    *working.PLANTED,
)
"""Every planted version; each rule of the checkers is broken by one of them at least (a test reads both)."""
