"""Tells why the attempts of a key have no order, with as few of them as show it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from loadtest.claims import Claims
from loadtest.linearizability import MOST_POSITIONS, search
from loadtest.sequential import Says

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadtest.linearizability import Found
    from loadtest.sequential import Call, Rules

# Searches for a smaller example before the one at hand is shown: halving finds a few among thousands in some
# hundreds, and no verdict waits for beauty.
_MOST_TRIES: Final = 400
# Attempts that are written out: a reader compares two or three.
_MOST_SHOWN: Final = 6


@dataclass(frozen=True, slots=True)
class Conflict:
    """Attempts that no order explains.

    Attributes:
        calls: so few that without the answer of any of them there is an order; by their start.
        found: the search over them.
    """

    calls: tuple[Call, ...]
    found: Found


def smallest(rules: Rules, calls: Sequence[Call]) -> Conflict:
    """Take answers away, as long as the others have no order.

    A duplicate whose answer is taken away is gone. A first answer becomes one that nobody saw: were it gone,
    its replays would have nothing to replay, and that would be another conflict than the one at hand.

    Args:
        calls: that have no order.
    """
    # What was claimed stays known: a 409 that is left without its claim would be another conflict, too.
    claims = Claims(rules, calls)
    # Duplicates go first: a reader looks for the first answer, and should find it where it plays a part.
    kept = sorted(calls, key=lambda one: one.says in {Says.FIRST, Says.UNSEEN})
    size, tries = max(1, len(calls) // 2), 0
    while size and tries < _MOST_TRIES:
        at, before = 0, len(kept)
        while at < len(kept) and tries < _MOST_TRIES:
            left = _without_answers(kept[at : at + size])
            fewer = [*kept[:at], *left, *kept[at + size :]]
            tries += 1
            if search(rules, fewer, MOST_POSITIONS, claims).ordered is False:
                kept, at = fewer, at + len(left)
            else:
                at += size
        # One at a time until that takes none away any more.
        size = size // 2 if size > 1 or len(kept) == before else size
    shown = sorted((one for one in kept if one.says is not Says.UNSEEN), key=lambda one: one.start_ms)
    return Conflict(tuple(shown), search(rules, kept, MOST_POSITIONS, claims))


def _without_answers(calls: Sequence[Call]) -> list[Call]:
    return [
        replace(one, says=Says.UNSEEN, answer="") if one.says is Says.FIRST else one
        for one in calls
        if one.says in {Says.FIRST, Says.UNSEEN}
    ]


def explain(rules: Rules, calls: Sequence[Call]) -> str:
    """Say which attempts have no order, and why, for people. Times: ms after the key's first attempt."""
    conflict = smallest(rules, calls)
    zero = min(one.start_ms for one in calls)
    shown = [_line(one, zero) for one in conflict.calls[:_MOST_SHOWN]]
    if len(conflict.calls) > _MOST_SHOWN:
        shown.append(f"and {len(conflict.calls) - _MOST_SHOWN} more")
    text = f"of {len(calls)} attempts no order explains {len(conflict.calls)}: {'; '.join(shown)}"
    stuck = conflict.found.stuck
    if stuck is not None:
        text += (
            f". At the latest by {stuck.end_ms - zero:.1f} the answer to {stuck.attempt_id} must have been "
            f"true, and whatever came before it, the key was then {conflict.found.state.phase.value}"
        )
        if stuck.says is Says.RUNNING and not Claims(rules, calls).explain(stuck):
            text += "; no other attempt can have held its claim then"
    others = [one for one in calls if one not in conflict.calls and one.says in {Says.FIRST, Says.UNSEEN}]
    if others:
        earliest = min(others, key=lambda one: one.start_ms)
        text += f". Of {len(others)} others that may have taken it the earliest is {_line(earliest, zero)}"
    return text


def _line(call: Call, zero: float) -> str:
    start, end = call.start_ms - zero, call.end_ms - zero
    sent = f"{call.attempt_id} with body {call.body[:8]} from {start:.1f} to {end:.1f}"
    return f"{sent} was told: {call.says.value}"
