"""The reads after a storm: own and others' leads, asked for again until there is an answer."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from loadtest import history, reads
from loadtest.history import Outcome
from loadtest.target import parse
from tests.unit.storm.fake_platform import TENANTS, FakePlatform, serve

if TYPE_CHECKING:
    from pathlib import Path


def _read(platform: FakePlatform, file: Path) -> None:
    target = parse(platform.outputs())
    reads.read_records(target, target.tenants.values(), [("leads", "some-lead"), ("leads", "another")], file)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "history-reads.jsonl"


def test_every_tenant_asks_for_every_lead(file: Path) -> None:
    with serve() as platform:
        _read(platform, file)
    asked = Counter((one.tenant, one.body_hash) for one in history.read(file.parent))
    assert asked == {(tenant, lead): 1 for tenant in TENANTS for lead in ("some-lead", "another")}


def test_a_read_that_fails_is_made_again_until_it_is_answered(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reads, "_FIRST_PAUSE_SECONDS", 0.001)
    with serve("reads-fail") as platform:
        _read(platform, file)
    assert Counter(one.status for one in history.read(file.parent)) == {503: 12, 404: 6}


def test_reads_that_nobody_answers_are_written_down_and_end(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reads, "_FIRST_PAUSE_SECONDS", 0.001)
    with serve() as platform:
        pass
    _read(platform, file)
    assert {(one.outcome, one.status) for one in history.read(file.parent)} == {(Outcome.FAIL, None)}


def test_no_proxy_comes_between_the_storm_and_a_local_stage(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "")
    with serve() as platform:
        aws = {"endpointUrl": platform.url, "accessKeyId": "a", "secretAccessKey": "s"}
        target = parse({**platform.outputs(), **aws})
        reads.read_records(target, target.tenants.values(), [("leads", "some-lead")], file)
    assert {one.status for one in history.read(file.parent)} == {404}


def test_the_history_is_for_its_user_alone(file: Path) -> None:
    with serve() as platform:
        _read(platform, file)
    assert file.stat().st_mode & 0o777 == 0o600
