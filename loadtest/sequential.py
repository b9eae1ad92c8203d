"""The sequential specification of one idempotency key: what each answer says of the key at one instant. Pure.

A key is an object that many clients call at once. This module says how it would behave if they came one
after the other (DESIGN sections 2, 3 and 7); `loadtest.linearizability` looks for an order of a real run's
attempts that it allows. Spelt out here and not imported: the checker shares no code with the platform.

An accept mode request takes effect in one step. In execute mode a first request is two steps, a claim and its
completion, and whoever comes between them is told that it runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final

from loadtest.history import Outcome
from loadtest.told import Told, told

if TYPE_CHECKING:
    from loadtest.history import Attempt
    from loadtest.operations import Operation

# A lease is the invocation's remaining time, 28 s at most, and a margin of 5 s (DESIGN section 7). Who is
# answered within the margin of having been sent still held its claim, if it ever had one.
LEAST_LEASE_MS: Final = 5_000.0
LONGEST_LEASE_MS: Final = 33_000.0
# A request that was sent may begin to run as long as its client waits for an answer: what comes later, the
# gateway has given up (29 s).
LONGEST_WAIT_MS: Final = 35_000.0


class Says(Enum):
    """What an attempt says of its key; the value is how people read it."""

    FIRST = "the first answer"  # new, or refused for good: it opened the window
    AGAIN = "a replay"
    MISMATCH = "422, the key was used for another body"
    RUNNING = "409, the first request still runs"
    UNSEEN = "no answer: it may have been accepted, then or later"


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt, as the specification sees it.

    Attributes:
        attempt_id: of the attempt. says: what its answer says of the key.
        body: hash of what was sent. answer: what replays must repeat; '' where there is none.
        start_ms, end_ms: when it was sent, and when its client knew the answer or gave up. ms since the
            epoch.
    """

    attempt_id: str
    says: Says
    body: str
    answer: str
    start_ms: float
    end_ms: float


@dataclass(frozen=True, slots=True)
class Rules:
    """What the contract says of the keys of an operation, and how exact the clocks are.

    A window outlasts the run (`loadtest.plan` sees to it): a key opens once.

    Attributes:
        executes: execute mode. one_body: another body is a 422.
        tolerance_ms: how far two stamps of the history may be from one clock's.
        least_lease_ms: who is answered in less still held its claim.
        longest_claim_ms: after it was sent, a request that nobody saw the end of may hold its claim so long.
    """

    executes: bool = False
    one_body: bool = True
    tolerance_ms: float = 0.0
    least_lease_ms: float = LEAST_LEASE_MS
    longest_claim_ms: float = LONGEST_WAIT_MS + LONGEST_LEASE_MS

    def may_have_lost(self, call: Call) -> bool:
        """It may have been an owner who lost its lease, and was told what its successor did."""
        return (
            self.executes
            and call.says in {Says.AGAIN, Says.RUNNING}
            and call.end_ms - call.start_ms >= self.least_lease_ms
        )


class Phase(Enum):
    """Where a key stands; the value is how people read it."""

    FREE = "used by nobody yet"
    RUNNING = "claimed, its first request running"
    LOST = "claimed by one that lost its lease before it was done"
    UNSEEN = "taken by a request whose end nobody saw"
    DONE = "answered"


@dataclass(frozen=True, slots=True)
class State:
    """One key at one instant.

    UNSEEN stands for all that may have come of a request whose client saw no answer: in accept mode it is
    accepted with an answer yet unknown; in execute mode it runs, or was released, or is done. LOST is execute
    mode's alone: it runs or has lapsed, and is not done until somebody takes it over.

    Attributes:
        phase: where it stands. body: whose it is. answer: what replays repeat.
        owner: the attempt whose claim runs.
    """

    phase: Phase
    body: str = ""
    answer: str = ""
    owner: str = ""


FREE: Final = State(Phase.FREE)


def call_of(attempt: Attempt, operation: Operation) -> Call | None:
    """What a POST says of its key; None when it says nothing (never sent, throttled, malformed)."""
    kind = told(attempt)
    says = _SAYS.get(kind)
    if says is None or attempt.outcome is Outcome.FAIL:
        return None
    unseen = says in {Says.UNSEEN, Says.MISMATCH, Says.RUNNING}
    answer = "" if unseen else _answer(attempt, operation)
    return Call(attempt.attempt_id, says, attempt.body_hash, answer, attempt.start_ms, attempt.end_ms)


def _answer(attempt: Attempt, operation: Operation) -> str:
    """All that a replay repeats; of a webhook, whose duplicates have their own words, where it is."""
    if operation.duplicate is not None:
        return dict(attempt.headers).get("location", "")
    headers = " ".join(f"{name}={value}" for name, value in attempt.headers)
    return f"{attempt.status} {attempt.response_hash} {headers}"


_SAYS: Final = {
    Told.NEW: Says.FIRST,
    Told.REFUSED: Says.FIRST,
    Told.REPLAY: Says.AGAIN,
    Told.CONFLICT: Says.MISMATCH,
    Told.IN_PROGRESS: Says.RUNNING,
    Told.SERVER_ERROR: Says.UNSEEN,
    Told.NONE: Says.UNSEEN,
    Told.DROPPED: Says.UNSEEN,
}


def allows(rules: Rules, state: State, call: Call) -> bool:
    """Whether the answer of a duplicate is true of a key that stands so. It changes nothing."""
    if call.says is Says.AGAIN:
        return state.phase is Phase.DONE and call.answer == state.answer and _fits(rules, state, call)
    if call.says is Says.MISMATCH:
        return rules.one_body and state.phase is not Phase.FREE and call.body != state.body
    if call.says is Says.RUNNING:
        runs = state.phase in {Phase.RUNNING, Phase.LOST, Phase.UNSEEN}
        return rules.executes and runs and _fits(rules, state, call)
    return False


def opened(rules: Rules, state: State, call: Call) -> State | None:
    """The key after a first request took it, or took over a claim that lapsed; None when it could not."""
    lapsed = rules.executes and state.phase in {Phase.LOST, Phase.UNSEEN} and call.body == state.body
    if state.phase is not Phase.FREE and not lapsed:
        return None
    if call.says is Says.UNSEEN:
        return State(Phase.UNSEEN, call.body) if state.phase is not Phase.UNSEEN else None
    if call.says is not Says.FIRST:
        return State(Phase.LOST, call.body) if state.phase is Phase.FREE else None
    if rules.executes:
        return State(Phase.RUNNING, call.body, owner=call.attempt_id)
    return State(Phase.DONE, call.body, call.answer)


def completed(state: State, call: Call) -> State | None:
    """The key after its claim's owner completed it; None when the claim is another's."""
    if state.phase is not Phase.RUNNING or state.owner != call.attempt_id:
        return None
    return replace(state, phase=Phase.DONE, answer=call.answer, owner="")


def revealed(rules: Rules, state: State, call: Call) -> State | None:
    """An unseen request's answer becomes known from its replay; None when this is none of it."""
    if state.phase is not Phase.UNSEEN or call.says is not Says.AGAIN or not _fits(rules, state, call):
        return None
    return replace(state, phase=Phase.DONE, answer=call.answer)


def _fits(rules: Rules, state: State, call: Call) -> bool:
    return not rules.one_body or call.body == state.body
