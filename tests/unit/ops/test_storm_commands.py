"""`onceward storm`, `verify` and `demo`: what they print, refuse and leave behind."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
import typer
from botocore.exceptions import EndpointConnectionError
from typer.testing import CliRunner

from loadtest import preflight
from loadtest.measures import measure
from loadtest.run import RunDirectory
from loadtest.target import TargetError
from ops import storms
from ops.cli import app
from ops.commands import demo
from ops.commands.storm import choose_operations
from ops.local.errors import LocalPlatformError
from ops.local.files import exclusive
from ops.local.summary import UpdateSummary
from tests.unit.storm import wide_stories
from tests.unit.storm.fake_platform import serve
from tests.unit.storm.stories import Story, good
from tests.unit.storm.test_plan import SMALL

if TYPE_CHECKING:
    from pathlib import Path


def _told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], story: Story, *, as_json: bool = False
) -> tuple[int, str]:
    """The exit code and what `tell` printed of a story."""
    directory = RunDirectory.create(tmp_path / "run", SMALL)
    verdict = story.verdict()
    directory.verdict.write_text(json.dumps(verdict.to_json()))
    try:
        storms.tell(directory, storms.Judged(verdict, measure(lambda: story.attempts)), as_json=as_json)
        code = 0
    except typer.Exit as end:
        code = end.exit_code
    return code, capsys.readouterr().out


def test_a_passed_run_prints_its_figures_and_where_the_report_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = _told(tmp_path, capsys, good())
    assert code == 0
    figures = {line.split()[0]: line.split()[1] for line in out.splitlines() if line.startswith("  ")}
    expected = {"requests": "10", "keys": "4", "writes": "4", "replays": "4", "conflicts": "1"}
    assert expected.items() <= figures.items()
    assert figures["violations"] == "0"
    assert f"PASSED. Report: {tmp_path / 'run' / 'report.html'}" in out


def test_a_failed_run_names_violation_tenant_and_key_and_exits_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    story = good()
    del story.records["acme#record-1"]
    code, out = _told(tmp_path, capsys, story)
    assert code == 1
    assert "VIOLATION lost-record: tenant acme, key k1: no record record-1" in out
    assert "FAILED." in out
    assert f"onceward verify --history {tmp_path / 'run'}" in out


def test_of_many_violations_ten_are_printed_and_the_rest_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    story = good()
    for number in range(30):
        story.answered("acme", f"lost-{number}", "one", 422)
    code, out = _told(tmp_path, capsys, story)
    assert code == 1
    assert out.count("VIOLATION") == 10
    assert "and 80 more" in out


def test_for_a_script_there_is_one_json_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = _told(tmp_path, capsys, good(), as_json=True)
    printed = json.loads(out)
    assert code == 0
    assert printed["runId"] == SMALL.run_id
    assert printed["seed"] == SMALL.seed
    assert printed["counts"]["writes"] == 4
    assert printed["latencyMs"]["p50"] == 30.0 + 1.0


def test_a_run_without_audit_queues_says_that_events_were_not_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = RunDirectory.create(tmp_path / "run", SMALL)
    verdict = good().verdict(events=False)
    storms.tell(directory, storms.Judged(verdict, measure(list)), as_json=False)
    assert "events not checked" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["storm", "--burst", "1"], "burst"),
        (["storm", "--workers", "-1"], "workers"),
        (["storm", "--stage", "Dev"], "Dev"),
        (["verify"], "history"),
        (["demo", "--requests", "0"], "requests"),
    ],
)
def test_a_number_that_makes_no_sense_is_a_usage_error(arguments: list[str], said: str) -> None:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert said in done.output


@pytest.mark.parametrize(
    ("stage", "wanted", "chosen"),
    [
        ("local", [], ("leads", "orders", "webhooks", "payments", "appointments")),
        ("dev", [], ("leads", "appointments")),
        ("dev", ["payments", "leads"], ("leads", "payments")),
    ],
)
def test_elsewhere_than_on_local_payments_and_webhooks_are_stormed_only_when_named(
    stage: str, wanted: list[str], chosen: tuple[str, ...]
) -> None:
    assert choose_operations(stage, wanted) == chosen


def test_an_operation_that_there_is_not_is_a_usage_error() -> None:
    with pytest.raises(typer.BadParameter, match="refunds is none of leads, orders"):
        choose_operations("local", ["refunds"])


def test_each_operation_has_a_line_of_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out = _told(tmp_path, capsys, wide_stories.good())
    lines = [line.split() for line in out.splitlines() if line.startswith("  ")]
    answers, effects = ({line[0]: line[1:] for line in found} for found in (lines[::-1], lines))
    # requests, new, replays, in progress, refused for good, conflicts
    assert answers["payments"][:6] == ["10", "2", "4", "1", "2", "1"]
    assert answers["webhooks"][:6] == ["9", "4", "5", "0", "0", "0"]
    # keys, records, stored refusals, events, and the effect outside
    assert effects["payments"] == ["4", "2", "2", "2", "2", "charges"]
    assert effects["appointments"] == ["4", "2", "2", "2", "2", "slots"]
    assert effects["outside"][:3] == ["8", "2", "charges,"]
    assert [answers[name][0] for name in ("writes", "refused")] == ["14", "4"]


@pytest.mark.parametrize("command", ["storm", "verify", "demo"])
def test_help_has_an_example(command: str) -> None:
    assert f"onceward {command}" in CliRunner().invoke(app, [command, "--help"]).output


def test_a_storm_without_a_platform_says_how_to_start_one(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["storm", "--home", str(tmp_path)])
    assert done.exit_code == 2
    assert "onceward local up" in " ".join(done.output.split())


def test_a_platform_that_is_not_running_any_more_is_said_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preflight, "_PAUSE_SECONDS", 0)
    with serve() as platform:
        platform.write_outputs(tmp_path)
    done = CliRunner().invoke(app, ["storm", "--home", str(tmp_path)])
    assert done.exit_code == 2
    said = " ".join(done.output.replace("│", " ").split())
    assert "stage local is not up" in said
    assert "onceward local up" in said
    assert not (tmp_path / "runs").exists()


def test_a_key_that_is_not_in_force_any_more_is_said_with_its_tenant(tmp_path: Path) -> None:
    with serve("forbidden") as platform:
        platform.write_outputs(tmp_path)
        done = CliRunner().invoke(app, ["storm", "--home", str(tmp_path)])
    assert done.exit_code == 2
    assert "tenant storm-a" in " ".join(done.output.replace("│", " ").split())
    assert not (tmp_path / "runs").exists()


def test_tables_that_cannot_be_read_are_said_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)  # as boto3 does between its attempts
    with serve() as platform:
        platform.write_outputs(tmp_path)
        outputs = json.loads((tmp_path / "local.json").read_text())
        aws = {"endpointUrl": "http://127.0.0.1:1", "accessKeyId": "a", "secretAccessKey": "s"}
        (tmp_path / "local.json").write_text(json.dumps({**outputs, **aws}))
        done = CliRunner().invoke(app, ["storm", "--home", str(tmp_path)])
        assert platform.receipts == {}
    assert done.exit_code == 2
    assert "could not be judged" in " ".join(done.output.replace("│", " ").split())


@pytest.mark.parametrize(
    "error",
    [
        EndpointConnectionError(endpoint_url="http://127.0.0.1:1"),
        TargetError("tenant storm-a is gone"),
        ValueError("history-0.jsonl:2: not an attempt"),
    ],
)
def test_a_storm_that_was_sent_and_not_judged_exits_1_and_says_how_to_judge_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def judge(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(preflight, "check", lambda *_: None)
    monkeypatch.setattr(storms, "send", lambda *_, **__: None)
    monkeypatch.setattr(storms, "judge", judge)
    with serve() as platform:
        platform.write_outputs(tmp_path)
        done = CliRunner().invoke(app, ["storm", "--home", str(tmp_path), "--run-dir", str(tmp_path / "run")])
    assert done.exit_code == 1
    assert str(error) in done.output
    assert f"onceward verify --history {tmp_path / 'run'}" in done.output


@dataclass
class FakePlatform:
    """In the place of the local platform: remembers what it was asked to do, and fails if told to."""

    broken: bool = False
    owned: list[bool] = field(default_factory=list)
    done: list[str] = field(default_factory=list)

    def __call__(self, home: Path, tenants: Path | None, *, owned: bool, say: object) -> FakePlatform:
        self.owned.append(owned)
        return self

    def up(self, *, fresh: bool) -> UpdateSummary:
        self.done.append("up fresh" if fresh else "up")
        if self.broken:
            raise LocalPlatformError("no port is free")
        return UpdateSummary((), (), (), (), ())

    def down(self) -> None:
        self.done.append("down")


@pytest.mark.parametrize(
    ("arguments", "done", "owned"),
    [([], ["up fresh", "down"], [True]), (["--keep"], ["up fresh"], [False])],
)
def test_the_demo_brings_down_what_it_started_even_if_the_storm_fails(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    done: list[str],
    owned: list[bool],
) -> None:
    platform = FakePlatform()
    monkeypatch.setattr(demo, "LocalPlatform", platform)
    # The platform is up, but there is no local.json: the storm cannot begin.
    result = CliRunner().invoke(app, ["demo", "--home", str(tmp_path), *arguments])
    assert result.exit_code == 2
    assert (platform.done, platform.owned) == (done, owned)


def test_a_second_demo_is_refused_and_leaves_the_first_its_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform = FakePlatform()
    monkeypatch.setattr(demo, "LocalPlatform", platform)
    with exclusive(tmp_path / "demo.lock"):
        result = CliRunner().invoke(app, ["demo", "--home", str(tmp_path)])
    assert result.exit_code == 1
    assert "A demo is running in" in result.output
    assert platform.done == []


def test_a_demo_that_makes_no_storm_is_refused_before_its_platform_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform = FakePlatform()
    monkeypatch.setattr(demo, "LocalPlatform", platform)
    result = CliRunner().invoke(app, ["demo", "--home", str(tmp_path), "--requests", "10"])
    assert result.exit_code == 2
    assert "is too few" in " ".join(result.output.replace("│", " ").split())
    assert platform.done == []


def test_a_demo_whose_platform_does_not_come_up_says_why_and_exits_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "LocalPlatform", FakePlatform(broken=True))
    result = CliRunner().invoke(app, ["demo", "--home", str(tmp_path)])
    assert result.exit_code == 1
    assert "no port is free" in result.output
