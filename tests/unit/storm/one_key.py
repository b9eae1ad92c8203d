"""One key as a right platform would serve it: histories to check, and every order of a few attempts.

Both know the contract in a second way, step by step with leases and completions, so that the checker's own
specification (`loadtest.sequential`), which sums up what nobody saw, is compared with something.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from loadtest.sequential import Call, Says

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from loadtest.sequential import Rules

UNHEARD = "an answer that nobody heard"


@dataclass(frozen=True)
class Key:
    """How the key stands: '' (free), running, lapsed or done."""

    stands: str = ""
    body: str = ""
    owner: str = ""
    answer: str = ""


def call(name: str, says: Says, start: float, end: float, body: str = "b", answer: str | None = None) -> Call:
    given = "A" if says in {Says.FIRST, Says.AGAIN} else ""
    return Call(name, says, body, given if answer is None else answer, start, end)


def history(dice: random.Random, rules: Rules, attempts: int, bodies: Sequence[str]) -> list[Call]:
    """What the clients of a right platform hear, each attempt at random instants of its own."""
    served = _Served(dice, rules)
    sent = [(dice.choice(bodies), dice.uniform(0.0, 100.0)) for _ in range(attempts)]
    times = [sorted(dice.uniform(start, start + 40.0) for _ in range(3)) for _, start in sent]
    moments = [(claim, number, "claim") for number, (claim, _, _) in enumerate(times)]
    moments += [(complete, number, "complete") for number, (_, complete, _) in enumerate(times)]
    for number, (claim, complete, end) in enumerate(times):
        if end - sent[number][1] >= rules.least_lease_ms and dice.random() < 0.5:
            moments.append((dice.uniform(claim, complete), number, "lapse"))
    for _, number, step in sorted(moments):
        body, name = sent[number][0], f"attempt-{number}"
        if step == "claim":
            served.claim(name, body)
        elif step == "lapse":
            served.lapse(name)
        else:
            served.complete(name, body)
    calls = []
    for number, (body, start) in enumerate(sent):
        says, answer = served.told[f"attempt-{number}"]
        # Each client has a clock of its own.
        off = dice.uniform(-0.5, 0.5) * rules.tolerance_ms
        heard = Call(f"attempt-{number}", says, body, answer, start + off, times[number][2] + off)
        # Some clients hang up.
        calls.append(replace(heard, says=Says.UNSEEN, answer="") if dice.random() < 0.2 else heard)
    return calls


class _Served:
    """A key as it is served, and what each attempt is told."""

    def __init__(self, dice: random.Random, rules: Rules) -> None:
        self._dice, self._rules = dice, rules
        self._key = Key()
        self.told: dict[str, tuple[Says, str]] = {}

    def claim(self, name: str, body: str) -> None:
        key = self._key
        if not key.stands or (key.stands == "lapsed" and key.body == body):
            self._key = Key("running", body, name)
            if not self._rules.executes:
                self._finish(name, body)
        elif self._rules.one_body and key.body != body:
            self.told[name] = (Says.MISMATCH, "")
        else:
            self.told[name] = self._stands()

    def lapse(self, name: str) -> None:
        """Its owner's lease is over before it is done."""
        if (self._key.stands, self._key.owner) == ("running", name):
            self._key = replace(self._key, stands="lapsed")

    def complete(self, name: str, body: str) -> None:
        """Its owner finishes, or crashes; who lost the claim to another is told how that one stands."""
        if self._key.owner != name:
            self.told.setdefault(name, self._stands())
        elif self._key.stands in {"running", "lapsed"}:
            if self._dice.random() < 0.3:
                self._key, self.told[name] = Key("lapsed", body), (Says.UNSEEN, "")
            else:
                self._finish(name, body)

    def _stands(self) -> tuple[Says, str]:
        return (Says.AGAIN, self._key.answer) if self._key.stands == "done" else (Says.RUNNING, "")

    def _finish(self, name: str, body: str) -> None:
        self._key = Key("done", body, name, f"of {name}")
        self.told[name] = (Says.FIRST, f"of {name}")


def has_order(rules: Rules, calls: Sequence[Call]) -> bool:
    """Whether any order at all explains the answers, by trying them all. For a handful of attempts."""
    answers = {one.answer for one in calls if one.says in {Says.FIRST, Says.AGAIN}} | {UNHEARD}

    def tried(key: Key, ordered: frozenset[str], claimed: frozenset[str]) -> bool:
        left = [one for one in calls if one.attempt_id not in ordered and one.says is not Says.UNSEEN]
        if not left:
            return key.stands != "running" or key.owner not in {
                c.attempt_id for c in calls if c.says is Says.FIRST
            }
        by = min(one.end_ms for one in left) + rules.tolerance_ms
        for one in calls:
            if one.attempt_id in ordered or one.start_ms > by:
                continue
            has_claimed = one.attempt_id in claimed
            steps = [*_steps(rules, key, one, answers, claimed=has_claimed)]
            if one.says is Says.RUNNING and not explained(rules, calls, one):
                steps.clear()
            if rules.may_have_lost(one) and explained(rules, calls, one):
                steps += _losing(key, one, claimed=has_claimed)
            for after, done in steps:
                names = frozenset({one.attempt_id})
                if tried(after, ordered | names if done else ordered, claimed if done else claimed | names):
                    return True
        return False

    return tried(Key(), frozenset(), frozenset())


def explained(rules: Rules, calls: Sequence[Call], one: Call, row: frozenset[str] = frozenset()) -> bool:
    """Whether another attempt may have held the claim meanwhile, or one that lost it to one that may...

    `row`: the names of those that lost it so far.
    """
    row |= {one.attempt_id}
    for other in calls:
        if other.attempt_id in row or other.body != one.body:
            continue
        until = {Says.FIRST: other.end_ms, Says.UNSEEN: other.start_ms + rules.longest_claim_ms}.get(
            other.says
        )
        if until is None:
            if not rules.may_have_lost(other) or not explained(rules, calls, other, row):
                continue
            until = other.end_ms
        if other.start_ms - rules.tolerance_ms <= one.end_ms and one.start_ms <= until + rules.tolerance_ms:
            return True
    return False


def _losing(key: Key, one: Call, *, claimed: bool) -> Iterator[tuple[Key, bool]]:
    """One that claims the key and loses its lease before it is told anything."""
    if not claimed and (not key.stands or (key.stands == "lapsed" and key.body == one.body)):
        yield Key("running", one.body, one.attempt_id), False
    if claimed and (key.stands, key.owner) == ("running", one.attempt_id):
        yield Key("lapsed", one.body), False


def _steps(
    rules: Rules, key: Key, one: Call, answers: set[str], *, claimed: bool
) -> Iterator[tuple[Key, bool]]:
    """What the key may be after one step of an attempt, and whether the attempt is over then."""
    if one.says in {Says.FIRST, Says.UNSEEN}:
        yield from _effects(rules, key, one, answers, claimed=claimed)
        return
    other = rules.one_body and key.body != one.body
    true = {
        Says.MISMATCH: bool(key.stands) and other,
        Says.RUNNING: rules.executes and key.stands == "running" and not other,
        Says.AGAIN: key.stands == "done" and not other and key.answer == one.answer,
    }
    if true[one.says]:
        yield key, True


def _effects(
    rules: Rules, key: Key, one: Call, answers: set[str], *, claimed: bool
) -> Iterator[tuple[Key, bool]]:
    said = {one.answer} if one.says is Says.FIRST else answers
    done = [(Key("done", one.body, answer=answer), True) for answer in sorted(said)]
    if claimed:
        if (key.stands, key.owner) == ("running", one.attempt_id):
            yield from done
            if one.says is Says.UNSEEN:
                yield Key("lapsed", one.body), True
    elif not key.stands or (rules.executes and key.stands == "lapsed" and key.body == one.body):
        yield from [(Key("running", one.body, one.attempt_id), False)] if rules.executes else done


def mutated(dice: random.Random, calls: Sequence[Call]) -> list[Call]:
    """One thing of a history is changed: what was heard, whose body it was, or when."""
    at = dice.randrange(len(calls))
    one, other = calls[at], dice.choice(calls)
    changes = [
        replace(
            one,
            says=dice.choice([*Says]),
            answer=dice.choice(["", "of attempt-0", "of attempt-1", other.answer]),
        ),
        replace(one, answer=other.answer),
        replace(one, body=other.body),
        replace(one, start_ms=one.start_ms + 200.0, end_ms=one.end_ms + 200.0),
        replace(one, start_ms=one.start_ms - 200.0, end_ms=one.end_ms - 200.0),
        replace(one, start_ms=other.start_ms, end_ms=other.end_ms),
        replace(one, end_ms=one.start_ms),
    ]
    changed = [*calls[:at], dice.choice(changes), *calls[at + 1 :]]
    if dice.random() < 0.2:
        changed.append(replace(other, attempt_id=f"attempt-again-{len(calls)}"))
    return changed
