"""Waiting for what must follow from a run: until it is there, and no longer than something happens."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from moto import mock_aws

from loadtest import evidence, history, reads, settle
from loadtest.bodies import derived_key
from loadtest.collect import Tables, read_events
from loadtest.history import HistoryWriter
from loadtest.measures import measure
from loadtest.operations import DECLINED
from loadtest.report import render
from loadtest.run import RunDirectory
from loadtest.sole_judge import JudgedAlready
from loadtest.verdict import Kind
from loadtest.verify import JUDGE, SETTLE, verify
from tests.integration.storm_stage import MARK, Stage
from tests.unit.storm.stories import Story, lead_hash
from tests.unit.storm.test_plan import SMALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


BARE = derived_key(lead_hash("one"))


@pytest.fixture
def stage() -> Iterator[Stage]:
    with mock_aws():
        yield Stage()


def _settle(stage: Stage, file: Path, patience: float) -> settle.Settled:
    said: list[tuple[int, int]] = []
    pks = [f"a1#{MARK}{number}" for number in range(4)]
    settled = settle.wait(
        Tables(stage.target), stage.audit(file), file, pks, patience, lambda *now: said.append(now)
    )
    assert said[-1] == (settled.done, settled.expected)
    return settled


def test_it_settles_when_every_receipt_has_its_record_and_event(stage: Stage, tmp_path: Path) -> None:
    for number in range(3):  # the fourth key was never accepted
        stage.receipt(f"a1#{MARK}{number}", number)
        stage.record("a1", number)
        stage.publish("a1", number)
    settled = _settle(stage, tmp_path / "e", patience=30)
    assert (settled.done, settled.expected) == (3, 3)
    assert settled.seconds < 20


def test_keys_that_share_a_record_are_settled_and_given_to_the_checker(stage: Stage, tmp_path: Path) -> None:
    stage.receipt(f"a1#{MARK}0", 1)
    stage.receipt(f"a1#{MARK}1", 1)
    stage.record("a1", 1)
    stage.publish("a1", 1)
    settled = _settle(stage, tmp_path / "e", patience=30)
    assert (settled.done, settled.expected) == (2, 2)


@pytest.mark.parametrize("spoilt", [{}, {"outbox": {"S": "x"}}, {"outbox": {"M": {"recordId": {"N": "1"}}}}])
def test_receipts_without_an_outbox_are_not_settled_and_given_to_the_checker(
    stage: Stage, tmp_path: Path, spoilt: dict[str, Any]
) -> None:
    for number in range(2):
        item = {"pk": {"S": f"a1#{MARK}{number}"}, "status": {"S": "IN_PROGRESS"}, **spoilt}
        stage.dynamodb.put_item(TableName="receipts", Item=item)
    settled = _settle(stage, tmp_path / "e", patience=1)
    assert (settled.done, settled.expected) == (0, 2)
    assert not any(one.completed for one in Tables(stage.target).all_receipts(MARK))


def test_only_what_is_missing_is_asked_for_again(stage: Stage, tmp_path: Path) -> None:
    for number in range(3):
        stage.receipt(f"a1#{MARK}{number}", number)
    for number in range(2):
        stage.record("a1", number)
        stage.publish("a1", number)
    tables = Tables(stage.target)
    asked: list[int] = []
    get = tables._dynamodb.batch_get_item

    def counting(**arguments: Any) -> Any:
        asked.append(sum(len(one["Keys"]) for one in arguments["RequestItems"].values()))
        return get(**arguments)

    tables._dynamodb.batch_get_item = counting
    file = tmp_path / "e"
    pks = [f"a1#{MARK}{number}" for number in range(4)]
    settle.wait(tables, stage.audit(file), file, pks, 1.0, lambda *_: None)
    assert asked[:2] == [4, 3]  # receipts, records
    assert set(asked[2:]) == {1}  # the key that has no receipt, the record that is missing


def test_a_message_that_somebody_took_and_did_not_delete_is_waited_for(stage: Stage, tmp_path: Path) -> None:
    stage.receipt(f"a1#{MARK}0", 0)
    stage.record("a1", 0)
    stage.publish("a1", 0)
    stage.publish("a1", 9)  # an event that nothing explains, in somebody's hands
    stage.sqs.receive_message(QueueUrl=stage.queues["a1"], VisibilityTimeout=8, MaxNumberOfMessages=1)
    file = tmp_path / "e"
    pks = [f"a1#{MARK}0"]
    settle.wait(Tables(stage.target), stage.audit(file), file, pks, 30.0, lambda *_: None)
    assert {one.event_id for one in read_events(file)} == {"event-0", "event-9"}


def test_queued_work_is_waited_for_and_nothing_is_expected_of_a_refusal(stage: Stage, tmp_path: Path) -> None:
    """An order whose work does not end keeps it waiting; a declined payment is done with its receipt."""
    for number in range(2):
        stage.receipt(f"a1#{MARK}{number}", number, operation="orders")
        stage.record("a1", number, operation="orders", status=("COMPLETED", "PROCESSING")[number])
        stage.publish("a1", number)
    stage.refusal(f"a1#{MARK}2", 402, DECLINED)
    settled = _settle(stage, tmp_path / "e", patience=1.0)
    assert (settled.done, settled.expected) == (2, 3)
    stage.record("a1", 1, operation="orders", status="COMPLETED")
    settled = _settle(stage, tmp_path / "e", patience=30)
    assert (settled.done, settled.expected) == (3, 3)


@pytest.mark.parametrize("missing", ["record", "event"])
def test_it_gives_up_when_nothing_more_happens(stage: Stage, tmp_path: Path, missing: str) -> None:
    stage.receipt(f"a1#{MARK}0", 0)
    if missing == "record":
        stage.publish("a1", 0)
    else:
        stage.record("a1", 0)
    settled = _settle(stage, tmp_path / "e", patience=1.0)
    assert (settled.done, settled.expected) == (0, 1)
    assert settled.seconds >= 1.0


@pytest.mark.parametrize(
    ("spoil", "key", "kind"),
    [
        (lambda stage: stage.receipt(f"a1#{MARK}1", 0), f"{MARK}1", Kind.SHARED_ID),
        (lambda stage: stage.unfinished(f"a1#{MARK}1"), f"{MARK}1", Kind.UNFINISHED_RECEIPT),
        (lambda stage: stage.unfinished(f"a1#{BARE}"), BARE, Kind.UNFINISHED_RECEIPT),
    ],
    ids=["a shared record", "a receipt without an outbox", "one of a request without a key"],
)
def test_what_settling_stumbles_over_reaches_the_verdict_of_a_run(
    stage: Stage,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Stage], None],
    key: str,
    kind: Kind,
) -> None:
    monkeypatch.setattr(reads, "_FIRST_PAUSE_SECONDS", 0.0)  # nobody listens, and that is not the question
    stage.receipt(f"a1#{MARK}0", 0)
    stage.record("a1", 0)
    stage.publish("a1", 0)
    spoil(stage)
    directory = _sent(tmp_path, f"{MARK}0", f"{MARK}1", None)
    verdict = verify(directory, stage.target, 1.0, lambda *_: None)
    assert {one.key for one in verdict.violations if one.kind is kind} == {key}
    assert directory.verdict.exists()


def _sent(tmp_path: Path, *keys: str | None) -> RunDirectory:
    """A run that sent an attempt with each key, and heard no answer."""
    directory = RunDirectory.create(tmp_path / "run", replace(SMALL, stage="dev", tenants=("a1", "b1")))
    writer, story = HistoryWriter(directory.history(0)), Story()
    for sent in keys:
        story.unseen("a1", sent, "one")
        writer.append(story.attempts[-1])
    writer.close()
    return directory


def test_of_two_judges_of_one_run_the_second_is_refused_and_the_first_is_not_disturbed(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reads, "_FIRST_PAUSE_SECONDS", 0.0)
    directory = _sent(tmp_path, f"{MARK}0")
    directory.judging.mkdir()
    (directory.judging / "of a killed judge").touch()
    alone = verify(directory, stage.target, 1.0, lambda *_: None)
    refused: list[str] = []

    def again(what: str, *_: int) -> None:
        with pytest.raises(JudgedAlready, match="is being judged by another command"):
            verify(directory, stage.target, 1.0, lambda *_: None)
        refused.append(what)

    assert verify(directory, stage.target, 1.0, again) == alone
    assert set(refused) == {SETTLE, JUDGE}
    assert not directory.judging.exists()


def test_an_event_whose_id_is_no_text_is_judged_and_told(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reads, "_FIRST_PAUSE_SECONDS", 0.0)
    stage.publish("a1", 0, event_id="event-\ud800")
    directory = _sent(tmp_path, f"{MARK}0")
    verdict = verify(directory, stage.target, 1.0, lambda *_: None)
    (orphan,) = (one for one in verdict.violations if one.kind is Kind.ORPHAN_EVENT)
    assert "event-\\ud800" in orphan.detail
    measures = measure(lambda: history.read(directory.path))
    assert render(directory.settings(), verdict, measures).encode()


def test_whoever_waits_sees_how_far_settling_and_judging_are(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reads, "_FIRST_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(settle, "_KEYS_AT_ONCE", 1)
    monkeypatch.setattr(evidence, "_REQUESTS_IN_A_PART", 100)
    for number in range(2):
        stage.receipt(f"a1#{MARK}{number}", number)
        stage.record("a1", number)
        stage.publish("a1", number)
    said: list[tuple[str, int, int]] = []
    verify(_sent(tmp_path, f"{MARK}0", f"{MARK}1"), stage.target, 1.0, lambda *now: said.append(now))
    assert said == [
        *((SETTLE, number, number) for number in (1, 2, 2)),
        *((JUDGE, number, 3) for number in (1, 2, 3)),
    ]
