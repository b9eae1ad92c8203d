"""What an update decides to do with a resource, and in which order it deletes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.local.diff import Identity, Plan, Step, changed_properties, deletion_order, plan
from ops.local.state import Entry
from ops.local.wire import UNKNOWN

IDENTITY = Identity(names=("name", "parent"), fixed=("material",))
OLD = Entry("urn", custom=True, id="1", inputs={"name": "a", "parent": "p", "material": "wood", "size": 1})


def test_what_is_not_there_yet_is_created() -> None:
    assert plan(None, {"name": "a"}, IDENTITY) == Plan(Step.CREATE)


def test_what_is_the_same_is_left_alone() -> None:
    assert plan(OLD, dict(OLD.inputs), IDENTITY) == Plan(Step.SAME)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"size": 2}, Plan(Step.UPDATE, ("size",))),
        ({"label": "new"}, Plan(Step.UPDATE, ("label",))),
        ({"size": True}, Plan(Step.UPDATE, ("size",))),  # True == 1 in Python, but not on AWS
        ({"name": "b"}, Plan(Step.REPLACE, ("name",), delete_first=False)),
        ({"parent": "q", "size": 2}, Plan(Step.REPLACE, ("parent", "size"), delete_first=False)),
        ({"material": "iron"}, Plan(Step.REPLACE, ("material",), delete_first=True, same_address=True)),
        ({"material": "iron", "name": "b"}, Plan(Step.REPLACE, ("material", "name"), delete_first=False)),
    ],
)
def test_a_change_is_made_in_place_unless_it_makes_another_resource(
    change: dict[str, object], expected: Plan
) -> None:
    assert plan(OLD, {**OLD.inputs, **change}, IDENTITY) == expected


def test_a_property_that_is_gone_is_a_change() -> None:
    assert plan(OLD, {k: v for k, v in OLD.inputs.items() if k != "size"}, IDENTITY) == Plan(
        Step.UPDATE, ("size",)
    )


def test_without_an_address_of_its_own_the_new_one_comes_before_the_old_one_goes() -> None:
    old = Entry("urn", custom=True, id="1", inputs={"triggers": "a"})
    assert plan(old, {"triggers": "b"}, Identity(fixed=("triggers",))) == Plan(
        Step.REPLACE, ("triggers",), delete_first=False
    )


def test_the_programs_own_options_decide_too() -> None:
    inputs = {**OLD.inputs, "size": 2}
    assert plan(OLD, inputs, IDENTITY, replace_on=["size"]).step is Step.REPLACE
    assert plan(OLD, inputs, IDENTITY, replace_on=["*"]).step is Step.REPLACE
    assert plan(OLD, dict(OLD.inputs), IDENTITY, replace_on=["*"]).step is Step.SAME
    assert plan(OLD, {**OLD.inputs, "name": "b"}, IDENTITY, delete_before_replace=True).delete_first


def test_a_value_not_known_yet_counts_as_a_change_however_deep_it_is() -> None:
    old = {"a": {"b": [UNKNOWN]}, "c": 1}
    assert changed_properties(old, {"a": {"b": [UNKNOWN]}, "c": 1}) == ("a",)


@pytest.mark.parametrize(("old", "new", "same"), [("x", "x", True), ("x", "y", False)])
def test_an_archive_is_compared_by_its_content_and_not_by_its_path(old: str, new: str, same: bool) -> None:
    before, after = {"archive": {"sha256": old, "path": "/1"}}, {"archive": {"sha256": new, "path": "/2"}}
    assert changed_properties({"code": before}, {"code": after}) == (() if same else ("code",))


def entries(*edges: tuple[str, tuple[str, ...]]) -> list[Entry]:
    return [Entry(urn, custom=True, dependencies=dependencies) for urn, dependencies in edges]


def test_users_are_deleted_before_what_they_use() -> None:
    ordered = deletion_order(entries(("key", ()), ("table", ("key",)), ("item", ("table", "key"))))
    assert [entry.urn for entry in ordered] == ["item", "table", "key"]


def test_a_dependency_that_stays_does_not_hold_anything_up() -> None:
    assert [entry.urn for entry in deletion_order(entries(("item", ("table",))))] == ["item"]


def test_a_circle_is_refused_and_named() -> None:
    with pytest.raises(ValueError, match=r"\['a', 'b'\]"):
        deletion_order(entries(("a", ("b",)), ("b", ("a",)), ("c", ())))


@given(st.permutations(range(12)))
def test_any_graph_is_deleted_whole_and_users_first(order: list[int]) -> None:
    graph = entries(*((str(n), tuple(str(m) for m in range(n) if (n * m) % 3 == 1)) for n in range(12)))
    ordered = [entry.urn for entry in deletion_order([graph[n] for n in order])]
    assert sorted(ordered, key=int) == [str(n) for n in range(12)]
    for entry in graph:
        for dependency in entry.dependencies:
            assert ordered.index(entry.urn) < ordered.index(dependency)
