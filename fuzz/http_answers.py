"""What every answer of every HTTP function must be, whatever was sent."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from fuzz.target import require

if TYPE_CHECKING:
    from collections.abc import Iterable

    from handlers.domain.receipt import Receipt

# RFC 9110 section 5.5: a field's value has no line break and no NUL, or it would be another answer's.
_HEADER_BREAKS = re.compile(r"[\r\n\x00]")
_TOKEN = re.compile(r"[A-Za-z0-9-]+")


def check_answer(answer: dict[str, Any], *, outage: bool = False) -> None:
    """It is one that Lambda can send and the gateway hand on, and not our fault unless something is down."""
    # As Lambda's runtime client writes it: half of a surrogate pair would be a 502 of the gateway.
    json.dumps(answer, ensure_ascii=False, allow_nan=False).encode()
    require(set(answer) == {"statusCode", "headers", "body"}, "an answer of another shape")
    status = answer["statusCode"]
    require(isinstance(status, int) and 200 <= status < 600, "no status")
    require(status < 500 or outage, f"answered {status} to what a client can send")
    for name, value in answer["headers"].items():
        require(_TOKEN.fullmatch(name), "no header name")
        require(isinstance(value, str) and not _HEADER_BREAKS.search(value), f"header {name} is broken")
    require(answer["headers"].get("X-Correlation-Id"), "no correlation id")
    require(isinstance(answer["body"], str), "no body")
    if status >= 400:
        _check_problem(answer)


def _check_problem(answer: dict[str, Any]) -> None:
    require(answer["headers"]["Content-Type"] == "application/problem+json", "an error that is no problem")
    problem = json.loads(answer["body"])
    require(problem["status"] == answer["statusCode"], "a problem of another status")
    require(
        problem["type"].startswith("urn:onceward:problem:") and problem["detail"], "a problem without type"
    )
    require("Traceback" not in answer["body"], "an answer that tells of our code")


def check_nothing_half_made(answer: dict[str, Any], again: dict[str, Any], kept: Iterable[Receipt]) -> None:
    """Accepted: one whole receipt, and the same answer again. Refused: the same answer, and nothing kept."""
    receipts = list(kept)
    if answer["statusCode"] in (201, 202):
        require(len(receipts) == 1, "accepted, and not one receipt")
        (receipt,) = receipts
        require(receipt.response and receipt.outbox, "accepted, and half a receipt")
        require(
            (again["statusCode"], again["body"]) == (answer["statusCode"], answer["body"]), "another answer"
        )
        require(again["headers"].get("Idempotent-Replayed") == "true", "a duplicate took effect")
    else:
        require(all(receipt.outbox is None for receipt in receipts), "refused, and something follows from it")
        require(again["statusCode"] == answer["statusCode"], "refused otherwise the second time")
