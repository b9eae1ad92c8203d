"""The state of the local platform survives whatever happens to the update that writes it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ops.local.errors import LocalPlatformError
from ops.local.state import Entry, State

if TYPE_CHECKING:
    from pathlib import Path

TABLE = Entry(
    "urn:table", custom=True, id="1", inputs={"name": "t"}, outputs={"arn": "a"}, secret_names=("v",)
)
ITEM = Entry("urn:item", custom=True, id="2", dependencies=("urn:table",), protect=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.json"


def test_what_was_done_is_there_for_the_next_process_before_anything_is_saved(path: Path) -> None:
    state = State(path)
    state.put(TABLE)
    state.put(ITEM)
    state.remove(TABLE)
    assert State(path).entries == {"urn:item": ITEM}


def test_saving_folds_the_journal_into_the_file(path: Path) -> None:
    state = State(path)
    state.put(TABLE)
    state.save({"apiUrl": "x"})
    assert list(path.parent.iterdir()) == [path]
    again = State(path)
    assert again.entries == {"urn:table": TABLE}
    assert again.outputs == {"apiUrl": "x"}


def test_a_line_that_was_cut_off_counts_as_not_written(path: Path) -> None:
    state = State(path)
    state.put(TABLE)
    state.put(ITEM)
    journal = path.with_suffix(".journal")
    journal.write_bytes(journal.read_bytes()[:-20])
    assert State(path).entries == {"urn:table": TABLE}


def test_a_begun_resource_is_remembered_until_it_is_made(path: Path) -> None:
    state = State(path)
    state.begin(TABLE.urn)
    state.save()
    assert State(path).begun == {TABLE.urn}
    again = State(path)
    again.put(TABLE)
    assert State(path).begun == set()


def test_a_replaced_predecessor_waits_to_be_deleted_beside_its_successor(path: Path) -> None:
    state = State(path)
    successor = replace(TABLE, id="9")
    state.put(TABLE)
    state.put(successor, condemn=TABLE)
    state.save()
    again = State(path)
    assert again.condemned == [TABLE]
    again.remove(TABLE)
    assert State(path).condemned == []
    assert State(path).entries == {"urn:table": successor}


def test_a_resource_known_by_another_urn_is_renamed_and_not_made_again(path: Path) -> None:
    state = State(path)
    state.put(TABLE)
    state.rename("urn:table", replace(TABLE, urn="urn:new"))
    assert list(State(path).entries) == ["urn:new"]


def test_nobody_but_the_user_can_read_it(path: Path) -> None:
    before = os.umask(0)
    try:
        state = State(path)
        state.put(TABLE)
        assert path.with_suffix(".journal").stat().st_mode & 0o777 == 0o600
        state.save()
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600


def test_its_time_is_when_something_changed_and_not_when_it_was_looked_at(path: Path) -> None:
    state = State(path)
    state.put(TABLE)
    state.save()
    os.utime(path, (1000, 1000))
    State(path).save()
    assert State(path).changed_at() == 1000
    changed = State(path)
    changed.put(ITEM)
    assert (State(path).changed_at() or 0) > 1000


def test_an_empty_home_has_no_time(path: Path) -> None:
    assert State(path).changed_at() is None


@pytest.mark.parametrize("text", ["", "[]", "{", "null"])
def test_a_broken_file_is_named_and_not_taken_for_an_empty_one(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(LocalPlatformError, match=r"state\.json"):
        State(path)


def test_a_file_of_another_version_is_refused(path: Path) -> None:
    path.write_text(json.dumps({"schema": 99}))
    with pytest.raises(LocalPlatformError, match="another version"):
        State(path)


def test_forgetting_leaves_nothing_behind(path: Path) -> None:
    state = State(path)
    state.put(TABLE)
    state.save()
    state.put(ITEM)
    state.forget()
    assert list(path.parent.iterdir()) == []
    state.put(ITEM)
    assert list(State(path).entries) == ["urn:item"]


def test_who_owns_an_id_is_told_by_type(path: Path) -> None:
    state = State(path)
    state.put(replace(TABLE, urn="urn:pulumi:s::p::a:b/c:D::name"))
    assert state.owns("a:b/c:D", "1")
    assert not state.owns("a:b/c:D", "2")
    assert not state.owns("x:b/c:D", "1")
