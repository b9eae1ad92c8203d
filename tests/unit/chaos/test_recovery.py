"""The operator's commands: what is asked of them, and that one which fails is no count of zero."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from chaos import recovery

if TYPE_CHECKING:
    from pathlib import Path


def _answers(monkeypatch: pytest.MonkeyPatch, said: object, code: int = 0) -> list[list[str]]:
    asked: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        asked.append(command[3:])
        return subprocess.CompletedProcess(command, code, json.dumps(said), "it said no")

    monkeypatch.setattr(subprocess, "run", run)
    return asked


def test_a_replay_counts_what_it_queued(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = _answers(monkeypatch, {"queued": 3})
    assert recovery.replay(tmp_path) == 3
    assert recovery.replay(tmp_path, republish=True) == 3
    assert ["--republish" in one for one in asked] == [False, True]
    assert all(one[:2] == ["dispatch", "replay"] and str(tmp_path) in one for one in asked)


def test_every_queue_that_is_named_is_sent_back_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = _answers(monkeypatch, {"sent": 2})
    assert recovery.redrive(tmp_path, recovery.REDRIVEN) == dict.fromkeys(recovery.REDRIVEN, 2)
    assert [one[2] for one in asked] == list(recovery.REDRIVEN)


def test_a_command_that_fails_fails_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _answers(monkeypatch, [], code=1)
    with pytest.raises(recovery.RecoveryFailed, match="onceward dlq list: exit 1: it said no"):
        recovery.left(tmp_path)
