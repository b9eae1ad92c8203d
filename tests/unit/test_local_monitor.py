"""Small programs through the in-process engine: what it makes, refuses, keeps and says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi
import pytest

from ops.local.errors import UpdateFailedError
from tests.local_programs import KIND, Engine, Group, Thing, urn

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine(tmp_path)


def chain(size: int = 1) -> None:
    """A thing made from another's outputs."""
    first = Thing("first", size=size, secretLabel=pulumi.Output.secret("hidden"))
    second = Thing("second", label=first.version)
    pulumi.export("label", second.arn)
    pulumi.export("secret", pulumi.Output.secret({"of": first.arn}))


def test_a_second_update_of_the_same_program_calls_nothing_and_says_so(engine: Engine) -> None:
    first = engine.up(chain)
    assert engine.things.calls == [("create", "first"), ("create", "second")]
    assert (len(first.created), first.changes) == (3, 3)  # the stack itself counts, as in `pulumi up`
    second = engine.up(chain)
    assert engine.things.calls == []
    assert second.changes == 0
    assert second.unchanged == (urn("project-local", "pulumi:pulumi:Stack"), urn("first"), urn("second"))


def test_the_programs_exports_are_kept_secrets_too(engine: Engine) -> None:
    engine.up(chain)
    assert engine.state.outputs == {"label": "arn:second", "secret": {"of": "arn:first"}}


def test_a_change_in_place_reaches_what_was_made_from_it(engine: Engine) -> None:
    engine.up(chain)
    summary = engine.up(lambda: chain(2))
    assert engine.things.calls == [("update", "first"), ("update", "second")]
    assert summary.updated == (urn("first"), urn("second"))


def test_what_the_program_no_longer_has_is_deleted_users_first(engine: Engine) -> None:
    engine.up(chain)
    summary = engine.up(lambda: None)
    assert engine.things.calls == [("delete", "second"), ("delete", "first")]
    assert summary.deleted == (urn("second"), urn("first"))
    assert engine.things.there == {}


def test_depends_on_alone_decides_the_order_of_deletion_too(engine: Engine) -> None:
    def program() -> None:
        base = Thing("zzz")
        Thing("aaa", opts=pulumi.ResourceOptions(depends_on=[base]))

    engine.up(program)
    engine.up(lambda: None)
    assert engine.things.calls == [("delete", "aaa"), ("delete", "zzz")]


def test_a_new_name_is_a_new_thing_that_comes_before_the_old_one_goes(engine: Engine) -> None:
    engine.up(lambda: _named("one"))
    summary = engine.up(lambda: _named("two"))
    assert engine.things.calls == [("create", "two"), ("delete", "one")]
    assert summary.replaced == (urn("x"),)
    assert summary.deleted == ()
    assert engine.up(lambda: _named("two")).changes == 0


def test_a_new_thing_under_the_same_name_waits_for_the_old_one_to_go(engine: Engine) -> None:
    engine.up(lambda: _named("one", material="wood"))
    engine.up(lambda: _named("one", material="iron"))
    assert engine.things.calls == [("delete", "one"), ("create", "one")]


def test_delete_before_replace_is_honoured(engine: Engine) -> None:
    options = pulumi.ResourceOptions(delete_before_replace=True)
    engine.up(lambda: _named("one", options))
    engine.up(lambda: _named("two", options))
    assert engine.things.calls == [("delete", "one"), ("create", "two")]


def test_replace_on_changes_is_honoured(engine: Engine) -> None:
    options = pulumi.ResourceOptions(replace_on_changes=["size"])
    engine.up(lambda: _named("one", options, size=1))
    assert engine.up(lambda: _named("one", options, size=2)).replaced == (urn("x"),)


def test_ignored_changes_are_ignored(engine: Engine) -> None:
    options = pulumi.ResourceOptions(ignore_changes=["size", "label"])
    engine.up(lambda: _named("one", options, size=1))
    assert engine.up(lambda: _named("one", options, size=2, label="new")).changes == 0


def test_a_thing_that_is_to_be_kept_leaves_the_state_and_stays(engine: Engine) -> None:
    engine.up(lambda: _named("one", pulumi.ResourceOptions(retain_on_delete=True)))
    assert engine.up(lambda: None).deleted == (urn("x"),)
    assert "one" in engine.things.there


def test_an_alias_is_the_same_thing_under_a_new_name(engine: Engine) -> None:
    engine.up(lambda: _named("one"))

    def renamed() -> None:
        Thing("y", pulumi.ResourceOptions(aliases=[pulumi.Alias(name="x")]), name="one")

    assert engine.up(renamed).changes == 0
    assert urn("y") in engine.state.entries
    assert urn("x") not in engine.state.entries


@pytest.mark.parametrize("program", [lambda: None, lambda: _named("two")])
def test_a_protected_thing_is_neither_deleted_nor_replaced(engine: Engine, program: object) -> None:
    engine.up(lambda: _named("one", pulumi.ResourceOptions(protect=True)))
    with pytest.raises(UpdateFailedError, match=rf"{KIND} \(x\).*protected|protected.*{KIND} \(x\)"):
        engine.up(program)  # type: ignore[arg-type]
    assert engine.things.calls == []
    assert "one" in engine.things.there


def test_protection_can_be_lifted_without_a_call(engine: Engine) -> None:
    engine.up(lambda: _named("one", pulumi.ResourceOptions(protect=True)))
    engine.up(lambda: _named("one"))
    assert engine.up(lambda: None).deleted == (urn("x"),)


def test_the_same_name_twice_is_refused(engine: Engine) -> None:
    def program() -> None:
        Thing("x")
        Thing("x")

    with pytest.raises(UpdateFailedError, match=r"registered twice"):
        engine.up(program)


def test_equal_names_below_different_parents_are_different_things(engine: Engine) -> None:
    def program() -> None:
        for outer in ("a", "b"):
            inner = Group(
                "x:index:Inner",
                f"{outer}-in",
                pulumi.ResourceOptions(parent=Group(f"x:index:{outer}", outer)),
            )
            Thing("x", pulumi.ResourceOptions(parent=inner), name=outer)

    summary = engine.up(program)
    assert urn("x", f"x:index:a$x:index:Inner${KIND}") in summary.created
    assert urn("x", f"x:index:b$x:index:Inner${KIND}") in summary.created


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (
            lambda: pulumi.CustomResource("aws:ec2/vpc:Vpc", "net", {}),
            r"aws:ec2/vpc:Vpc \(net\).*does not know",
        ),
        (lambda: Thing("x", colour="red", taste=1), r"\(x\).*does not apply: colour, taste"),
        (lambda: Thing("x", pulumi.ResourceOptions(import_="id-7")), "imports are not supported"),
        (lambda: pulumi.runtime.invoke("aws:ec2/getVpc:getVpc", {}), r"aws:ec2/getVpc:getVpc.*does not know"),
        (lambda: Thing("x", pulumi.ResourceOptions(id="id-7")), "not supported"),
    ],
)
def test_what_it_does_not_know_is_refused_by_name(engine: Engine, program: object, message: str) -> None:
    with pytest.raises(Exception, match=message):
        engine.up(program)  # type: ignore[arg-type]
    assert engine.things.there == {}


def test_a_property_that_is_listed_as_not_applied_is_accepted(engine: Engine) -> None:
    assert engine.up(lambda: _named("one", smell="none", tags={"a": "b"})).changes == 2


def test_a_failure_keeps_what_was_made_and_the_next_update_goes_on_from_it(engine: Engine) -> None:
    engine.things.broken.add("second")
    with pytest.raises(UpdateFailedError, match=rf"{KIND} \(second\): broke off half-way"):
        engine.up(chain)
    assert urn("first") in engine.state.entries
    assert urn("second") not in engine.state.entries
    engine.things.broken.clear()
    summary = engine.up(chain)
    # What the broken attempt may have left is taken away first.
    assert engine.things.calls == [("delete", "second"), ("create", "second")]
    assert summary.created == (urn("second"),)
    assert engine.up(chain).changes == 0


def test_a_failed_update_deletes_nothing(engine: Engine) -> None:
    engine.up(lambda: _named("one"))
    engine.things.broken.add("second")
    with pytest.raises(UpdateFailedError):
        engine.up(chain)
    assert "one" in engine.things.there


def test_a_retry_does_not_take_away_what_belongs_to_another_resource(engine: Engine) -> None:
    def program() -> None:
        one = Thing("one", name="shared")
        Thing("two", pulumi.ResourceOptions(depends_on=[one]), name="shared")

    for _ in range(2):
        with pytest.raises(UpdateFailedError, match="shared exists"):
            engine.up(program)
        assert ("delete", "shared") not in engine.things.calls


def test_an_exception_of_the_program_reaches_the_caller_as_it_is(engine: Engine) -> None:
    def program() -> None:
        Thing("x")
        raise LookupError("no such tenant")

    with pytest.raises(LookupError, match="no such tenant"):
        engine.up(program)


def test_a_string_with_an_output_in_it_is_an_error(engine: Engine) -> None:
    with pytest.raises(Exception, match=r"Calling __str__ on an Output"):
        engine.up(lambda: _named("x", label=f"{Thing('y').arn}/*"))


def test_configuration_reaches_the_program_and_does_not_outlive_it(engine: Engine) -> None:
    seen: list[str | None] = []
    engine.up(lambda: seen.append(pulumi.Config().get("setting")))
    assert seen == ["kept"]
    assert pulumi.Config("project").get("setting") is None


def test_a_preview_makes_nothing_and_names_the_same_resources(engine: Engine) -> None:
    preview = engine.up(chain, dry_run=True)
    assert engine.things.calls == []
    assert not (engine.home / "state.json").exists()
    assert set(preview.created) == set(engine.up(chain).created)


def test_a_preview_of_a_change_knows_what_cannot_be_known(engine: Engine) -> None:
    engine.up(chain)
    preview = engine.up(lambda: chain(2), dry_run=True)
    assert preview.updated == (urn("first"), urn("second"))  # second's label is first's version
    assert engine.things.calls == []
    preview = engine.up(lambda: None, dry_run=True)
    assert preview.deleted == (urn("second"), urn("first"))
    assert engine.up(chain).changes == 0


def _named(name: str, opts: pulumi.ResourceOptions | None = None, **properties: object) -> None:
    """The thing `x` with a name of its own."""
    Thing("x", opts, {"name": name, **properties})
