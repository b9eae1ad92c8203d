"""What an update says, in the words and signs of `pulumi up`."""

from ops.local.diff import Step
from ops.local.summary import UpdateSummary
from ops.local.urn import name_of, type_of

_DONE = {Step.CREATE: "created", Step.UPDATE: "updated", Step.REPLACE: "replaced", Step.DELETE: "deleted"}
_TO_DO = {Step.CREATE: "create", Step.UPDATE: "update", Step.REPLACE: "replace", Step.DELETE: "delete"}


def step_line(step: Step, urn: str, changed: tuple[str, ...], *, dry_run: bool) -> str | None:
    """One line on one resource; None for one that stays as it is, which is not shown."""
    if step is Step.SAME:
        return None
    words = _TO_DO if dry_run else _DONE
    line = f" {step.value:<2} {short_type(type_of(urn))} {name_of(urn)} {words[step]}"
    return f"{line} [diff: {', '.join(f'~{name}' for name in changed)}]" if changed else line


def short_type(token: str) -> str:
    """A type as Pulumi shows it: `aws:sns/topic:Topic` is `aws:sns:Topic`."""
    package, module, name = token.split(":")
    return f"{package}:{module.split('/')[0]}:{name}"


def summary_lines(summary: UpdateSummary, seconds: float, *, dry_run: bool) -> list[str]:
    """The counts at the end."""
    words = _TO_DO if dry_run else _DONE
    counts = (
        (Step.CREATE, summary.created),
        (Step.UPDATE, summary.updated),
        (Step.REPLACE, summary.replaced),
        (Step.DELETE, summary.deleted),
    )
    to_do = "to " if dry_run else ""
    lines = [f"    {step.value} {len(urns)} {to_do}{words[step]}" for step, urns in counts if urns]
    return ["Resources:", *lines, f"    {len(summary.unchanged)} unchanged", f"Duration: {seconds:.1f} s"]
