"""How promising a lead is: a rule-based heuristic, documented here and replaceable as one module.

Each rule that holds adds its points; the sum, capped at 100, is the score. From 60 a lead is ``hot``, from 30
``warm``, below ``cold``. A person should be able to work the score out by hand from the lead and this table:

| factor | points | holds when |
|---|---|---|
| work_email | 20 | the email's domain is not one of the big free providers |
| phone | 15 | a phone number was left |
| company | 15 | a company was named |
| decision_maker | 15 | the job title says so (head, director, chief, owner, founder, vp, ceo, cto, ...) |
| budget | 20 | a budget of 10,000 or more; 10 points for any smaller one above zero |
| detailed_message | 10 | the message has 80 characters or more |
| referral | 5 | the source is a referral or a partner |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handlers.domain.json_text import JsonValue

MAX_SCORE = 100
HOT_FROM = 60
WARM_FROM = 30

# The providers behind most private mailboxes; an address there says nothing of a company.
_FREE_PROVIDERS = frozenset(
    {
        "aol.com",
        "gmail.com",
        "gmx.de",
        "gmx.net",
        "hotmail.com",
        "icloud.com",
        "live.com",
        "mail.com",
        "outlook.com",
        "proton.me",
        "protonmail.com",
        "yahoo.com",
        "yandex.com",
    }
)
_DECISION_MAKER = re.compile(
    r"\b(head|director|chief|owner|founder|co-?founder|president|vp|partner|c[efimot]o)\b", re.IGNORECASE
)
# A lead that names this much has a project, not a question.
_LARGE_BUDGET = 10_000
# About two sentences.
_DETAILED_MESSAGE_CHARACTERS = 80
_REFERRALS = frozenset({"referral", "partner"})


def score(lead: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Score a lead: `{"score": 0..100, "tier": "hot"|"warm"|"cold", "factors": {name: points}}`."""
    factors = {name: points for name, points in _points(lead).items() if points}
    total = min(MAX_SCORE, sum(factors.values()))
    tier = "hot" if total >= HOT_FROM else "warm" if total >= WARM_FROM else "cold"
    return {"score": total, "tier": tier, "factors": dict(factors)}


def _points(lead: Mapping[str, JsonValue]) -> dict[str, int]:
    return {
        "work_email": 20 * _has_work_email(_text(lead, "email")),
        "phone": 15 * bool(_text(lead, "phone")),
        "company": 15 * bool(_text(lead, "company")),
        "decision_maker": 15 * bool(_DECISION_MAKER.search(_text(lead, "jobTitle"))),
        "budget": _budget_points(lead.get("budget")),
        "detailed_message": 10 * (len(_text(lead, "message")) >= _DETAILED_MESSAGE_CHARACTERS),
        "referral": 5 * (_text(lead, "source").lower() in _REFERRALS),
    }


def _has_work_email(email: str) -> bool:
    _, _, domain = email.rpartition("@")
    return bool(domain) and domain.lower() not in _FREE_PROVIDERS


def _budget_points(budget: JsonValue) -> int:
    if isinstance(budget, bool) or not isinstance(budget, int | float) or budget <= 0:
        return 0
    return 20 if budget >= _LARGE_BUDGET else 10


def _text(lead: Mapping[str, JsonValue], name: str) -> str:
    value = lead.get(name)
    return value.strip() if isinstance(value, str) else ""
