"""What dashboards are drawn of, and what is said when something of it is missing."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from ops.dashboard.alarms import AlarmWatch
from ops.dashboard.runs import RunFiles
from ops.dashboard.sources import Live, Recorded
from ops.local.outputs import LocalOutputs
from ops.observing.alarm_definitions import METRIC_ALARM, Definitions
from tests.unit.dashboard.made import BEGAN_MS, SERVICE, store
from tests.unit.dashboard.test_runs import kept

if TYPE_CHECKING:
    from pathlib import Path

MINUTE_MS = 60_000


def alarms(**changes: Any) -> Definitions:
    """One alarm, which rings from 100 accepted requests a minute on: there are 180."""
    inputs = {
        "name": "flood",
        "alarmDescription": "Many requests. docs/runbook.md#flood",
        "namespace": "Onceward",
        "metricName": "Accepted",
        "dimensions": {"Service": SERVICE},
        "statistic": "Sum",
        "period": 60,
        "evaluationPeriods": 1,
        "threshold": 100,
        "comparisonOperator": "GreaterThanOrEqualToThreshold",
        "treatMissingData": "notBreaching",
        **changes,
    }
    return Definitions(((METRIC_ALARM, inputs),))


def test_an_alarm_is_shown_as_it_is_at_the_moment(tmp_path: Path) -> None:
    with store(tmp_path) as metrics:
        watch = AlarmWatch(alarms())
        ringing = watch.states(metrics, BEGAN_MS + 119_000)["flood"]
        assert (ringing.state, ringing.description) == ("ALARM", "Many requests. docs/runbook.md#flood")
        assert ringing.changed_ms is not None
        # Another minute is evaluated anew: the storm is over.
        quiet = watch.states(metrics, BEGAN_MS + 20 * MINUTE_MS)["flood"]
        assert quiet.state == "OK"
        assert watch.fault is None


def test_an_alarm_that_is_not_evaluated_here_is_told_and_the_dashboards_are_drawn(tmp_path: Path) -> None:
    with store(tmp_path) as metrics:
        watch = AlarmWatch(alarms(period=10))
        assert watch.states(metrics, BEGAN_MS + MINUTE_MS) == {}
        assert watch.fault is not None
        assert "flood" in watch.fault


def test_a_run_is_drawn_with_its_alarms_at_its_end(tmp_path: Path) -> None:
    directory = kept(tmp_path, "aaa111", at=1000)
    (directory / "alarms.json").write_text(alarms().to_json(), encoding="utf-8")
    with Recorded(RunFiles(directory)) as source:
        seen = source.seen()
        assert seen.now_ms is None
        assert seen.alarms["flood"].state == "ALARM"
        assert source.notice() is None


def test_a_run_without_its_alarms_says_so(tmp_path: Path) -> None:
    with Recorded(RunFiles(kept(tmp_path, "aaa111", at=1000))) as source:
        assert source.seen().alarms == {}
        assert source.notice() == "The alarms of this run were not kept."


def test_a_platform_that_is_gone_is_told_and_no_error(tmp_path: Path) -> None:
    with socket.socket() as taken:  # nobody listens on it
        taken.bind(("127.0.0.1", 0))
        (tmp_path / "local.json").write_text("{}", encoding="utf-8")
        with Live(tmp_path, outputs(f"http://127.0.0.1:{taken.getsockname()[1]}")) as source:
            assert source.bodies() == {}
            assert "does not answer" in str(source.notice())
            assert source.seen().store.span() is None


def outputs(endpoint_url: str) -> LocalOutputs:
    """Of a platform without tenants."""
    return LocalOutputs(
        api_url=endpoint_url,
        endpoint_url=endpoint_url,
        access_key_id="AKEY",
        secret_access_key="secret",
        region="eu-west-1",
        stage="local",
        tables={},
        functions={},
        tenants={},
        stand_in_url=None,
    )
