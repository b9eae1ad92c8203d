"""The same search over Powertools' idempotency utility: which promises hold there, and here.

For each promise: the smallest schedule that breaks it (fewest faults, then attempts, then moves), and the
search of Onceward within the same bounds. The peer is searched twice: with workers that Lambda ends on time,
and with such as may go on for a while after their claim has expired (as Onceward always is).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from proof import payments, wording
from proof.peer_handler import PORT, served
from proof.peer_promises import Promise, promises_in
from proof.peer_rules import HeldReceipts, OncewardRules, PeerRules
from proof.peer_table import PeerTable
from proof.provider import Provider
from proof.receipt_changes import LEASE_MS, LIVES_MS
from proof.requests import OTHER_PAYMENT, PAYMENT, REMAINING_MS, unmeasured
from proof.scenario import Actor, Scenario
from proof.search import search
from proof.state import FAULTS
from proof.telling import told
from tests.builders import NOW_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from proof.peer_records import Table
    from proof.scenario import Seen
    from proof.search import Found

ALL: Final = tuple(Promise)
"""Every promise that is compared, in the order of the table."""

Bounds = tuple[int, int]
"""Attempts, and faults at most."""

BOUNDS: Final[Sequence[Bounds]] = ((2, 1), (3, 1), (2, 2), (3, 2), (2, 3))
"""Searched in this order until a promise is broken: the fewest faults first, then the fewest attempts."""

ON_TIME_MS: Final = REMAINING_MS
"""How long a worker lives that Lambda ends when its time is up: as long as its claim."""
LATE_MS: Final = ON_TIME_MS + LIVES_MS - LEASE_MS
"""And one whose last call arrives late: as late as Onceward's after their claims."""


class Unkept(AssertionError):
    """A search of Onceward found a broken promise, or was not finished; its text is the schedule."""


@dataclass(frozen=True)
class Verdict:
    """What the searches of one promise saw.

    Attributes:
        bounds: of the search that broke it, or all that were complete.
        states: seen in those. moves, faults: of the schedule that broke it; 0 where none did.
        story: that schedule in words; empty where none did.
    """

    promise: Promise
    bounds: tuple[Bounds, ...]
    states: int
    moves: int = 0
    faults: int = 0
    story: str = ""


@dataclass
class Comparison:
    """Searches of the peer; `tell` hears of each that ends."""

    bounds: Sequence[Bounds] = BOUNDS
    tell: Callable[[Found], None] = lambda _found: None
    _onceward: dict[tuple[bool, Bounds], Found] = field(default_factory=dict)

    def peer(self, lives_ms: int, promises: Iterable[Promise] = ALL) -> Mapping[Promise, Verdict]:
        """What becomes of each promise where a worker lives that long."""
        wanted = frozenset(promises)
        verdicts: dict[Promise, Verdict] = {}
        for group in (wanted & {Promise.MISMATCH}, wanted - {Promise.MISMATCH}):
            verdicts |= self._group(group, lives_ms)
        return {promise: verdicts[promise] for promise in ALL if promise in verdicts}

    def _group(self, group: frozenset[Promise], lives_ms: int) -> dict[Promise, Verdict]:
        verdicts: dict[Promise, Verdict] = {}
        left, complete = group, list[tuple[Bounds, int]]()
        for bounds in self.bounds:
            while left:
                # What is found first is a shortest for its promise: judging the others hides no state.
                found = self._search(peer_scenario(*bounds, lives_ms, left))
                if found.complete:
                    complete.append((bounds, found.states))
                    break
                assert found.broken, f"{found.scenario}: given up"
                faults = sum(move.kind in FAULTS for move in found.moves)
                for promise in promises_in(found.broken):
                    verdicts[promise] = Verdict(
                        promise, (bounds,), found.states, len(found.moves), faults, told(found)
                    )
                left -= promises_in(found.broken)
        widest = [one for one in complete if one[0] in self.bounds[-2:]] or complete[-1:]
        for promise in left:
            verdicts[promise] = Verdict(
                promise, tuple(bounds for bounds, _ in widest), sum(states for _, states in widest)
            )
        return verdicts

    def onceward(self, promise: Promise, bounds: Bounds) -> Found:
        """Onceward's search within the bounds, with all of its rules; each is run once."""
        key = (promise is Promise.MISMATCH, bounds)
        if key not in self._onceward:
            self._onceward[key] = self._search(onceward_scenario(*bounds, other=key[0]))
        return self._onceward[key]

    def _search(self, scenario: Scenario) -> Found:
        with unmeasured():
            found = search(scenario)
        self.tell(found)
        return found


def peer_scenario(
    attempts: int, faults: int, lives_ms: int = ON_TIME_MS, judged: frozenset[Promise] = frozenset(ALL)
) -> Scenario:
    """`attempts` at the peer's handler; where a mismatch is judged, the last sends another payment."""
    names = "ABCDE"[:attempts]
    other = Promise.MISMATCH in judged
    sent = {name: payments.payment() for name in names}
    if other:
        sent[names[-1]] = payments.payment(OTHER_PAYMENT)
    probes = () if other else ("Y", "Z")
    first = payments.payment(PAYMENT)
    actors = tuple(Actor(name, str(one), served(one), lives_ms=lives_ms) for name, one in sent.items())
    return Scenario(
        name=f"Powertools{', two bodies' * other}, a worker lives {lives_ms // 1000} s: {attempts} attempts, "
        f"up to {wording.count(faults, 'fault')}",
        actors=actors,
        ports=(PeerTable(judged), Provider()),
        rules=PeerRules(judged, probes),
        begins_ms=NOW_MS,
        faults=faults,
        probes=tuple(Actor(name, name, served(first), lives_ms=lives_ms) for name in probes),
        settled_at=_settled_at,
    )


def _settled_at(seen: Seen) -> int:
    table: Table = seen.ports[PORT]
    leases = [
        int(item["in_progress_expiration"]["N"]) + 1
        for _, item in table.items
        if item["status"]["S"] == "INPROGRESS"
    ]
    return max([seen.now, *leases])


def onceward_scenario(attempts: int, faults: int, *, other: bool) -> Scenario:
    """Onceward's own scenario of the same attempts (as late as the peer's), with two rules more."""
    make = payments.two_bodies if other else payments.payments
    own = make(attempts, faults)
    ports = tuple(HeldReceipts() if port.name == "receipts" else port for port in own.ports)
    return replace(own, ports=ports, rules=OncewardRules(own.rules))


def table(tell: Callable[[Found], None] = lambda _found: None, bounds: Sequence[Bounds] = BOUNDS) -> str:
    """The comparison as Markdown: the table, then the schedules in words. Takes minutes.

    `tell` hears of each search that ends.

    Raises Unkept, with the schedule, if a search of Onceward finds anything.
    """
    comparison = Comparison(bounds, tell)
    on_time, late = comparison.peer(ON_TIME_MS), comparison.peer(LATE_MS)
    peer_name = f"Powertools {version('aws-lambda-powertools')}"
    lines = [
        f"| promise | Onceward | {peer_name}, workers end on time | {peer_name}, a worker may be late |",
        "|---|---|---|---|",
    ]
    stories = list[str]()
    for promise in ALL:
        verdicts = (on_time[promise], late[promise])
        wanted = dict.fromkeys(one for verdict in verdicts for one in verdict.bounds)
        onceward = [comparison.onceward(promise, one) for one in wanted]
        lines.append(f"| {' | '.join((promise.value, _kept(onceward), *map(_cell, verdicts)))} |")
        # One story each: that of workers which end on time, where these break it at all.
        story = next((verdict.story for verdict in verdicts if verdict.story), None)
        if story:
            stories.append(f"**{promise.value}**\n\n```text\n{story}\n```")
    return "\n".join(lines) + "\n\n" + "\n\n".join(stories) + "\n"


def _kept(found: Sequence[Found]) -> str:
    for one in found:
        if not one.complete:
            raise Unkept(told(one) if one.broken else f"{one.scenario}: not finished")
    return f"kept ({sum(one.states for one in found):,} states)"


def _cell(verdict: Verdict) -> str:
    if not verdict.story:
        return f"kept ({verdict.states:,} states)"
    attempts, faults = verdict.bounds[0][0], f"{verdict.faults} fault{'s' * (verdict.faults != 1)}"
    return f"**broken**: {verdict.moves} moves, {faults}, {attempts} attempts"
