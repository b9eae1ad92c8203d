"""Who may have held a key's claim while somebody was told that it runs. Pure.

A 409 "still running" is the word of somebody else's claim. The order of a key's attempts alone does not ask
whose: a claim that nobody saw the end of might last for ever there, and one that was lost explain itself.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING

from loadtest.sequential import Says

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from loadtest.sequential import Call, Rules


class Claims:
    """The attempts of one key that may have held its claim.

    Those are: first answers, while they were under way; attempts that nobody saw the end of, for as long as
    a claim may last at most; and attempts that may have lost their lease, while they were under way, where
    another of these may be the one that they lost it to, and one of the first two kinds ends the row.
    """

    def __init__(self, rules: Rules, calls: Sequence[Call]) -> None:
        self._rules = rules
        sure = [one for one in calls if one.says in {Says.FIRST, Says.UNSEEN}]
        others = [one for one in calls if rules.may_have_lost(one)]
        self._holders = self._by_body(sure)
        self.lost: list[Call] = []
        """The attempts that may have lost their lease."""
        # Who took a claim over may have lost it in turn; at the end of such a row is one of the sure.
        while found := [one for one in others if self.explain(one)]:
            self.lost += found
            names = {one.attempt_id for one in found}
            others = [one for one in others if one.attempt_id not in names]
            self._holders = self._by_body([*sure, *self.lost])

    def explain(self, call: Call) -> bool:
        """Another attempt of the same body may have held the claim at some time of this one."""
        holders = self._holders.get(call.body)
        return holders is not None and holders.meet(call, self._rules.tolerance_ms)

    def _by_body(self, calls: Iterable[Call]) -> dict[str, _Holders]:
        by_body: defaultdict[str, list[Call]] = defaultdict(list)
        for one in calls:
            by_body[one.body].append(one)
        return {body: _Holders(found, self._rules.longest_claim_ms) for body, found in by_body.items()}


class _Holders:
    """Attempts of one body, by their start: of a hot key there are thousands, so nobody looks at them all."""

    def __init__(self, calls: list[Call], longest_claim_ms: float) -> None:
        calls.sort(key=lambda one: one.start_ms)
        self._starts = [one.start_ms for one in calls]
        # Of those up to each, the two that held it longest: one of them is not who asks.
        self._longest: list[tuple[tuple[float, str], ...]] = []
        best: tuple[tuple[float, str], ...] = ()
        for one in calls:
            until_ms = one.start_ms + longest_claim_ms if one.says is Says.UNSEEN else one.end_ms
            best = tuple(sorted((*best, (until_ms, one.attempt_id)), reverse=True)[:2])
            self._longest.append(best)

    def meet(self, call: Call, tolerance_ms: float) -> bool:
        """One of them that is not `call` began before its end and held the claim until after its start."""
        began = bisect_right(self._starts, call.end_ms + tolerance_ms)
        longest = self._longest[began - 1] if began else ()
        until_ms = max((until for until, name in longest if name != call.attempt_id), default=-math.inf)
        return until_ms + tolerance_ms >= call.start_ms
