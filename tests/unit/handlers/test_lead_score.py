from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from handlers.domain.lead_score import score

if TYPE_CHECKING:
    from handlers.domain.json_text import JsonValue

EVERYTHING: dict[str, JsonValue] = {
    "email": "ada@analytical.example",
    "phone": "+44 20 7946 0000",
    "company": "Analytical Engines",
    "jobTitle": "Head of Engines",
    "budget": 10_000,
    "message": "m" * 80,
    "source": "Referral",
}


@pytest.mark.parametrize(
    ("lead", "points", "tier"),
    [
        ({}, 0, "cold"),
        ({"email": "a@gmail.com"}, 0, "cold"),
        ({"email": "a@GMAIL.com", "budget": 9_999}, 10, "cold"),
        ({"email": "a@acme.example", "budget": 1}, 30, "warm"),
        ({"phone": "12345", "company": "A"}, 30, "warm"),
        ({"phone": " ", "company": ""}, 0, "cold"),
        ({"email": "a@acme.example", "budget": 10_000, "jobTitle": "CTO"}, 55, "warm"),
        ({"email": "a@acme.example", "budget": 10_000, "jobTitle": "CTO", "source": "partner"}, 60, "hot"),
        ({"jobTitle": "Headhunter"}, 0, "cold"),
        ({"budget": True}, 0, "cold"),
        (EVERYTHING, 100, "hot"),
    ],
)
def test_a_score_can_be_worked_out_by_hand(lead: dict[str, JsonValue], points: int, tier: str) -> None:
    scored = score(lead)
    assert (scored["score"], scored["tier"]) == (points, tier)


def test_the_factors_add_up_to_the_score() -> None:
    factors = score(EVERYTHING)["factors"]
    assert isinstance(factors, dict)
    assert sum(value for value in factors.values() if isinstance(value, int)) == 100
