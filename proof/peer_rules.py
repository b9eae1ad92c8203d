"""How the promises are judged: on the peer, and on Onceward where its own rules say less."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from handlers.domain.ports import TakenOver, Written
from handlers.domain.receipt import Status
from proof.peer_handler import PORT
from proof.peer_promises import Promise, broken
from proof.ports import Applied
from proof.provider import HONOURS_MS
from proof.receipts import Receipts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from handlers.domain.receipt import Receipt
    from proof.peer_records import Table, Window
    from proof.programs import Call
    from proof.provider import Charge
    from proof.receipts import Table as ReceiptTable
    from proof.scenario import Rules, Seen

_MS = 1000
_ALL = frozenset(Promise)


@dataclass(frozen=True)
class PeerRules:
    """The promises on attempts under one key (so that there is one item, and one key at the provider).

    Attributes:
        judged: which of them. probes: the actors that come when every lease is over.
    """

    judged: frozenset[Promise] = _ALL
    probes: tuple[str, ...] = ()
    judged_before: frozenset[str] = field(default=frozenset({"charge", "delete_item"}))

    def before(self, seen: Seen, actor: str, call: Call) -> Iterator[str]:
        """See `Rules`."""
        window = _open(seen)
        charges = _charges(seen, window)
        if window is None or not charges:
            return
        if call.name == "charge":
            yield from self._only(Promise.MISMATCH, other_requests(charges, actor, call))
            again = seen.now - charges[-1].made_at >= HONOURS_MS
            said = f"{actor} charges a second time inside the window" if again else ""
            yield from self._only(Promise.ONE_EFFECT, [said] if said else [])
        elif seen.ports[PORT].item(window.id) is not None:
            said = f"{actor} deletes the record although its charge was made"
            yield from self._only(Promise.REMEMBERED, [said])

    def finished(self, seen: Seen, actor: str, started_ms: int, answer: Any) -> Iterator[str]:  # noqa: ANN401
        """See `Rules`."""
        del started_ms
        table: Table = seen.ports[PORT]
        status = answer["statusCode"]
        if status == 201:
            stored = [text for window in table.windows for text in window.answers]
            if json.dumps(answer, sort_keys=True) not in stored:
                yield from self._only(Promise.TOLD, [f"{actor} was told an answer that is stored nowhere"])
        elif actor in self.probes:
            yield from self._only(Promise.NOT_STUCK, [f"{actor} came after every lease: {status}"])
        if status == 409 and not any(set(window.claimants) - {actor} for window in table.windows):
            said = f"{actor} was told that its request still runs, and nobody else ever had the key"
            yield from self._only(Promise.OWN_WRITE, [said])

    def settled(self, seen: Seen) -> Iterator[str]:
        """See `Rules`."""
        window = _open(seen)
        if window is None:
            return
        item = seen.ports[PORT].item(window.id)
        stands = None if item is None else item.get("data", {}).get("S")
        for actor, answer in seen.answers.items():
            told = json.dumps(answer, sort_keys=True)
            if told in window.answers and told != stands:
                there = "nothing" if stands is None else "another one"
                said = f"{actor} was told an answer, and a retry finds {there} inside the window"
                yield from self._only(Promise.ANSWER_STAYS, [said])

    def _only(self, promise: Promise, said: Iterable[str]) -> Iterator[str]:
        if promise in self.judged:
            yield from (broken(promise, text) for text in said)


@dataclass(frozen=True)
class OncewardRules:
    """Every rule that the searches of Onceward have, and that nothing is charged for another request."""

    own: Rules

    @property
    def judged_before(self) -> frozenset[str]:
        """See `Rules`."""
        return self.own.judged_before

    def before(self, seen: Seen, actor: str, call: Call) -> Iterator[str]:
        """See `Rules`."""
        yield from self.own.before(seen, actor, call)
        if call.name == "charge":
            yield from other_requests(seen.ports["provider"], actor, call)

    def finished(self, seen: Seen, actor: str, started_ms: int, answer: Any) -> Iterator[str]:  # noqa: ANN401
        """See `Rules`."""
        yield from self.own.finished(seen, actor, started_ms, answer)

    def settled(self, seen: Seen) -> Iterator[str]:
        """See `Rules`."""
        yield from self.own.settled(seen)


class HeldReceipts(Receipts):
    """Onceward's table, which also sees whether a claim is taken from one whose lease has not lapsed."""

    def apply(self, state: ReceiptTable, call: Call, now: int) -> Applied:
        """See `Port`."""
        applied = super().apply(state, call, now)
        if not isinstance(applied.result, Written | TakenOver):
            return applied
        receipt: Receipt = call.arguments[0]
        before = state.item((receipt.tenant_id, receipt.key))
        after = applied.state.item((receipt.tenant_id, receipt.key))
        if before is None or before.status is not Status.IN_PROGRESS or before.owner == after.owner:
            return applied
        if before.lease_until <= now:  # a lease ends at that ms; it is held before it
            return applied
        said = f"{after.owner} claims the key while {before.owner} holds it"
        return Applied(applied.state, applied.result, (*applied.broken, said))


def other_requests(charges: tuple[Charge, ...], actor: str, call: Call) -> Iterator[str]:
    """Whether the charge that is asked for was made, under its key, for another request."""
    key, asked = call.arguments[0], json.loads(call.arguments[1])
    for charge in charges:
        if charge.key == key and charge.amount != asked["amount"]:
            yield f"{actor} asks to charge {asked['amount']} under the key of a charge of {charge.amount}"


def _charges(seen: Seen, window: Window | None) -> tuple[Charge, ...]:
    """What was charged since this window was opened."""
    charges: tuple[Charge, ...] = seen.ports["provider"]
    return () if window is None else tuple(one for one in charges if one.made_at >= window.since)


def _open(seen: Seen) -> Window | None:
    """The latest window, while it is open."""
    table: Table = seen.ports[PORT]
    windows: Mapping[str, Window] = {one.id: one for one in table.windows}
    assert len(windows) <= 1, "these scenarios have one key"
    latest = next(iter(windows.values()), None)
    return latest if latest is not None and latest.until * _MS > seen.now else None
