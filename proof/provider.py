"""A payment provider under the scheduler: it honours a key for a day, then it forgets it and charges anew."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from handlers.domain.outbound import Answer, AnswerLost, NotSent
from proof.ports import Applied
from proof.programs import Raised

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from proof.programs import Ask, Call

HONOURS_MS = 86_400_000
"""How long it knows a key: a day, as the large providers promise at least."""
SETTLE_MS = 600_000
"""After that, how long a charge may still be on its way, and not in its list (ADR of the look-up)."""


@dataclass(frozen=True)
class Charge:
    """Money taken. `made_at`: ms since the epoch; `made_by`: the attempt's name, if told."""

    key: str
    id: str
    amount: int
    currency: str
    made_at: int
    made_by: str = ""


class AskingProvider:
    """`Outbound` for the program: each call of the provider is one that the scheduler decides on."""

    def __init__(self, ask: Ask, attempt: str = "") -> None:
        self._ask, self._attempt = ask, attempt

    def call(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, *, timeout_seconds: float
    ) -> Answer:
        """See `Outbound`."""
        assert timeout_seconds > 0
        asked = url.rpartition("idempotencyKey=")[2]
        answer: Answer = (
            self._ask("provider", "charge", headers["Idempotency-Key"], body.decode(), self._attempt)
            if method == "POST"
            else self._ask("provider", "look up", asked)
        )
        return answer


class Provider:
    """The port; its state is the charges, oldest first."""

    name = "provider"
    resends = False  # it is no AWS service: nobody sends again by himself

    def __init__(self, *, declines: bool = False) -> None:
        """`declines`: every charge, which it then never makes."""
        self._declines = declines

    def initial(self) -> tuple[Charge, ...]:
        """See `Port`."""
        return ()

    def apply(self, state: tuple[Charge, ...], call: Call, now: int) -> Applied:
        """See `Port`."""
        key = call.arguments[0]
        if call.name == "look up":
            found = [_document(charge) for charge in state if charge.key == key]
            return Applied(state, _answer(200, {"charges": found}))
        for charge in state:
            if charge.key == key and now - charge.made_at < HONOURS_MS:
                return Applied(state, _answer(201, _document(charge)))
        if self._declines:
            return Applied(state, _answer(402, {"status": "declined"}))
        body = json.loads(call.arguments[1])
        charge = Charge(
            key, f"ch_{len(state) + 1}", body["amount"], body["currency"], now, *call.arguments[2:]
        )
        return Applied((*state, charge), _answer(201, _document(charge)))

    def unreached(self, call: Call) -> Raised:
        """See `Port`."""
        del call
        return Raised(NotSent, ("the provider: no connection",))

    def unanswered(self, call: Call) -> Raised:
        """See `Port`."""
        del call
        return Raised(AnswerLost, ("the provider: no answer",))

    def instants(self, state: tuple[Charge, ...]) -> Iterable[int]:
        """See `Port`. The last ms in which it knows a key, and the first in which it does not."""
        for charge in state:
            yield from (charge.made_at + HONOURS_MS - 1, charge.made_at + HONOURS_MS)

    def lapses(self, state: Any, now: int) -> Iterable[tuple[str, Any, tuple[str, ...]]]:  # noqa: ANN401
        """See `Port`. Nothing goes by time alone."""
        del state, now
        return ()


def _document(charge: Charge) -> dict[str, Any]:
    return {
        "id": charge.id,
        "status": "succeeded",
        "amount": charge.amount,
        "currency": charge.currency,
        "idempotencyKey": charge.key,
        "createdAt": charge.made_at / 1000,
    }


def _answer(status: int, document: dict[str, Any]) -> Answer:
    return Answer(status, {}, json.dumps(document).encode())
