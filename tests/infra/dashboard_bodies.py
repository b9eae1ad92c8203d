"""The dashboards of a run of the program, taken apart."""

import json
from typing import Any

from tests.infra.engine import Run

DASHBOARD = "aws:cloudwatch/dashboard:Dashboard"
PLATFORM, ANY_TENANT = "onceward-dev_platform", "onceward-dev_any-tenant"


def bodies(run: Run) -> dict[str, str]:
    """The text of every dashboard, by its name."""
    return {each.inputs["dashboardName"]: each.inputs["dashboardBody"] for each in run.of_type(DASHBOARD)}


def widgets(body: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(body)["widgets"]
    return found


def metric_widgets(body: str) -> list[dict[str, Any]]:
    return [each for each in widgets(body) if each["type"] == "metric"]


def titled(body: str, title: str) -> dict[str, Any]:
    (found,) = [each["properties"] for each in widgets(body) if each["properties"].get("title") == title]
    properties: dict[str, Any] = found
    return properties


def thresholds(properties: dict[str, Any]) -> dict[str, float]:
    lines = properties.get("annotations", {}).get("horizontal", [])
    return {each["label"]: each["value"] for each in lines}
