"""`onceward verify`: it judges a run on the platform that the run was sent to, and on no other."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from loadtest import preflight
from loadtest.history import HistoryWriter
from loadtest.measures import measure
from loadtest.run import RunDirectory
from loadtest.sole_judge import sole_judge
from ops import storms
from ops.cli import app
from tests.unit.storm.fake_platform import FakePlatform
from tests.unit.storm.stories import good
from tests.unit.storm.test_plan import SMALL

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

    from loadtest.target import Target

HERE, ELSEWHERE = "http://127.0.0.1:1001/local", "http://127.0.0.1:1002/local"


def _onceward(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "300", "TERM": "dumb"})


@pytest.fixture
def judged_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The API URLs of the platforms that runs were judged on; each run passes."""
    urls: list[str] = []

    def judge(directory: RunDirectory, target: Target, *_: object, **__: object) -> storms.Judged:
        urls.append(target.api_url)
        verdict = good().verdict()
        directory.verdict.write_text(json.dumps(verdict.to_json()))
        return storms.Judged(verdict, measure(lambda: good().attempts))

    monkeypatch.setattr(preflight, "check", lambda *_: None)
    monkeypatch.setattr(storms, "send", lambda *_, **__: None)
    monkeypatch.setattr(storms, "judge", judge)
    return urls


def _run(tmp_path: Path, url: str = HERE) -> RunDirectory:
    """A run that was sent to the platform at `url` in `home`, and passed."""
    FakePlatform(url=url).write_outputs(tmp_path / "home")
    settings = replace(SMALL, api_url=url, home=str(tmp_path / "home"))
    directory = RunDirectory.create(tmp_path / "run", settings)
    directory.verdict.write_text("passed")
    directory.report.write_text("passed")
    return directory


def test_another_platform_than_the_runs_is_refused_and_the_verdict_stays(tmp_path: Path) -> None:
    directory = _run(tmp_path)
    FakePlatform(url=ELSEWHERE).write_outputs(tmp_path / "other")
    before = {file.name: file.read_bytes() for file in directory.path.iterdir()}
    done = _onceward("verify", "--history", str(directory.path), "--home", str(tmp_path / "other"))
    assert done.exit_code == 2
    assert HERE in done.output
    assert ELSEWHERE in done.output
    assert {file.name: file.read_bytes() for file in directory.path.iterdir()} == before


def _changed(directory: RunDirectory, *, without: tuple[str, ...]) -> dict[str, bytes]:
    """Takes names out of a run's settings, as older versions wrote them. Its files afterwards."""
    file = directory.path / "run.json"
    values = {name: value for name, value in json.loads(file.read_text()).items() if name not in without}
    file.write_text(json.dumps(values))
    return {file.name: file.read_bytes() for file in directory.path.iterdir()}


def test_a_run_of_an_older_plan_is_refused_and_its_verdict_stays(tmp_path: Path) -> None:
    directory = _run(tmp_path)
    before = _changed(directory, without=("plan_version", "faults"))
    done = _onceward("verify", "--history", str(directory.path))
    assert done.exit_code == 2
    assert "sent by version 1 of the plan, and this is version 2" in done.output
    assert {file.name: file.read_bytes() for file in directory.path.iterdir()} == before


def test_a_run_of_this_plan_that_is_older_than_its_number_is_judged(
    tmp_path: Path, judged_at: list[str]
) -> None:
    directory = _run(tmp_path)
    _changed(directory, without=("plan_version", "skew_seconds"))
    directory.settings().require_todays_plan()
    assert _onceward("verify", "--history", str(directory.path)).exit_code == 0
    assert judged_at == [HERE]


def test_a_run_that_is_being_judged_is_left_alone(tmp_path: Path) -> None:
    directory = _run(tmp_path)
    with sole_judge(directory):
        before = {file.name: file.read_bytes() for file in directory.path.iterdir()}
        done = _onceward("verify", "--history", str(directory.path))
        assert {file.name: file.read_bytes() for file in directory.path.iterdir()} == before
    assert done.exit_code == 1
    assert f"the run in {directory.path} is being judged by another command" in done.output


def test_without_a_home_the_one_that_the_run_was_sent_to_is_used(
    tmp_path: Path, judged_at: list[str]
) -> None:
    done = _onceward("verify", "--history", str(_run(tmp_path).path))
    assert (done.exit_code, judged_at) == (0, [HERE])


def test_a_storm_writes_down_where_it_was_sent_so_that_verify_finds_it(
    tmp_path: Path, judged_at: list[str]
) -> None:
    FakePlatform(url=HERE).write_outputs(tmp_path / "home")
    run = tmp_path / "run"
    assert _onceward("storm", "--home", str(tmp_path / "home"), "--run-dir", str(run)).exit_code == 0
    settings = RunDirectory(run).settings()
    assert (settings.api_url, settings.home) == (HERE, str(tmp_path / "home"))
    assert _onceward("verify", "--history", str(run)).exit_code == 0
    assert judged_at == [HERE, HERE]


@pytest.mark.usefixtures("judged_at")
def test_a_directory_that_holds_a_run_is_refused_in_a_sentence(tmp_path: Path) -> None:
    directory = _run(tmp_path)
    home = ("--home", str(tmp_path / "home"))
    done = _onceward("storm", *home, "--run-dir", str(directory.path))
    assert done.exit_code == 2
    assert f"{directory.path} holds a run already; name a new directory" in done.output
    done = _onceward("storm", *home, "--run-dir", str(directory.verdict))
    assert done.exit_code == 2
    assert f"{directory.verdict} is not a directory; name a new directory" in done.output


@pytest.mark.usefixtures("judged_at")
def test_of_an_interrupted_run_that_is_said_before_all_that_is_missing(tmp_path: Path) -> None:
    directory = _run(tmp_path)
    writer = HistoryWriter(directory.history(0))
    for attempt in good().attempts:
        writer.append(attempt)
    writer.close()
    done = _onceward("verify", "--history", str(directory.path))
    assert done.output.startswith("The run was interrupted: 10 of its 300 requests are in its history.")


@pytest.mark.usefixtures("judged_at")
def test_a_whole_run_is_not_called_interrupted(tmp_path: Path) -> None:
    directory = _run(tmp_path)
    writer = HistoryWriter(directory.history(0))
    attempt = good().attempts[0]
    for number in range(SMALL.requests):
        writer.append(replace(attempt, attempt_id=f"a{number}"))
    writer.close()
    assert "interrupted" not in _onceward("verify", "--history", str(directory.path)).output
