"""How commands print: aligned columns for people and pipes, JSON for scripts."""

from __future__ import annotations

import json
from typing import Any

import typer


def flat(value: Any, name: str = "") -> list[tuple[str, Any]]:  # noqa: ANN401 (JSON of any shape)
    """Dotted names and their scalars or lists of scalars, in order."""
    if isinstance(value, dict) and value:
        return [pair for key, item in value.items() for pair in flat(item, f"{name}.{key}".lstrip("."))]
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return [pair for index, item in enumerate(value) for pair in flat(item, f"{name}[{index}]")]
    return [(name, value)]


def shown(value: object) -> str:
    """A scalar, or a list of scalars, in a table's cell; `-` for nothing."""
    if value is None or value == []:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def print_columns(rows: list[tuple[str, ...]]) -> None:
    """Print rows with aligned columns; all rows have as many cells as the first."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        typer.echo("  ".join(cells).rstrip())


def print_json(value: object) -> None:
    """Print `value` as indented JSON."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))
