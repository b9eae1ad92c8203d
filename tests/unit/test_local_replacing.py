"""A resource that is replaced under its own address: what lives in it comes back, and nothing is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi
import pytest

from ops.local.errors import UpdateFailedError
from tests.local_programs import KIND, Engine, Thing, urn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RETAINED = pulumi.ResourceOptions(retain_on_delete=True)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine(tmp_path)


def box(
    material: str, *, shelf: pulumi.ResourceOptions | None = None, shelves: tuple[str, ...] = ("shelf",)
) -> None:
    """A box with shelves, a cup on each, and a lamp that only knows the box's address."""
    there = Thing("box", material=material)
    for name in shelves:
        on = Thing(name, shelf, {"name": pulumi.Output.concat(there.name, "/", name)})
        Thing(f"{name}-cup", None, {"name": pulumi.Output.concat(on.name, "/cup")})
    Thing("lamp", pulumi.ResourceOptions(depends_on=[there]), label=there.arn)


INSIDE = {"box", "box/shelf", "box/shelf/cup"}


def test_what_lives_in_it_is_taken_down_first_and_made_anew(engine: Engine) -> None:
    engine.up(lambda: box("wood"))
    summary = engine.up(lambda: box("iron"))
    assert engine.things.calls == [
        *(("delete", name) for name in ("box/shelf/cup", "box/shelf", "box")),
        *(("create", name) for name in ("box", "box/shelf", "box/shelf/cup")),
    ]
    assert set(summary.replaced) == {urn("box"), urn("shelf"), urn("shelf-cup")}
    assert (summary.created, summary.deleted) == ((), ())
    assert engine.things.there.keys() == {*INSIDE, "lamp"}
    assert engine.up(lambda: box("iron")).changes == 0


def test_a_preview_says_the_same_and_does_nothing(engine: Engine) -> None:
    engine.up(lambda: box("wood"))
    preview = engine.up(lambda: box("iron"), dry_run=True)
    assert engine.things.calls == []
    assert set(preview.replaced) == {urn("box"), urn("shelf"), urn("shelf-cup")}
    assert preview.updated == (urn("lamp"),)  # the new box's address cannot be known yet
    gone = engine.up(lambda: box("iron", shelves=()), dry_run=True)
    assert sorted(gone.deleted) == [urn("shelf"), urn("shelf-cup")]
    assert engine.up(lambda: box("wood")).changes == 0


def test_what_lived_in_it_and_is_no_longer_in_the_program_is_gone_and_told(engine: Engine) -> None:
    engine.up(lambda: box("wood"))
    summary = engine.up(lambda: box("iron", shelves=()))
    assert sorted(summary.deleted) == [urn("shelf"), urn("shelf-cup")]
    assert engine.things.there.keys() == {"box", "lamp"}


def test_an_update_that_breaks_off_in_between_leaves_nothing_out_of_the_next(engine: Engine) -> None:
    engine.up(lambda: box("wood"))
    engine.things.broken.add("box")
    with pytest.raises(UpdateFailedError, match="broke off"):
        engine.up(lambda: box("iron"))
    engine.things.broken.clear()
    engine.up(lambda: box("iron"))
    assert engine.things.there.keys() == {*INSIDE, "lamp"}


def test_what_is_ignored_of_a_change_stays_ignored_when_it_is_made_anew(engine: Engine) -> None:
    def program(material: str, size: int) -> None:
        there = Thing("box", material=material)
        kept = pulumi.ResourceOptions(ignore_changes=["size"])
        Thing("shelf", kept, {"name": pulumi.Output.concat(there.name, "/shelf"), "size": size})

    engine.up(lambda: program("wood", 1))
    engine.up(lambda: program("iron", 2))
    assert engine.state.entries[urn("shelf")].inputs["size"] == 1


def test_a_renamed_resource_that_is_replaced_at_once_loses_nothing_either(engine: Engine) -> None:
    def program(logical: str, material: str) -> None:
        alias = pulumi.ResourceOptions(aliases=[pulumi.Alias(name="old")])
        there = Thing(logical, alias, {"name": "box", "material": material})
        Thing("shelf", None, {"name": pulumi.Output.concat(there.name, "/shelf")})

    engine.up(lambda: program("old", "wood"))
    engine.up(lambda: program("new", "iron"))
    assert engine.things.there.keys() == {"box", "box/shelf"}


@pytest.mark.parametrize(
    ("options", "why"),
    [(pulumi.ResourceOptions(protect=True), "protected"), (RETAINED, "to be retained")],
)
def test_what_must_not_be_lost_with_it_is_named_before_anything_is_deleted(
    engine: Engine, options: pulumi.ResourceOptions, why: str
) -> None:
    engine.up(lambda: box("wood", shelf=options))
    with pytest.raises(UpdateFailedError, match=rf"{KIND} \(shelf\) is {why}, and lives in {KIND} \(box\)"):
        engine.up(lambda: box("iron", shelf=options))
    assert engine.things.calls == []


def test_a_retained_thing_is_not_replaced_under_its_own_name_however_often_it_is_tried(
    engine: Engine,
) -> None:
    engine.up(lambda: _named("one", RETAINED, material="wood"))
    for _ in range(2):
        with pytest.raises(UpdateFailedError, match=rf"{KIND} \(x\) is to be retained.*another name"):
            engine.up(lambda: _named("one", RETAINED, material="iron"))
        assert engine.things.calls == []
    assert engine.up(lambda: _named("one", RETAINED, material="wood")).changes == 0


def test_a_retained_thing_that_another_name_replaces_stays(engine: Engine) -> None:
    first = pulumi.ResourceOptions(retain_on_delete=True, delete_before_replace=True)
    engine.up(lambda: _named("one", first))
    engine.up(lambda: _named("two", first))
    assert engine.things.there.keys() == {"one", "two"}


@pytest.mark.parametrize("leave", [lambda: None, lambda: _named("two", RETAINED)], ids=["out", "replaced"])
def test_a_retained_thing_is_never_taken_for_what_a_broken_attempt_left(
    engine: Engine, leave: Callable[[], None]
) -> None:
    def again() -> None:
        Thing("y", name="one")

    engine.up(lambda: _named("one", RETAINED))
    engine.up(leave)
    for _ in range(2):
        with pytest.raises(UpdateFailedError, match="one exists"):
            engine.up(again)
        assert ("delete", "one") not in engine.things.calls
    assert "one" in engine.things.there


def test_all_properties_can_be_ignored_or_be_grounds_for_a_replacement(engine: Engine) -> None:
    ignored = pulumi.ResourceOptions(ignore_changes=["*"])
    engine.up(lambda: _named("one", ignored, size=1))
    assert engine.up(lambda: _named("two", ignored, label="new")).changes == 0
    replaced = pulumi.ResourceOptions(replace_on_changes=["*"])
    assert engine.up(lambda: _named("one", replaced, size=2)).replaced == (urn("x"),)


@pytest.mark.parametrize("path", ["numbers.a", "numbers[0]", 'numbers["a"]', "numbers[*]"])
@pytest.mark.parametrize("option", ["ignore_changes", "replace_on_changes"])
def test_an_option_with_a_path_into_a_property_is_refused_by_name(
    engine: Engine, option: str, path: str
) -> None:
    options = pulumi.ResourceOptions(**{option: [path]})  # type: ignore[arg-type]
    with pytest.raises(UpdateFailedError) as refused:
        engine.up(lambda: _named("one", options, numbers={"a": 1}))
    assert f"{KIND} (x): {'ignoreChanges' if option[0] == 'i' else 'replaceOnChanges'}: {path}:" in str(
        refused.value
    )
    assert engine.things.calls == []


def _named(name: str, opts: pulumi.ResourceOptions | None = None, **properties: object) -> None:
    """The thing `x` with a name of its own."""
    Thing("x", opts, {"name": name, **properties})
