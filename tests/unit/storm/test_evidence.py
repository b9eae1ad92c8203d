"""A run that is judged in parts, from files, is judged as one that is held in memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from loadtest.checker import Judge
from loadtest.evidence import gathered
from loadtest.expected import Planned
from loadtest.operations import READ_SUFFIX
from loadtest.outside import Charge, Outside
from loadtest.packing import pack, unpack
from loadtest.partitions import Partitions
from loadtest.verdict import Kind
from tests.unit.storm import planted_wide, stories, wide_stories
from tests.unit.storm.planted import PLANTED
from tests.unit.storm.test_plan import SMALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from loadtest.packing import Found
    from loadtest.verdict import Verdict
    from tests.unit.storm.stories import Story
    from tests.unit.storm.wide_stories import WideStory

# As many parts as make it likely that what belongs together is apart.
SETTINGS = replace(SMALL, stage="local", requests=7_000)


def _planned(story: Story) -> Iterator[Planned]:
    """What was attempted, and what was not."""
    sent: Counter[tuple[str, str, str]] = Counter()
    declined, slots = set(), {}
    if isinstance(story, wide_stories.WideStory):
        declined, slots = story.declined, story.slots
    for one in story.attempts:
        if not one.operation.endswith(READ_SUFFIX):
            sent[one.tenant, one.key or one.derived_key or _derived(one.body_hash), one.body_hash] += 1
    for (tenant, key, body), times in (sent + story.unsent).items():
        for _ in range(times):
            yield Planned(tenant, key, body, body in declined, slots.get(body))


def _sent_pks(story: Story) -> set[str]:
    return {
        f"{one.tenant}#{one.key or one.derived_key or _derived(one.body_hash)}"
        for one in story.attempts
        if not one.operation.endswith(READ_SUFFIX)
    }


def _derived(body: str) -> str:
    return f" leads:body:{body}"


def judged_in_parts(folder: Path, story: Story, outside: Outside | None = None) -> Verdict:
    with gathered(folder / "judging", SETTINGS) as evidence:
        assert evidence.count == 7
        evidence.plan(_planned(story))
        evidence.hear(story.attempts)
        pks = [pk for part in range(evidence.count) for pk in evidence.pks(part)]
        assert sorted(pks) == sorted(_sent_pks(story))
        assert sorted(evidence.all_pks()) == sorted(pks)
        evidence.keep_receipts([*story.receipts.values()] * 2)
        evidence.keep_records(story.records.values())
        evidence.keep_events(story.events)
        if outside:
            evidence.keep_outside(outside)
        judge = Judge(evidence.crossing)
        for part_of_run in evidence.parts():
            judge.take(part_of_run)
        verdict = judge.verdict()
    assert not (folder / "judging").exists()
    return verdict


def _outside(story: WideStory) -> Outside:
    return Outside(tuple(story.charges), tuple(story.entities), wide_stories.DESTINATIONS)


def test_good_stories_pass_in_parts_with_the_same_figures(tmp_path: Path) -> None:
    story = stories.good()
    assert judged_in_parts(tmp_path, story).to_json() == story.verdict().to_json()
    wide = wide_stories.good()
    in_parts, at_once = judged_in_parts(tmp_path, wide, _outside(wide)), wide.verdict()
    assert in_parts.to_json() == at_once.to_json()
    assert set(in_parts.pairs) == set(at_once.pairs)


@pytest.mark.parametrize(("spoil", "planted"), PLANTED, ids=[spoil.__name__ for spoil, _ in PLANTED])
def test_a_planted_violation_is_found_in_parts(
    tmp_path: Path, spoil: Callable[[Story], None], planted: dict[Kind, tuple[str, str]]
) -> None:
    story = stories.good()
    spoil(story)
    found = {Kind(one) for one in judged_in_parts(tmp_path, story).by_kind}
    at_once = {Kind(one) for one in story.verdict().by_kind}
    assert set(planted) <= found
    assert found == at_once


@pytest.mark.parametrize(
    ("spoil", "planted"), planted_wide.PLANTED, ids=[spoil.__name__ for spoil, _ in planted_wide.PLANTED]
)
def test_a_planted_violation_of_any_operation_is_found_in_parts(
    tmp_path: Path, spoil: Callable[[WideStory], None], planted: dict[Kind, object]
) -> None:
    story = wide_stories.good()
    spoil(story)
    found = {Kind(one) for one in judged_in_parts(tmp_path, story, _outside(story)).by_kind}
    assert set(planted) <= found
    assert found == {Kind(one) for one in story.verdict().by_kind}


def test_what_is_packed_comes_back_as_it_was() -> None:
    story = wide_stories.good()
    kept: list[Found] = [*story.receipts.values(), *story.records.values(), *story.events, *story.entities]
    for one in kept:
        assert unpack(pack(one)) == one
    charge = Charge("c", "a", "d", 1, "EUR", "r")
    assert unpack(pack(charge)) == charge


def test_rows_of_one_name_are_in_one_part_in_their_order_and_nobody_else_may_read_them(
    tmp_path: Path,
) -> None:
    shelf = Partitions(tmp_path, 5)
    for number in range(1_000):
        shelf.add(f"name-{number % 50}", [f"name-{number % 50}", number])
    parts = list(shelf.parts())
    assert sum(map(len, parts)) == 1_000
    for rows in parts:
        for name in {name for name, _ in rows}:
            assert [number for one, number in rows if one == name] == list(range(int(name[5:]), 1_000, 50))
    assert {file.stat().st_mode & 0o077 for file in tmp_path.iterdir()} == {0}
