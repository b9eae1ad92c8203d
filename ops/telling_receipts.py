"""How receipts and their timelines are printed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from ops.output import flat, print_columns, print_json, shown
from ops.receipts import moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ops.timeline import Moment, Subject, Timeline

_NOW = "now"


def print_receipt(details: Mapping[str, Any], *, as_json: bool) -> None:
    """Print what `ops.receipts.described` made."""
    if as_json:
        print_json(dict(details))
    else:
        print_columns([(name, shown(value)) for name, value in flat(dict(details))])


def print_timeline(
    receipt: Mapping[str, Any] | None, subject: Subject, timeline: Timeline, *, as_json: bool
) -> None:
    """Print one line for each moment, the state of now at the end."""
    if as_json:
        moments = [_plain(one) for one in timeline.moments]
        ids = {"recordId": subject.ids.record_id, "eventId": subject.ids.event_id}
        shown_receipt = None if receipt is None else dict(receipt)
        print_json({**ids, "receipt": shown_receipt, "timeline": moments, "notes": timeline.notes})
        return
    if receipt is not None:
        heading = (receipt["tenant"], receipt["key"].strip(), receipt["operation"], receipt["status"])
        typer.echo("  ".join(heading))
    typer.echo(f"record {subject.ids.record_id}  event {subject.ids.event_id}")
    rows = [(_when(one), one.where, one.what, _details(one)) for one in timeline.moments]
    print_columns([("TIME (UTC)", "WHERE", "WHAT", "MORE"), *rows])
    for note in timeline.notes:
        typer.echo(f"Note: {note}")


@contextmanager
def watching() -> Iterator[Callable[[str], None]]:
    """Something to tell what is being looked at: shown where somebody watches, gone at the end."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _text: None
        return
    with console.status("Looking") as status:
        yield status.update


def _when(one: Moment) -> str:
    return _NOW if one.at is None else moment(one.at).replace("T", " ").removesuffix("Z")


def _details(one: Moment) -> str:
    return ", ".join(f"{name} {shown(value)}" for name, value in one.details.items())


def _plain(one: Moment) -> dict[str, Any]:
    at = None if one.at is None else moment(one.at)
    return {"at": at, "where": one.where, "what": one.what, "details": dict(one.details)}
