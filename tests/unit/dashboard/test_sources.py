"""What dashboards are drawn of, and what is said when something of it is missing."""

from __future__ import annotations

import os
import socket
import tempfile
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ops.dashboard.alarms import AlarmWatch, RegisteredAlarms
from ops.dashboard.runs import RunFiles
from ops.dashboard.sources import Live, Recorded
from ops.local.outputs import LocalOutputs
from ops.local.state import Entry, State
from ops.observing.alarm_definitions import METRIC_ALARM, Definitions
from ops.observing.collecting import Collector
from ops.observing.logs_seen import LogsSeen
from ops.observing.queues import Queues
from tests.unit.dashboard.made import BEGAN_MS, SERVICE, store
from tests.unit.dashboard.test_runs import kept
from tests.unit.observing.alarms import composite, definitions
from tests.unit.observing.test_answered import invocation
from tests.unit.observing.test_logs_seen import throttled_once

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ops.observing.invocations import Invocation

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


def test_no_alarm_rings_since_a_moment_to_come(tmp_path: Path) -> None:
    now_ms = BEGAN_MS + 30_000  # its first minute goes on
    with store(tmp_path) as metrics:
        assert AlarmWatch(alarms()).states(metrics, now_ms)["flood"].changed_ms == now_ms


def test_a_composite_is_muted_until_it_has_waited_and_not_after_it_told(tmp_path: Path) -> None:
    failing = composite(
        "tenant",
        "ALARM(flood)",
        actionsSuppressor={"alarm": "down", "waitPeriod": 60, "extensionPeriod": 60},
    )
    composites = definitions(failing, composite("down", "FALSE")).resources
    watch = AlarmWatch(Definitions((*alarms().resources, *composites)))
    with store(tmp_path) as metrics:  # requests until the end of minute 1: it rings from minute 1 on
        waits = watch.states(metrics, BEGAN_MS + 30_000)["tenant"]
        assert (waits.state, waits.muted) == ("ALARM", True)
        told = watch.states(metrics, BEGAN_MS + MINUTE_MS + 30_000)["tenant"]
        assert (told.state, told.muted) == ("ALARM", False)


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
        with Live(tmp_path, outputs(f"http://127.0.0.1:{taken.getsockname()[1]}")) as source:
            assert source.bodies() == {}
            assert "does not answer" in str(source.notice())
            assert source.seen().store.span() is None


def test_alarms_of_a_later_update_are_shown_and_those_of_before_while_there_are_none_to_read(
    tmp_path: Path,
) -> None:
    with store(tmp_path) as metrics:
        register(tmp_path, "flood", at=1000)
        registered = RegisteredAlarms(tmp_path)
        assert set(registered.states(metrics, BEGAN_MS)) == {"flood"}
        register(tmp_path, "deluge", at=2000)
        assert set(registered.states(metrics, BEGAN_MS)) == {"deluge"}
        (tmp_path / "state.json").write_text("{", encoding="utf-8")
        assert set(registered.states(metrics, BEGAN_MS)) == {"deluge"}
        assert "those of before" in str(registered.fault)
        (tmp_path / "state.json").unlink()
        assert set(registered.states(metrics, BEGAN_MS)) == {"deluge"}


def register(home: Path, name: str, *, at: int) -> None:
    """Write a state with one alarm, last changed at that second."""
    (kind, inputs), *_ = alarms(name=name).resources
    state = State(home / "state.json")
    state.entries = {name: Entry(f"urn:pulumi:local::onceward::{kind}::{name}", custom=True, inputs=inputs)}
    state.save()
    os.utime(home / "state.json", (at, at))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files are made."""
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    return directory


def test_what_was_collected_of_a_platform_ends_with_the_look_at_it(tmp_path: Path, temporary: Path) -> None:
    source = Live(tmp_path, outputs("http://127.0.0.1:9"))
    assert list(temporary.iterdir()) == []  # it may never be entered
    with source:
        assert len(list(temporary.iterdir())) == 1
    assert list(temporary.iterdir()) == []


def test_a_first_look_that_is_broken_off_leaves_nothing(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken_off(_collector: Collector) -> int:
        assert len(list(temporary.iterdir())) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr(Collector, "collect", broken_off)
    with pytest.raises(KeyboardInterrupt), Live(tmp_path, outputs("http://127.0.0.1:9")):
        pytest.fail("it was not entered")
    assert list(temporary.iterdir()) == []


def test_nothing_is_lost_where_a_storm_begins_while_its_platform_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = replace(invocation(), started_ms=time.time_ns() // 1_000_000)
    readable: list[Invocation] = []

    def invocations(logs: LogsSeen) -> Iterator[Invocation]:
        while readable and readable[0].started_ms >= logs._since_ms:
            yield readable.pop()

    monkeypatch.setattr(LogsSeen, "_invocations", invocations)
    monkeypatch.setattr(LogsSeen, "_filters", lambda _logs: [])
    monkeypatch.setattr(Queues, "look", lambda *_args, **_options: ())
    monkeypatch.setattr(Collector, "start", lambda _collector: None)
    (tmp_path / "local.json").write_text("{}", encoding="utf-8")
    os.utime(tmp_path / "local.json", (1000, 1000))
    with Live(tmp_path, outputs("http://127.0.0.1:9")) as source:
        run = tmp_path / "runs" / "aaa111"
        run.mkdir(parents=True)
        (run / "run.json").write_text("{}", encoding="utf-8")
        throttled_once(run)
        assert source.seen().store.names("AWS/Lambda", "Invocations") == []
        readable.append(ended)  # late: it ended before the storm began
        source._collector.collect()
        assert source.notice() is None
        assert len(source.seen().store.names("AWS/Lambda", "Invocations")) == 1
        assert len(source.seen().store.names("AWS/ApiGateway", "4XXError")) == 1


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
