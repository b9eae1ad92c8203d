"""The history: what is written can be read, byte by byte comparable, and without a secret."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from loadtest.bodies import body
from loadtest.history import NOT_KEPT, HistoryWriter, Outcome, answer, hash_of, read
from loadtest.run import RunDirectory
from loadtest.schedule import PlannedRequest, Scenario
from loadtest.target import TargetTenant
from loadtest.worker import StormWorker
from tests.unit.storm.stories import good
from tests.unit.storm.test_plan import SETTINGS, SMALL

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_written_is_read_back_whole(tmp_path: Path) -> None:
    attempts = good().attempts
    for share, part in enumerate((attempts[:5], attempts[5:])):
        writer = HistoryWriter(tmp_path / f"history-{share}.jsonl")
        for attempt in part:
            writer.append(attempt)
        writer.close()
    assert list(read(tmp_path)) == attempts


@pytest.mark.parametrize("retry_after", [None, "7", NOT_KEPT])
def test_when_to_come_again_is_kept_apart_and_older_histories_do_not_say(
    tmp_path: Path, retry_after: str | None
) -> None:
    writer = HistoryWriter(tmp_path / "history-0.jsonl")
    writer.append(replace(good().attempts[0], retry_after=retry_after))
    writer.close()
    assert ("retryAfter" in (tmp_path / "history-0.jsonl").read_text()) is (retry_after != NOT_KEPT)
    assert [one.retry_after for one in read(tmp_path)] == [retry_after]
    assert answer(503, {"RETRY-After": "7"}, b"").retry_after == "7"
    assert answer(503, {"Retry-After": "7"}, b"").headers == ()
    assert answer(503, {}, b"").retry_after is None


def test_the_line_of_a_killed_worker_is_skipped_and_a_broken_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "history-0.jsonl"
    writer = HistoryWriter(file)
    writer.append(good().attempts[0])
    writer.close()
    whole = file.read_text()
    file.write_text(whole + whole[:40])
    assert len(list(read(tmp_path))) == 1
    file.write_text(whole + whole[:40] + "\n")
    with pytest.raises(ValueError, match=r"history-0\.jsonl:2"):
        list(read(tmp_path))


@pytest.mark.parametrize("missing", ["attemptId", "bodyHash", "outcome", "headers", "status"])
def test_a_line_without_a_part_of_an_attempt_is_named(tmp_path: Path, missing: str) -> None:
    writer = HistoryWriter(tmp_path / "history-0.jsonl")
    writer.append(good().attempts[0])
    writer.close()
    text = (tmp_path / "history-0.jsonl").read_text()
    (tmp_path / "history-0.jsonl").write_text(text.replace(f'"{missing}"', '"other"'))
    with pytest.raises(ValueError, match=missing):
        list(read(tmp_path))


@pytest.mark.parametrize("body", [b"{}", b'{"id":"x"}', b"\xff\xfe", b"x" * 10_000])
def test_an_answer_is_hashed_over_its_very_bytes(body: bytes) -> None:
    assert answer(201, {}, body).response_hash == sha256(body).hexdigest()


@pytest.mark.parametrize(
    ("headers", "kept"),
    [
        ({"Location": "/v1/leads/1", "Date": "now"}, (("location", "/v1/leads/1"),)),
        ({"CONTENT-TYPE": "a", "etag": "b", "Set-Cookie": "c"}, (("content-type", "a"), ("etag", "b"))),
        ({}, ()),
    ],
)
def test_only_the_headers_that_a_replay_repeats_are_kept(
    headers: dict[str, str], kept: tuple[tuple[str, str], ...]
) -> None:
    assert answer(201, headers, b"").headers == kept


@pytest.mark.parametrize(
    ("headers", "replayed"),
    [({"Idempotent-Replayed": "true"}, True), ({"idempotent-replayed": "TRUE"}, True), ({}, False)],
)
def test_a_replay_is_known_by_its_header(headers: dict[str, str], replayed: bool) -> None:
    assert answer(201, headers, b"").replayed is replayed


def test_a_body_is_kept_whatever_the_answer_unless_it_is_long() -> None:
    assert answer(201, {}, b'{"id":"x"}').response_body == '{"id":"x"}'
    assert answer(422, {}, b'{"detail":"x"}').response_body == '{"detail":"x"}'
    assert answer(201, {}, b"x" * 5000).response_body is None


@pytest.mark.parametrize(
    ("one", "other"), [({"a": 1, "b": 2}, {"b": 2, "a": 1}), ({"a": 1.0}, {"a": 1}), ([], [])]
)
def test_bodies_that_mean_the_same_have_one_hash(one: object, other: object) -> None:
    assert hash_of(one) == hash_of(other)


def test_what_has_no_canonical_form_has_no_hash() -> None:
    assert hash_of({"n": 2**60}) is None
    assert hash_of({"n": float("nan")}) is None


def test_neither_key_nor_payload_gets_into_the_history(tmp_path: Path) -> None:
    directory = RunDirectory.create(tmp_path / "run", SMALL)
    tenants = {
        name: TargetTenant(name, f"very-secret-{name}", None, synthetic=True) for name in SMALL.tenants
    }
    worker = StormWorker(directory, tenants, 0)
    request = PlannedRequest("storm-a", "k1", 5)
    assert worker.headers(request, "a1", "{}")["x-api-key"] == "very-secret-storm-a"
    worker.record("a1", request, Scenario.FRESH, (1.0, 2.0), Outcome.UNKNOWN)
    worker.close()
    text = "".join(path.read_text() for path in directory.path.iterdir())
    assert '"k1"' in text
    assert "very-secret" not in text
    assert body(SETTINGS.key_prefix, request)["message"] not in text
    assert "very-secret" not in repr(tenants)


def test_a_run_does_not_take_the_place_of_another(tmp_path: Path) -> None:
    RunDirectory.create(tmp_path / "run", SMALL)
    with pytest.raises(FileExistsError):
        RunDirectory.create(tmp_path / "run", SETTINGS)


def test_the_settings_of_a_run_are_read_back(tmp_path: Path) -> None:
    assert RunDirectory.create(tmp_path / "run", SMALL).settings() == SMALL


@pytest.mark.parametrize("text", ["", "{}", '{"run_id": 1}', "[]"])
def test_a_directory_that_is_no_run_is_refused_by_name(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=r"run\.json"):
        RunDirectory(tmp_path).settings()
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(ValueError, match=r"run\.json"):
        RunDirectory(tmp_path).settings()
