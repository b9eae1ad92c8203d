"""`python -m fuzz`: what it answers, with and without atheris."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from fuzz import __main__ as command
from fuzz import campaign
from fuzz.registry import FOUND, TARGETS
from handlers.domain import canonical_json

if TYPE_CHECKING:
    from pathlib import Path

_LOG = b"#2\tINITED cov: 3 ft: 4 corp: 1/1b\n#900\tDONE   cov: 17 ft: 29 corp: 5/9b\n"


def _fuzzer(ended: int | None, *, leaves: str | None = None, log: bytes = _LOG) -> Any:
    """A process in atheris's place, that writes its log and perhaps an input. `ended`: None when it hangs."""

    def run(
        arguments: list[str], *, stdout: Any, timeout: float, **_more: Any
    ) -> subprocess.CompletedProcess[bytes]:
        stdout.write(log)
        if leaves:
            prefix = next(each for each in arguments if each.startswith("-artifact_prefix="))
            (campaign.WORK / "keys" / "broken" / leaves).write_bytes(b"!")
            assert prefix.endswith("keys/broken/")
        if ended is None:
            raise subprocess.TimeoutExpired(arguments, timeout)
        return subprocess.CompletedProcess(arguments, ended)

    return run


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "WORK", tmp_path)
    monkeypatch.setattr(campaign, "find_spec", lambda _name: object())


def test_a_run_tells_what_each_target_did(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(subprocess, "run", _fuzzer(0))
    assert command.main(["keys", "--seconds", "1", "--seed", "7"]) == 0
    shown = capsys.readouterr().out
    assert "900 executions     17 places      29 features" in shown
    assert shown.endswith("900 executions of 1 targets, seed 7: no promise broken\n")


def test_an_input_that_breaks_a_promise_is_kept_with_the_command_that_replays_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(subprocess, "run", _fuzzer(77, leaves="crash-1"))
    assert command.main(["keys"]) == 1
    kept = campaign.WORK / "keys" / "broken" / "crash-1"
    assert f"replay: python -m fuzz keys --input {kept}" in capsys.readouterr().out


def test_an_input_that_an_earlier_run_kept_is_told_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(subprocess, "run", _fuzzer(77, leaves="crash-1"))
    command.main(["keys"])
    kept = campaign.WORK / "keys" / "broken" / "crash-1"
    os.utime(kept, ns=(1, 1))  # as long ago as may be: a coarse clock could not tell two writes apart
    capsys.readouterr()
    assert command.main(["keys"]) == 1
    assert f"replay: python -m fuzz keys --input {kept}" in capsys.readouterr().out


def test_what_an_earlier_run_kept_and_this_one_did_not_meet_is_not_of_this_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(subprocess, "run", _fuzzer(77, leaves="crash-1"))
    command.main(["keys"])
    capsys.readouterr()
    monkeypatch.setattr(subprocess, "run", _fuzzer(0))
    assert command.main(["keys"]) == 0
    assert "replay" not in capsys.readouterr().out


@pytest.mark.parametrize("log", [b"", b"#0\tREAD cov: 3 ft: 4 corp: 1/1b\n"])
def test_a_run_that_tried_nothing_is_no_success(
    log: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(subprocess, "run", _fuzzer(0, log=log))
    assert command.main(["keys"]) == 1
    assert capsys.readouterr().out.endswith("0 executions of 1 targets, seed 1: broken: keys\n")


def test_a_fuzzer_that_does_not_end_is_told_of_and_the_next_target_has_its_turn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(subprocess, "run", _fuzzer(None))
    assert command.main(["keys", "ids"]) == 1
    shown = capsys.readouterr().out
    assert shown.count("BROKEN (killed: it did not end)") == 2
    assert shown.endswith("1800 executions of 2 targets, seed 1: broken: keys, ids\n")


def test_a_fuzzer_that_died_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", _fuzzer(1))
    assert command.main(["keys"]) == 1


def test_without_atheris_it_says_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(campaign, "find_spec", lambda _name: None)
    assert command.main([]) == 2
    assert "Linux on x86-64" in capsys.readouterr().err


def test_a_file_is_replayed_without_atheris(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "input"
    path.write_bytes(b'{"a":1,"a":2}')
    assert command.main(["canonical", "--input", str(path)]) == 0
    monkeypatch.setattr(canonical_json, "_object", dict)
    assert command.main(["canonical", "--input", str(path)]) == 1
    assert "a name twice in one object was taken" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["nothing"],
        ["--input", "x"],
        ["keys", "read", "--input", "x"],
        ["--seconds", "0"],
        ["--seconds", "-1"],
    ],
)
def test_what_it_does_not_know_it_refuses(arguments: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        command.main(arguments)


def test_what_was_found_belongs_to_a_target() -> None:
    assert {path.name for path in FOUND.iterdir()} <= set(TARGETS)
