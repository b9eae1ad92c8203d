"""The checker's rules for the run as a whole: does what was seen prove anything? Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadtest.verdict import Kind

if TYPE_CHECKING:
    from loadtest.answers import Answers
    from loadtest.expected import Expected
    from loadtest.heard import KeyAnswers
    from loadtest.verdict import Violations

# On a deployed stage a throttle or a 5xx may meet the only attempt of a key. When more than this part of the
# keys has no 2xx, or duplicates and no replay, the storm did not test what it is for. One key may always.
_MOST_UNPROVEN = 0.05


def check(answers: Answers, expected: Expected, found: Violations) -> None:
    """The history is the plan's, and its keys were accepted and its duplicates replayed."""
    _check_history(answers, expected, found)
    counts = answers.counts
    if not counts.created + counts.declined + counts.replays:
        detail = f"of {counts.requests} requests not one was accepted"
        found.add(Kind.NOTHING_ACCEPTED, "", "", detail)
        return
    silent = [one for one in answers.by_pk.values() if not one.answered]
    unreplayed = [one for one in answers.by_pk.values() if one.unreplayed]
    if expected.strict:
        _name_each(silent, unreplayed, found)
        # Of a key whose clients came only while its first request ran, the receipt must tell how that ended.
        silent = [one for one in silent if not one.heard.total() + one.in_progress]
        unreplayed = []
    if len(silent) + len(unreplayed) > max(1, _MOST_UNPROVEN * len(answers.by_pk)):
        detail = (
            f"of {len(answers.by_pk)} pairs of tenant and key, {len(silent)} had no 2xx and "
            f"{len(unreplayed)} had duplicates but no replay"
        )
        found.add(Kind.PROVES_NOTHING, "", "", detail)


def _name_each(silent: list[KeyAnswers], unreplayed: list[KeyAnswers], found: Violations) -> None:
    for one in silent:
        if times := one.heard.total():
            found.add(
                Kind.NEVER_ACCEPTED, one.tenant, one.key, f"{times} answers, none of them one that stands"
            )
    for one in unreplayed:
        detail = f"{one.heard.total()} answers, none of them a replay"
        found.add(Kind.NO_REPLAY, one.tenant, one.key, detail)


def _check_history(answers: Answers, expected: Expected, found: Violations) -> None:
    """Every planned request was attempted once, and nothing else."""

    def broken(detail: str) -> None:
        found.add(Kind.INCOMPLETE_RUN, "", "", detail)

    missing = expected.requests - answers.attempted
    if missing:
        tenant, key, _ = next(iter(missing))
        broken(f"{missing.total()} planned requests are not in the history, such as {tenant}'s {key}")
    extra = answers.attempted - expected.requests
    if extra:
        tenant, key, _ = next(iter(extra))
        broken(f"{extra.total()} attempts of the history were not planned, such as {tenant}'s {key}")
    if answers.repeated_ids:
        shown = min(answers.repeated_ids)
        broken(f"{len(answers.repeated_ids)} attempt ids are in the history more than once, such as {shown}")
