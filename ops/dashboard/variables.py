"""A dashboard's variables: what can be chosen, and the dashboard's body with what was chosen in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ops.dashboard.body import BodyError
from ops.observing.search import matching

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.observing.store import MetricStore

_FIRST: Final = "__FIRST"
"""CloudWatch's word for "the first value that is found"."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable of a dashboard.

    Attributes:
        id: names it in the page's address. label: for people.
        kind: `property` (the value of a dimension or of a widget's property) or `pattern` (a piece of text).
        target: the name of the property, or the text that the chosen value takes the place of.
        form: how it is chosen: `select`, `radio` or `input`.
        choices: value and label of each, in order.
        value: what is chosen; "" when nothing is and there is nothing to choose.
    """

    id: str
    label: str
    kind: str
    target: str
    form: str
    choices: tuple[tuple[str, str], ...]
    value: str


def read(
    declared: Sequence[Mapping[str, Any]], store: MetricStore, wanted: Mapping[str, str]
) -> list[Variable]:
    """The variables of a body with their choices, those of a search as the store knows them.

    `wanted`: chosen values by id; a variable that is not among them has its default. Raises BodyError for a
    variable that lacks what its kind needs.
    """
    found = []
    for number, each in enumerate(declared, start=1):
        try:
            if each.get("type") in _TARGETS:
                found.append(_read(each, store, wanted))
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise BodyError(f"variable {number}: {type(error).__name__} {error}") from error
    return found


_TARGETS: Final = {"property": "property", "pattern": "pattern"}
"""Where each kind of variable says what it changes."""


def _read(declared: Mapping[str, Any], store: MetricStore, wanted: Mapping[str, str]) -> Variable:
    choices = tuple(
        (str(each["value"]), str(each.get("label", each["value"]))) for each in declared.get("values", ())
    )
    if "search" in declared:
        found, dimension = matching(str(declared["search"]), store), str(declared["populateFrom"])
        values = {value for series in found for name, value in series.dimensions if name == dimension}
        choices += tuple((value, value) for value in sorted(values))
    kind, name = str(declared["type"]), str(declared["id"])
    target = str(declared[_TARGETS[kind]])
    return Variable(
        id=name,
        label=str(declared.get("label", target)),
        kind=kind,
        target=target,
        form=str(declared.get("inputType", "select")),
        choices=choices,
        value=wanted.get(name) or _default(str(declared.get("defaultValue", "")), choices),
    )


def _default(default: str, choices: Sequence[tuple[str, str]]) -> str:
    """The body's own default; the first choice when that is what it asks for, or is not among the choices."""
    values = [value for value, _ in choices]
    if values and (default == _FIRST or default not in values):
        return values[0]
    return "" if default == _FIRST else default


def applied(text: str, variables: Sequence[Variable]) -> str:
    """The body's text with each variable's chosen value where the variable says.

    A pattern is replaced wherever it stands, in expressions and titles too; a property where it is the
    property of a widget or a dimension in a metric's row, and not inside an expression (as on AWS).
    """
    for variable in variables:
        if not variable.value:
            continue
        if variable.kind == "pattern":
            text = text.replace(_inside_json(variable.target), _inside_json(variable.value))
        else:
            text = json.dumps(_with_property(json.loads(text), variable.target, variable.value))
    return text


def _inside_json(text: str) -> str:
    """As it stands inside a JSON string: a chosen value must not end the string that it is put into."""
    return json.dumps(text)[1:-1]


def _with_property(document: dict[str, Any], name: str, value: str) -> dict[str, Any]:
    """The document with one property's value in every widget that has it."""
    for widget in document["widgets"]:
        properties = widget["properties"]
        if name in properties:
            properties[name] = value
        rows = properties.get("metrics")
        for row in rows if isinstance(rows, list) else ():
            _set_dimension(row, name, value)
    return document


def _set_dimension(row: object, name: str, value: str) -> None:
    """In a row `[namespace, metric, dimension, value, ..., options]`, set the value of one dimension."""
    if not isinstance(row, list):
        return  # its widget says so when it is drawn
    for at in range(2, len(row) - 1, 2):
        if row[at] == name and isinstance(row[at + 1], str):
            row[at + 1] = value
