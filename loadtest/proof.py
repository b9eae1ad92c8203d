"""The checker's rules for the run as a whole: does what was seen prove anything? Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from loadtest.verdict import Kind

if TYPE_CHECKING:
    from collections import Counter

    from loadtest.answers import Answers
    from loadtest.crossing import Crossing
    from loadtest.expected import Expected
    from loadtest.heard import KeyAnswers
    from loadtest.verdict import Counts, Violations

# On a deployed stage a throttle or a 5xx may meet the only attempt of a key. When more than this part of the
# keys has no 2xx, or duplicates and no replay, the storm did not test what it is for. One key may always.
_MOST_UNPROVEN = 0.05


@dataclass(slots=True)
class Differing:
    """How many requests differ between plan and history, and one of them: tenant and key."""

    times: int = 0
    example: tuple[str, str] = ("", "")

    def add(self, requests: Counter[tuple[str, str, str]]) -> None:
        """Count these."""
        if requests and not self.times:
            tenant, key, _ = next(iter(requests))
            self.example = (tenant, key)
        self.times += requests.total()


class Proof:
    """Counts, a part of the keys after the other, what the run as a whole is judged by."""

    def __init__(self) -> None:
        self._missing, self._extra = Differing(), Differing()
        self._silent = self._unreplayed = 0

    def take(self, answers: Answers, expected: Expected, found: Violations) -> None:
        """Look at some of the keys: all that was planned and heard of them."""
        self._missing.add(expected.requests - answers.attempted)
        self._extra.add(answers.attempted - expected.requests)
        silent = [one for one in answers.by_pk.values() if not one.answered]
        unreplayed = [one for one in answers.by_pk.values() if one.unreplayed]
        if expected.strict:
            _name_each(silent, unreplayed, found)
            # Of a key whose clients came only while its first request ran, the receipt tells how that ended.
            silent = [one for one in silent if not one.heard.total() + one.in_progress]
            unreplayed = []
        self._silent += len(silent)
        self._unreplayed += len(unreplayed)

    def check(self, counts: Counts, crossing: Crossing, found: Violations) -> None:
        """The history is the plan's, and its keys were accepted and its duplicates replayed."""
        self._check_history(crossing, found)
        if not counts.created + counts.declined + counts.replays:
            # Said once of the run, and not of each key.
            found.forget(Kind.NEVER_ACCEPTED)
            detail = f"of {counts.requests} requests not one was accepted"
            found.add(Kind.NOTHING_ACCEPTED, "", "", detail)
        elif self._silent + self._unreplayed > max(1, _MOST_UNPROVEN * counts.tenant_keys):
            detail = (
                f"of {counts.tenant_keys} pairs of tenant and key, {self._silent} had no 2xx and "
                f"{self._unreplayed} had duplicates but no replay"
            )
            found.add(Kind.PROVES_NOTHING, "", "", detail)

    def _check_history(self, crossing: Crossing, found: Violations) -> None:
        """Every planned request was attempted once, and nothing else."""
        for one, what in (
            (self._missing, "planned requests are not in the history"),
            (self._extra, "attempts of the history were not planned"),
        ):
            if one.times:
                tenant, key = one.example
                detail = f"{one.times} {what}, such as {tenant}'s {key}"
                found.add(Kind.INCOMPLETE_RUN, "", "", detail)
        if crossing.repeated:
            detail = f"{crossing.repeated} attempt ids are in the history more than once, such as "
            found.add(Kind.INCOMPLETE_RUN, "", "", f"{detail}{crossing.repeated_id}")


def _name_each(silent: list[KeyAnswers], unreplayed: list[KeyAnswers], found: Violations) -> None:
    for one in silent:
        if times := one.heard.total():
            found.add(
                Kind.NEVER_ACCEPTED, one.tenant, one.key, f"{times} answers, none of them one that stands"
            )
    for one in unreplayed:
        detail = f"{one.heard.total()} answers, none of them a replay"
        found.add(Kind.NO_REPLAY, one.tenant, one.key, detail)
