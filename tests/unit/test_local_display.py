"""What an update says."""

from __future__ import annotations

import pytest

from ops.local.diff import Step
from ops.local.display import step_line, summary_lines
from ops.local.summary import UpdateSummary

TOPIC = "urn:pulumi:local::onceward::onceward:index:Tenant$aws:sns/topic:Topic::acme.topic"


@pytest.mark.parametrize(
    ("step", "changed", "dry_run", "line"),
    [
        (Step.CREATE, (), False, " +  aws:sns:Topic acme.topic created"),
        (Step.CREATE, (), True, " +  aws:sns:Topic acme.topic create"),
        (
            Step.UPDATE,
            ("policy", "name"),
            False,
            " ~  aws:sns:Topic acme.topic updated [diff: ~policy, ~name]",
        ),
        (Step.REPLACE, ("name",), True, " +- aws:sns:Topic acme.topic replace [diff: ~name]"),
        (Step.DELETE, (), False, " -  aws:sns:Topic acme.topic deleted"),
        (Step.SAME, (), False, None),
    ],
)
def test_a_step_is_shown_with_pulumis_sign_type_and_name(
    step: Step, changed: tuple[str, ...], dry_run: bool, line: str | None
) -> None:
    assert step_line(step, TOPIC, changed, dry_run=dry_run) == line


def test_counts_are_shown_of_what_happened_only() -> None:
    summary = UpdateSummary(created=("a", "b"), updated=(), replaced=("c",), deleted=("d",), unchanged=("e",))
    assert summary_lines(summary, 1.25, dry_run=False) == [
        "Resources:",
        "    + 2 created",
        "    +- 1 replaced",
        "    - 1 deleted",
        "    1 unchanged",
        "Duration: 1.2 s",
    ]
    assert summary_lines(summary, 0, dry_run=True)[1] == "    + 2 to create"
