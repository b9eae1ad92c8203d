"""Alarms as the Pulumi program registered them, in the words of CloudWatch's API."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, cast, get_args

from ops.local.urn import type_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from ops.local.state import Entry

METRIC_ALARM: Final = "aws:cloudwatch/metricAlarm:MetricAlarm"
COMPOSITE_ALARM: Final = "aws:cloudwatch/compositeAlarm:CompositeAlarm"

Missing = Literal["missing", "ignore", "breaching", "notBreaching"]
"""What a period without data counts as."""

Comparison = Literal[
    "GreaterThanOrEqualToThreshold",
    "GreaterThanThreshold",
    "LessThanThreshold",
    "LessThanOrEqualToThreshold",
]

# "Alarms that evaluate metrics in the AWS/DynamoDB namespace always ignore missing data even if you choose a
# different option" (CloudWatch's API reference, PutMetricAlarm).
_IGNORES_MISSING_DATA: Final = "AWS/DynamoDB"
# The shortest period of an alarm that looks at its windows once a minute, seconds; shorter ones look oftener.
_STANDARD_PERIOD: Final = 60
# What the evaluation here does not know (docs/adr/0129), by the input that asks for it.
_NOT_COVERED: Final = {
    "thresholdMetricId": "anomaly detection",
    "unit": "one unit of several",
    "evaluationCriteria": "PromQL",
}


class NotCovered(Exception):
    """The alarm asks for something of CloudWatch's that is not evaluated here."""


@dataclass(frozen=True)
class MetricAlarm:
    """Rings when `datapoints_to_alarm` of the last `evaluation_periods` periods are beyond the threshold.

    Attributes:
        queries: what it looks at, as `Metrics` of PutMetricAlarm; exactly one has `ReturnData` true.
        period_seconds: of all of them.
        alarm_actions, ok_actions: ARNs of who is told; none where the alarm's actions are off.
    """

    name: str
    description: str
    queries: tuple[Mapping[str, Any], ...]
    period_seconds: int
    evaluation_periods: int
    datapoints_to_alarm: int
    comparison: Comparison
    threshold: float
    missing: Missing
    alarm_actions: tuple[str, ...]
    ok_actions: tuple[str, ...]


@dataclass(frozen=True)
class CompositeAlarm:
    """Rings while its rule holds, and tells nobody while its suppressor rings.

    Attributes:
        suppressor: the name of an alarm, or None.
        wait_seconds: how long it waits for the suppressor to ring before it tells.
        extension_seconds: how long it stays muted after the suppressor has stopped.
    """

    name: str
    description: str
    rule: str
    suppressor: str | None
    wait_seconds: int
    extension_seconds: int
    alarm_actions: tuple[str, ...]
    ok_actions: tuple[str, ...]


Inputs = dict[str, Any]


@dataclass(frozen=True)
class Definitions:
    """Every alarm of a stage. `resources`: (type, inputs) as registered, which is what is kept in files."""

    resources: tuple[tuple[str, Inputs], ...]

    @cached_property
    def metric(self) -> tuple[MetricAlarm, ...]:
        """The alarms on metrics. Raises NotCovered."""
        return tuple(_metric(inputs) for kind, inputs in self.resources if kind == METRIC_ALARM)

    @cached_property
    def composite(self) -> tuple[CompositeAlarm, ...]:
        """The alarms on other alarms."""
        return tuple(_composite(inputs) for kind, inputs in self.resources if kind == COMPOSITE_ALARM)

    def to_json(self) -> str:
        """As text, the same for the same alarms."""
        resources = [{"type": kind, "inputs": inputs} for kind, inputs in self.resources]
        return json.dumps({"alarms": resources}, indent=1, sort_keys=True)

    @classmethod
    def from_file(cls, path: Path) -> Definitions:
        """What is kept in the file. Raises OSError, and ValueError with the file's name for another text."""
        try:
            made = cls.from_json(path.read_text(encoding="utf-8"))
            with suppress(NotCovered):  # an alarm all the same: whoever evaluates it says so
                _ = made.composite, made.metric
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path}: not the alarms of a run: {type(error).__name__} {error}") from error
        return made

    @classmethod
    def from_json(cls, text: str) -> Definitions:
        """What `to_json` gave. Raises ValueError for another text."""
        try:
            return cls(tuple((each["type"], each["inputs"]) for each in json.loads(text)["alarms"]))
        except (KeyError, TypeError) as error:
            raise ValueError("no alarms in it") from error


def registered(entries: Iterable[Entry]) -> Definitions:
    """The alarms among a local platform's resources (`ops.local.state`), by name."""
    found = [
        (type_of(entry.urn), entry.inputs)
        for entry in entries
        if type_of(entry.urn) in (METRIC_ALARM, COMPOSITE_ALARM)
    ]
    return Definitions(tuple(sorted(found, key=lambda each: _name(each[1]))))


def named(alarm: str) -> str:
    """The name of an alarm that is given by its name or its ARN."""
    return alarm.partition(":alarm:")[2] if alarm.startswith("arn:") else alarm


def _name(inputs: Inputs) -> str:
    name: str = inputs["alarmName"] if "alarmName" in inputs else inputs["name"]
    return name


def _metric(inputs: Inputs) -> MetricAlarm:
    name = _name(inputs)
    _require_covered(name, inputs)
    queries = tuple(_query(each) for each in inputs.get("metricQueries") or ()) or (_only_query(inputs),)
    periods = int(inputs["evaluationPeriods"])
    return MetricAlarm(
        name=name,
        description=inputs.get("alarmDescription", ""),
        queries=queries,
        period_seconds=_period(name, queries),
        evaluation_periods=periods,
        datapoints_to_alarm=int(inputs.get("datapointsToAlarm") or periods),
        comparison=inputs["comparisonOperator"],
        threshold=float(inputs["threshold"]),
        missing=_missing(inputs, queries),
        alarm_actions=_told(inputs, "alarmActions"),
        ok_actions=_told(inputs, "okActions"),
    )


def _composite(inputs: Inputs) -> CompositeAlarm:
    suppressor = inputs.get("actionsSuppressor") or {}
    return CompositeAlarm(
        name=_name(inputs),
        description=inputs.get("alarmDescription", ""),
        rule=inputs["alarmRule"],
        suppressor=named(suppressor["alarm"]) if suppressor else None,
        wait_seconds=int(suppressor.get("waitPeriod", 0)),
        extension_seconds=int(suppressor.get("extensionPeriod", 0)),
        alarm_actions=_told(inputs, "alarmActions"),
        ok_actions=_told(inputs, "okActions"),
    )


def _told(inputs: Inputs, actions: str) -> tuple[str, ...]:
    return tuple(inputs.get(actions) or ()) if inputs.get("actionsEnabled", True) else ()


def _require_covered(name: str, inputs: Inputs) -> None:
    asked = [what for key, what in _NOT_COVERED.items() if inputs.get(key)]
    if inputs.get("evaluateLowSampleCountPercentiles") == "ignore":
        asked.append("percentiles that ignore small samples")
    if inputs.get("comparisonOperator") not in get_args(Comparison):
        asked.append(f"comparison {inputs.get('comparisonOperator')}")
    if asked:
        raise NotCovered(f"{name}: {', '.join(asked)}")


def _only_query(inputs: Inputs) -> Mapping[str, Any]:
    statistic = inputs.get("statistic") or inputs["extendedStatistic"]
    return _query({"id": "m1", "returnData": True, "metric": {**inputs, "stat": statistic}})


def _query(query: Inputs) -> Mapping[str, Any]:
    made: dict[str, Any] = {"Id": query["id"], "ReturnData": bool(query.get("returnData"))}
    if query.get("expression"):
        made["Expression"] = query["expression"]
    if query.get("label"):
        made["Label"] = query["label"]
    if query.get("period"):
        made["Period"] = int(query["period"])
    if query.get("metric"):
        made["MetricStat"] = _metric_stat(query["metric"])
    return made


def _metric_stat(metric: Inputs) -> dict[str, Any]:
    dimensions = sorted((metric.get("dimensions") or {}).items())
    return {
        "Metric": {
            "Namespace": metric["namespace"],
            "MetricName": metric["metricName"],
            "Dimensions": [{"Name": name, "Value": value} for name, value in dimensions],
        },
        "Period": int(metric["period"]),
        "Stat": metric["stat"],
    }


def _period(name: str, queries: tuple[Mapping[str, Any], ...]) -> int:
    """The one period of all queries: an alarm's have to be the same (CloudWatch's guide, "Metric math")."""
    stated = {query["MetricStat"]["Period"] for query in queries if "MetricStat" in query}
    stated |= {query["Period"] for query in queries if "Period" in query}
    if len(stated) != 1:
        raise NotCovered(f"{name}: periods {sorted(stated)}")
    (period,) = stated
    if period < _STANDARD_PERIOD or period % _STANDARD_PERIOD:
        raise NotCovered(f"{name}: a period of {period} s")
    return cast("int", period)


def _missing(inputs: Inputs, queries: tuple[Mapping[str, Any], ...]) -> Missing:
    namespaces = {query["MetricStat"]["Metric"]["Namespace"] for query in queries if "MetricStat" in query}
    if _IGNORES_MISSING_DATA in namespaces:
        return "ignore"
    return cast("Missing", inputs.get("treatMissingData") or "missing")
