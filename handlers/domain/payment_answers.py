"""What a payment provider's answers mean. Pure: whatever cannot be read as one of them is unknown."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from handlers.domain.errors import Declined, EffectFailed, EffectUnknown, RequestInProgress

if TYPE_CHECKING:
    from handlers.domain.outbound import Answer

# "In use" at the provider: its first request is under way, which takes a moment.
_IN_USE_RETRY_SECONDS: Final = 2
# As long as Stripe lets its ids become (docs.stripe.com/upgrades: store them in 255 characters), and nothing
# that could not be logged, stored or sent on. Anything else is no id that a person could ask for later.
_CHARGE_ID: Final = re.compile(r"[!-~]{1,255}")
# What a provider calls a charge that did not come about, and will not.
_NOT_MADE: Final = ("declined", "failed")

_OK, _REDIRECT, _CLIENT_ERROR, _SERVER_ERROR = 200, 300, 400, 500
_PAYMENT_REQUIRED, _REQUEST_TIMEOUT, _CONFLICT, _TOO_MANY_REQUESTS = 402, 408, 409, 429


@dataclass(frozen=True)
class Expected:
    """The charge that is looked for: the downstream key, and what the request asked for."""

    key: str
    amount: object
    currency: object


@dataclass(frozen=True)
class Found:
    """What a look-up brought: the charge that was made first, and how many there are under the key."""

    charge_id: str
    count: int


def charged(answer: Answer) -> str:
    """The id of the charge in the answer to a POST.

    Raises:
        Declined: a final no.
        RequestInProgress: the key is in use there.
        EffectFailed: not charged; `of_the_key` where the provider says so in as many words.
        EffectUnknown: any other answer.
    """
    document = parsed(answer.body)
    found = charge_id(document)
    if _OK <= answer.status < _REDIRECT and found is not None:
        return found
    if answer.status == _PAYMENT_REQUIRED:
        raise Declined("the payment provider declined the payment")
    if answer.status == _CONFLICT:
        raise RequestInProgress(_IN_USE_RETRY_SECONDS)
    reason = f"not charged: the provider answered {answer.status}"
    if _member(document, "charged") is False:
        raise EffectFailed(reason, of_the_key=True, may_pass=answer.status >= _SERVER_ERROR)
    if _CLIENT_ERROR <= answer.status < _SERVER_ERROR and answer.status != _REQUEST_TIMEOUT:
        raise EffectFailed(reason, may_pass=answer.status == _TOO_MANY_REQUESTS)
    raise EffectUnknown(f"charged or not: the provider answered {answer.status}")


def looked_up(answer: Answer, expected: Expected) -> Found | None:
    """The charge in the answer to a look-up; None when the provider says that there is none.

    Raises:
        EffectUnknown: it says neither. A charge that is pending, that we cannot read, or that is of another
            key or another sum is no "none": somebody may have been charged.
    """
    charges = _member(parsed(answer.body), "charges")
    if not _OK <= answer.status < _REDIRECT or not isinstance(charges, list):
        raise EffectUnknown(f"not looked up: the provider answered {answer.status}")
    made = [charge for charge in charges if charge_id(charge) is not None and _is(charge, expected)]
    first = charge_id(_first_made(made))
    if first is not None:
        return Found(first, len(made))
    if not all(_member(each, "status") in _NOT_MADE and _is(each, expected) for each in charges):
        raise EffectUnknown("not looked up: the provider's list holds what is not this charge, or not yet")
    return None


def charge_id(charge: object) -> str | None:
    """The id of a charge that succeeded, else None."""
    found = _member(charge, "id")
    if _member(charge, "status") != "succeeded" or not isinstance(found, str):
        return None
    return found if _CHARGE_ID.fullmatch(found) else None


def parsed(text: str | bytes | None) -> object:
    """The JSON value of a text; None when it is none."""
    try:
        return json.loads(text or "null")
    except (ValueError, RecursionError):
        return None


def _is(charge: object, expected: Expected) -> bool:
    """Whether the provider says that it is this request's: the key must be there, a sum must be right."""
    if _member(charge, "idempotencyKey") != expected.key:
        return False
    amount, currency = _member(charge, "amount"), _member(charge, "currency")
    # Providers spell currencies in either case.
    same_currency = currency is None or str(currency).upper() == str(expected.currency).upper()
    return (amount is None or amount == expected.amount) and same_currency


def _first_made(charges: list[object]) -> object:
    """The oldest by its own word, else the first of the list; None of none."""
    times = [_member(charge, "createdAt") for charge in charges]
    numbers = [time for time in times if isinstance(time, int | float) and math.isfinite(time)]
    if charges and len(numbers) == len(charges):
        return charges[numbers.index(min(numbers))]
    return charges[0] if charges else None


def _member(document: object, name: str) -> object:
    return document.get(name) if isinstance(document, dict) else None
