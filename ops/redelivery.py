"""The work of `onceward dispatch replay`: look, say what there is, queue it, say what was queued."""

from __future__ import annotations

import time
from collections import Counter
from datetime import UTC
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn

from ops.failures import Failures, UnreadableFailure
from ops.output import print_columns, print_json
from ops.replay import REASON, Found, Replay, Window

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from handlers.adapters.parking import RetryQueue
    from ops.replay import Due


def from_receipts(work: Replay, window: Window, *, republish: bool, dry_run: bool, as_json: bool) -> None:
    """Queue the receipts of `window` without a record; with `republish`, all of them."""
    with _progress() as progress:
        found = _look(work, window, progress, republish=republish)
        if not as_json:
            _print_counts(found, window, republish=republish)
        queued = 0 if dry_run else _queue(work, found.due, progress)
    if as_json:
        print_json(
            {
                **_times(window),
                "receipts": found.receipts,
                "corrupt": found.corrupt,
                "missing": found.missing,
                "due": len(found.due),
                "queued": queued,
                "tenants": _by_tenant(found.due),
            }
        )
    elif not dry_run and found.due:
        typer.echo(f"Queued {queued}. With --dry-run, see what is left once `dispatch` has had its turn.")


def from_failures(
    failures: Failures, queue: RetryQueue, window: Window, *, delete: bool, dry_run: bool, as_json: bool
) -> None:
    """Queue every image in the failure bucket; with `delete`, remove the objects that are queued whole.

    Ends with exit code 1 when an object could not be read.
    """
    tenants: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    with _progress() as progress:
        task = progress.add_task("Looking", total=None)
        for name in failures.objects(window):
            counts["objects"] += 1
            try:
                images = [image for image in failures.images(name) if _is_wanted(image, window)]
            except UnreadableFailure as error:
                counts["unreadable"] += 1
                typer.echo(f"{error}: left as it is", err=True)
                continue
            tenants.update(_tenant_of(image) for image in images)
            if not dry_run:
                counts["queued"] += _park(queue, images)
            if delete:
                failures.delete(name)
                counts["deleted"] += 1
            progress.update(task, description=f"{counts['objects']:,} objects, {tenants.total():,} receipts")
    _tell_failures(counts, tenants, window, as_json=as_json)
    if counts["unreadable"]:
        raise typer.Exit(1)


def _tell_failures(counts: Counter[str], tenants: Counter[str], window: Window, *, as_json: bool) -> None:
    by_tenant = dict(sorted(tenants.items()))
    if as_json:
        numbers = {name: counts[name] for name in ("objects", "unreadable", "queued", "deleted")}
        print_json({**_times(window), **numbers, "receipts": tenants.total(), "tenants": by_tenant})
        return
    typer.echo(f"{counts['objects']:,} objects in the failure bucket, {tenants.total():,} receipts in them")
    _print_tenants("RECEIPTS", by_tenant)
    typer.echo(f"Queued {counts['queued']:,}, removed {counts['deleted']:,} objects.")


def _park(queue: RetryQueue, images: Sequence[Mapping[str, Any]]) -> int:
    for image in images:
        queue.park(image, REASON, _now_ms())
    return len(images)


def _is_wanted(image: Mapping[str, Any], window: Window) -> bool:
    return window.tenant_id is None or _tenant_of(image) == window.tenant_id


def _tenant_of(image: Mapping[str, Any]) -> str:
    attribute = image.get("tenantId")
    value = attribute.get("S") if isinstance(attribute, dict) else None
    return value if isinstance(value, str) else "unknown"


def _look(work: Replay, window: Window, progress: Progress, *, republish: bool) -> Found:
    task = progress.add_task("Looking", total=None)

    def tell(found: Found) -> None:
        text = f"Looked at {found.receipts:,} receipts, {found.missing:,} without a record"
        progress.update(task, description=text)

    found = work.look(window, tell, republish=republish)
    progress.remove_task(task)
    return found


def _queue(work: Replay, due: Sequence[Due], progress: Progress) -> int:
    task = progress.add_task("Queueing", total=len(due))
    queued = 0
    for done, one in enumerate(due, start=1):
        queued += work.queue(one, _now_ms())
        progress.update(task, completed=done, description=f"Queued {queued:,} of {len(due):,}")
    return queued


def _print_counts(found: Found, window: Window, *, republish: bool) -> None:
    when = "" if window.since is None else f" since {window.since.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    typer.echo(f"{found.receipts:,} receipts{when}, {found.missing:,} without a record")
    if found.corrupt:
        typer.echo(
            f"{found.corrupt:,} of them name no record and cannot be delivered: see the dead-letter queue"
        )
    if republish and found.due:
        typer.echo("Subscribers may get these events twice, with the same id.")
    _print_tenants("TO QUEUE" if republish else "MISSING", _by_tenant(found.due))


def _print_tenants(heading: str, counts: Mapping[str, int]) -> None:
    if counts:
        print_columns([("TENANT", heading), *((tenant, f"{count:,}") for tenant, count in counts.items())])


def _times(window: Window) -> dict[str, str | None]:
    moments = {"since": window.since, "until": window.until}
    return {name: moment.isoformat() if moment else None for name, moment in moments.items()}


def _by_tenant(due: Sequence[Due]) -> dict[str, int]:
    return dict(sorted(Counter(one.tenant_id for one in due).items()))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _progress() -> Progress:
    # On stderr, so that what is piped on is the result; gone at the end, and silent where nobody watches.
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"))
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
