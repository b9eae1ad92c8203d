"""Widgets of a kept dashboard that would draw nothing with a run's metrics."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ops.observing.kept_files import DASHBOARDS, METRICS
from ops.observing.queries import evaluate
from ops.observing.store import MetricStore, aligned

if TYPE_CHECKING:
    from pathlib import Path


def empty_widgets(run: Path, dashboard: str, tenant: str) -> list[str]:
    """The titles of the dashboard's widgets without a point; its tenant variable is `tenant`."""
    body = json.loads((run / DASHBOARDS / f"{dashboard}.json").read_text())
    patterns = [each["pattern"] for each in body.get("variables", []) if each["type"] == "pattern"]
    text = json.dumps(body)
    for pattern in patterns:
        text = text.replace(pattern, tenant)
    widgets = [each["properties"] for each in json.loads(text)["widgets"] if each["type"] == "metric"]
    assert widgets, f"{dashboard}: no widgets"
    with MetricStore(run / METRICS, read_only=True) as store:
        return [widget["title"] for widget in widgets if not _draws(widget, store)]


def _draws(widget: dict[str, Any], store: MetricStore) -> bool:
    span = store.span()
    assert span is not None, "no metrics"
    period = widget.get("period", 300)
    begin, end = aligned(span[0], period), span[1] + 1000
    lines = evaluate(widget["metrics"], store, period, begin, end, statistic=widget.get("stat", "Average"))
    return any(line.visible and line.points for line in lines)
