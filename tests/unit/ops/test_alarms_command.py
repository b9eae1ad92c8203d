"""`onceward alarms`: of a run that is over, and of a stage on AWS."""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.stub import Stubber
from typer.testing import CliRunner

from infra.naming import Names
from ops.alarm_listing import on_aws
from ops.cli import app
from ops.local.emulator import free_port
from ops.local.state import Entry, State
from ops.observing.alarm_definitions import METRIC_ALARM
from ops.observing.logs_seen import LogsSeen
from ops.observing.queues import Queues
from ops.observing.series import Point, SeriesName, Unit
from ops.observing.store import MetricStore
from tests.unit.observing.alarms import MINUTE_MS, at, composite, definitions, inputs, put

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

SELECT = 'SELECT AVG(Failed) FROM SCHEMA("Onceward", Service, TenantId) GROUP BY TenantId ORDER BY AVG() DESC'
THEN = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with one run, `r1`, at whose end ingest failed for tenant acme."""
    run = tmp_path / "runs" / "r1"
    (run / "dashboards").mkdir(parents=True)
    queries = [{"id": "q", "expression": SELECT, "period": 60, "returnData": True}]
    made = definitions(
        inputs(alarmDescription="Requests fail. Runbook: docs/runbook.md#failed"),
        inputs("tenants", metricQueries=queries, threshold=0.5),
        inputs("other", dimensions={"Service": "execute"}),
        composite("trouble", "ALARM(failed)"),
    )
    (run / "alarms.json").write_text(made.to_json())
    with MetricStore(run / "metrics.sqlite") as store:
        put(store, 5, 1)
        put(store, 5, 1, Service="ingest", TenantId="acme")
        put(store, 5, 0, Service="ingest", TenantId="bolt")
    return tmp_path


def alarms(home: Path, *more: str) -> Result:
    return CliRunner().invoke(app, ["alarms", "--home", str(home), *more], env={"COLUMNS": "200"})


def test_a_run_shows_what_rang_at_its_end_whom_for_and_what_to_do(home: Path) -> None:
    done = alarms(home, "--run", "r1")
    assert done.exit_code == 1
    assert [line.split()[:2] for line in done.stdout.splitlines()[:3]] == [
        ["ALARM", "failed"],
        ["ALARM", "tenants"],
        ["ALARM", "trouble"],
    ]
    assert done.stdout.splitlines()[1].endswith("acme")
    assert "docs/runbook.md#failed" in done.stdout
    assert done.stdout.splitlines()[-1] == "4 alarms: 3 ringing."
    assert "other" not in done.stdout
    assert "other" in alarms(home, "--run", "r1", "--all").stdout


def test_a_script_gets_every_alarm(home: Path) -> None:
    done = alarms(home, "--run", "r1", "--json")
    assert done.exit_code == 1
    found = {each["name"]: each for each in json.loads(done.stdout)}
    assert {name: each["state"] for name, each in found.items()} == {
        "failed": "ALARM",
        "tenants": "ALARM",
        "trouble": "ALARM",
        "other": "OK",
    }
    assert found["tenants"]["tenants"] == ["acme"]
    assert found["failed"]["since"].endswith("Z")


def test_a_run_without_trouble_ends_with_zero(home: Path) -> None:
    (home / "runs" / "r1" / "metrics.sqlite").unlink()
    with MetricStore(home / "runs" / "r1" / "metrics.sqlite") as store:
        put(store, 5, 0)
    done = alarms(home, "--run", "r1")
    assert (done.exit_code, done.stdout) == (0, "4 alarms: 0 ringing.\n")


def test_what_cannot_be_listed_is_a_usage_error(home: Path) -> None:
    assert alarms(home, "--run", "r2").exit_code == 2
    assert "r1" in alarms(home, "--run", "r2").output
    assert alarms(home, "--run", "r1", "--stage", "dev").exit_code == 2
    assert alarms(home, "--stage", "No Such").exit_code == 2
    # Nothing runs there, and nothing ever did.
    nothing = alarms(home / "runs")
    assert nothing.exit_code == 2
    assert "make up" in nothing.output


def test_where_nothing_is_up_the_newest_run_is_shown_and_named(home: Path) -> None:
    demo = home / "demo" / "runs" / "r9"
    shutil.copytree(home / "runs" / "r1", demo)
    os.utime(home / "runs" / "r1" / "metrics.sqlite", (1000, 1000))
    done = alarms(home)
    assert (done.exit_code, done.stdout) == (1, alarms(home, "--run", "r9").stdout)
    assert "end of run r9" in done.stderr
    assert len(json.loads(alarms(home, "--json").stdout)) == 4
    (demo / "alarms.json").unlink()
    assert alarms(home).exit_code == 2
    assert str(demo / "alarms.json") in alarms(home).stderr


def test_nothing_rings_since_after_a_run_s_end(home: Path) -> None:
    found = json.loads(alarms(home, "--run", "r1", "--json").stdout)
    ended = datetime.fromtimestamp((at(5) + MINUTE_MS // 2) / 1000, UTC)
    assert {datetime.fromisoformat(each["since"]) for each in found if each["state"] == "ALARM"} == {ended}
    assert not any(each["measured_now"] for each in found)


def test_of_what_is_measured_by_the_look_alone_no_time_is_told_nor_one_to_come(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def waiting(_queues: Queues, now_ms: int, **_options: object) -> list[Point]:
        return [Point(SeriesName.of("Onceward", "Failed", {"Service": "ingest"}), Unit.COUNT, now_ms, 5)]

    platform_is_gone(home)
    monkeypatch.setattr(Queues, "look", waiting)
    monkeypatch.setattr(LogsSeen, "new", lambda _self: ())
    done = alarms(home)
    assert done.exit_code == 1
    assert done.stdout.splitlines()[0].split() == ["ALARM", "failed", "measured", "now"]
    (failed,) = json.loads(alarms(home, "--json").stdout)
    assert failed["measured_now"]
    assert datetime.fromisoformat(failed["since"]) <= datetime.now(UTC)


def platform_is_gone(home: Path) -> str:
    """As if the platform had been killed: its files are there, and its alarms. Returns where it was."""
    url = f"http://127.0.0.1:{free_port()}"
    fields = ("apiUrl", "endpointUrl", "accessKeyId", "secretAccessKey", "region", "stage", "tables")
    document = dict.fromkeys(fields, "local") | {"endpointUrl": url, "functions": {}, "tenants": {}}
    (home / "local.json").write_text(json.dumps(document))
    made = State(home / "state.json")
    made.put(Entry("urn:pulumi:local::onceward::" + METRIC_ALARM + "::failed", custom=True, inputs=inputs()))
    made.save()
    return url


def test_a_platform_that_does_not_answer_has_no_fine_alarms(home: Path) -> None:
    url = platform_is_gone(home)
    done = alarms(home)
    assert done.exit_code == 2
    assert url in done.output
    assert "make up" in done.output
    assert done.stdout == ""


def test_what_could_only_be_measured_in_part_has_no_fine_alarms(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object, **_options: object) -> list[Point]:
        raise ValueError("not in the embedded metric format")

    platform_is_gone(home)
    monkeypatch.setattr(Queues, "look", lambda *_args, **_options: ())
    monkeypatch.setattr(LogsSeen, "new", broken)
    done = alarms(home)
    assert done.exit_code == 2
    assert "ValueError: not in the embedded metric format" in done.output
    # And when all of it can be looked at, it is looked at.
    monkeypatch.setattr(LogsSeen, "new", lambda _self: ())
    assert (alarms(home).exit_code, alarms(home).stdout) == (0, "1 alarms: 0 ringing.\n")


def test_an_alarm_that_is_not_covered_is_said_so(home: Path) -> None:
    (home / "runs" / "r1" / "alarms.json").write_text(definitions(inputs(unit="Seconds")).to_json())
    done = alarms(home, "--run", "r1")
    assert done.exit_code == 2
    assert "failed: one unit of several" in done.output


def described(name: str, state: str, **more: Any) -> dict[str, Any]:
    return {"AlarmName": name, "StateValue": state, "StateUpdatedTimestamp": THEN} | more


def test_a_stage_on_aws_is_as_cloudwatch_says_with_the_tenants_of_a_query() -> None:
    client = boto3.client("cloudwatch", region_name="us-east-1")
    with Stubber(client) as stub:
        stub.add_response(
            "describe_alarms",
            {
                "MetricAlarms": [
                    described("onceward-dev_api-5xx", "OK"),
                    described("onceward-dev_tenants", "ALARM", Metrics=[{"Id": "q", "Expression": SELECT}]),
                    described("onceward-dev2_api-5xx", "ALARM"),  # another stage's
                ],
                "CompositeAlarms": [described("onceward-dev-acme_alarm", "ALARM", AlarmDescription="Look.")],
            },
            {"AlarmTypes": ["MetricAlarm", "CompositeAlarm"], "AlarmNamePrefix": "onceward-dev"},
        )
        stub.add_response(
            "describe_alarm_contributors",
            {
                "AlarmContributors": [
                    {
                        "ContributorId": "1",
                        "ContributorAttributes": {"TenantId": "acme"},
                        "StateReason": "Threshold crossed",
                    }
                ]
            },
            {"AlarmName": "onceward-dev_tenants"},
        )
        found = on_aws(client, Names("dev"))
    assert [(each.name, each.state, each.tenants) for each in found] == [
        ("onceward-dev-acme_alarm", "ALARM", ()),
        ("onceward-dev_tenants", "ALARM", ("acme",)),
        ("onceward-dev_api-5xx", "OK", ()),
    ]
    assert (found[0].description, found[0].since_ms) == ("Look.", int(THEN.timestamp() * 1000))
