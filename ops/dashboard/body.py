"""The body of a CloudWatch dashboard, read as far as this page draws it. Pure.

What each field means is in AWS's "Dashboard Body Structure and Syntax" (CloudWatch API reference).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

COLUMNS: Final = 24
"""The grid's width, on AWS and here."""


class BodyError(ValueError):
    """The text is not the body of a dashboard; the message says where it is not."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a widget is on the grid, in columns and rows from the upper left corner."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Widget:
    """One widget: `kind` is metric, text, alarm or something that is not drawn here."""

    kind: str
    place: Place
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Body:
    """A dashboard: its widgets in order, its variables as the body has them.

    `inherit`: the body asks (`periodOverride: inherit`) that each widget's own period is kept.
    """

    widgets: tuple[Widget, ...]
    variables: tuple[Mapping[str, Any], ...]
    inherit: bool


def parse(text: str) -> Body:
    """Read a body.

    Raises BodyError: not JSON, no list of widgets or of variables, a widget without its place or properties.
    """
    try:
        document = json.loads(text)
    except ValueError as error:
        raise BodyError(f"not JSON: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("widgets"), list):
        raise BodyError("no list of widgets")
    variables = document.get("variables", [])
    if not isinstance(variables, list):
        raise BodyError("no list of variables")
    return Body(
        widgets=tuple(_widget(number, each) for number, each in enumerate(document["widgets"], start=1)),
        variables=tuple(variables),
        inherit=document.get("periodOverride") == "inherit",
    )


def _widget(number: int, widget: Any) -> Widget:  # noqa: ANN401 (JSON of any shape)
    try:
        place = Place(*(int(widget[name]) for name in ("x", "y", "width", "height")))
        kind, properties = str(widget["type"]), dict(widget["properties"])
    except (KeyError, OverflowError, TypeError, ValueError) as error:
        raise BodyError(f"widget {number}: {type(error).__name__} {error}") from error
    if place.x < 0 or place.y < 0 or place.width < 1 or place.height < 1 or place.x + place.width > COLUMNS:
        raise BodyError(f"widget {number}: it is not on the grid of {COLUMNS} columns: {place}")
    return Widget(kind, place, properties)
