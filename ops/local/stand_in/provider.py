"""The payment provider: charges under idempotency keys, as the large providers make them.

What it does with keys is Stripe's documented behaviour (docs.stripe.com/api/idempotent_requests): the first
answer is kept and replayed, a declined one too; a key with another body is refused; a key whose first request
still runs is a conflict; and keys are forgotten after a day, from when on the same key charges again.
"""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from ops.local.stand_in.answer import Answer, BadRequest, Request, hash_of

FORGOTTEN_AFTER_SECONDS = 86_400.0
"""How long a key is remembered unless it is set otherwise: 24 hours, as Stripe promises at least."""

DECLINED = "pm_declined"
"""The payment method that is always declined."""


@dataclass
class Charge:
    """Money taken. `account` is the provider's address (`host/path`), `createdAt` seconds since the epoch."""

    id: str
    account: str
    idempotencyKey: str  # noqa: N815 (a member of the JSON)
    amount: int
    currency: str
    paymentMethod: str  # noqa: N815
    reference: str | None
    createdAt: float  # noqa: N815
    status: str = "succeeded"


@dataclass
class _Known:
    """A key that is remembered; `answer` is None while its first request runs."""

    body_hash: str
    since: float
    answer: tuple[int, Any] | None


class Provider:
    """Every account's charges and keys. Safe for threads."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._charges: list[Charge] = []
        self._keys: dict[tuple[str, str], _Known] = {}
        self.forgotten_after_seconds = FORGOTTEN_AFTER_SECONDS

    def charge(self, account: str, request: Request, working: Callable[[], object]) -> Answer:
        """Charge once for a key; `working` is run while the key is in use. Raises BadRequest."""
        body = _checked(request)
        key = request.key
        if key is None:
            raise BadRequest("the header Idempotency-Key is missing")
        known = self._claimed(account, key, hash_of(body))
        if known is not None:
            return known
        try:
            working()
        except BaseException:
            with self._lock:
                self._keys.pop((account, key), None)
            raise
        return self._done(account, key, body)

    def found(self, account: str, key: str) -> Answer:
        """The charges that were made under the key, whether it is remembered or not."""
        with self._lock:
            found = [asdict(c) for c in self._charges if (c.account, c.idempotencyKey) == (account, key)]
        return Answer(200, {"charges": found})

    def documents(self) -> list[dict[str, Any]]:
        """Every charge, oldest first."""
        with self._lock:
            return [asdict(charge) for charge in self._charges]

    def clear(self) -> None:
        """Forget charges and keys, and take back the setting."""
        with self._lock:
            self._charges.clear()
            self._keys.clear()
            self.forgotten_after_seconds = FORGOTTEN_AFTER_SECONDS

    def saved(self) -> dict[str, Any]:
        """What `restore` takes: charges, and keys whose first request is done."""
        with self._lock:
            keys = [
                [*where, asdict(known)] for where, known in self._keys.items() if known.answer is not None
            ]
            return {"charges": [asdict(charge) for charge in self._charges], "keys": keys}

    def restore(self, saved: dict[str, Any]) -> None:
        """Take over what `saved` gave."""
        with self._lock:
            self._charges = [Charge(**charge) for charge in saved["charges"]]
            for account, key, known in saved["keys"]:
                status, body = known["answer"]
                self._keys[account, key] = _Known(known["body_hash"], known["since"], (status, body))

    def _claimed(self, account: str, key: str, body_hash: str) -> Answer | None:
        """None: the key is the caller's now. Else what another request's key answers."""
        with self._lock:
            known = self._keys.get((account, key))
            if known is not None and known.answer is None:
                return Answer(409, {"error": "the key is in use by a request that still runs"})
            if known is None or self._now() - known.since >= self.forgotten_after_seconds:
                self._keys[account, key] = _Known(body_hash, self._now(), None)
                return None
            if known.body_hash != body_hash:
                return Answer(400, {"error": "the key was used with another body"})
            status, body = known.answer or (500, {})
            return Answer(status, body, {"Idempotent-Replayed": "true"})

    def _done(self, account: str, key: str, body: dict[str, Any]) -> Answer:
        with self._lock:
            known = self._keys.setdefault((account, key), _Known(hash_of(body), self._now(), None))
            if body["paymentMethod"] == DECLINED:
                known.answer = (402, {"status": "declined", "code": "card_declined"})
            else:
                charge = Charge(
                    id=f"ch_{secrets.token_hex(12)}",
                    account=account,
                    idempotencyKey=key,
                    amount=body["amount"],
                    currency=body["currency"],
                    paymentMethod=body["paymentMethod"],
                    reference=body.get("reference"),
                    createdAt=self._now(),
                )
                self._charges.append(charge)
                known.answer = (201, asdict(charge))
            return Answer(*known.answer)


def _checked(request: Request) -> dict[str, Any]:
    """The body of a charge. Raises BadRequest."""
    body = request.document()
    if not isinstance(body, dict):
        raise BadRequest("the body is not an object")
    amount, currency = body.get("amount"), body.get("currency")
    if not isinstance(amount, int) or isinstance(amount, bool) or amount < 1:
        raise BadRequest("amount: a whole number of minor units, from 1")
    if not isinstance(currency, str) or not isinstance(body.get("paymentMethod"), str):
        raise BadRequest("currency and paymentMethod: texts")
    return body
