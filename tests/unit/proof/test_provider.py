"""The scheduler's provider and the stand-in that serves a running platform answer the same calls alike."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handlers.domain import payment_answers
from handlers.domain.outbound import Answer
from ops.local.stand_in.answer import Request
from ops.local.stand_in.provider import Provider as StandIn
from proof.programs import Call
from proof.provider import HONOURS_MS, Provider
from tests.builders import NOW_MS

BODY = json.dumps({"amount": 1999, "currency": "EUR", "paymentMethod": "pm_card"})
# What is asked of a provider, and when, in ms since the first call.
SCHEDULE = (
    ("look up", "k1", 0),
    ("charge", "k1", 0),
    ("charge", "k1", 1),
    ("look up", "k1", 1),
    ("charge", "k2", 2),
    ("charge", "k1", HONOURS_MS - 1),
    ("charge", "k1", HONOURS_MS),
    ("look up", "k1", HONOURS_MS),
    ("charge", "k1", HONOURS_MS + 1),
    ("charge", "k2", HONOURS_MS + 1),
    ("look up", "k2", 2 * HONOURS_MS),
    ("charge", "k2", 2 * HONOURS_MS + 2),
    ("look up", "k2", 2 * HONOURS_MS + 2),
)


def _by_the_port() -> list[Answer]:
    port = Provider()
    state, answers = port.initial(), []
    for name, key, after_ms in SCHEDULE:
        arguments = (key, BODY) if name == "charge" else (key,)
        applied = port.apply(state, Call("provider", name, arguments), NOW_MS + after_ms)
        state = applied.state
        answers.append(applied.result)
    return answers


def _by_the_stand_in() -> list[Answer]:
    now = [0.0]
    provider, answers = StandIn(lambda: now[0]), []
    for name, key, after_ms in SCHEDULE:
        now[0] = (NOW_MS + after_ms) / 1000
        if name == "charge":
            headers = {"idempotency-key": key}
            request = Request("POST", "pay.example", "/v1/charges", headers, BODY.encode())
            said = provider.charge("pay.example/v1", request, lambda: None)
        else:
            said = provider.found("pay.example/v1", key)
        answers.append(Answer(said.status, {}, json.dumps(said.body).encode()))
    return answers


def _understood(answers: list[Answer]) -> list[Any]:
    """What the platform makes of each answer, charges by the order in which they are first seen."""
    names: dict[str, int] = {}

    def number(charge_id: str) -> int:
        return names.setdefault(charge_id, len(names))

    understood: list[Any] = []
    for (name, key, _), answer in zip(SCHEDULE, answers, strict=True):
        if name == "charge":
            understood.append((answer.status, number(payment_answers.charged(answer))))
        else:
            expected = payment_answers.Expected(key, 1999, "EUR")
            found = payment_answers.looked_up(answer, expected)
            understood.append(None if found is None else (found.count, number(found.charge_id)))
    return understood


def test_both_answer_the_same_calls_alike() -> None:
    by_the_port, by_the_stand_in = _understood(_by_the_port()), _understood(_by_the_stand_in())
    assert by_the_port == by_the_stand_in
    # Charged, replayed, remembered to the last ms, and charged anew after it.
    assert [one for one in by_the_port if one is not None] == [
        (201, 0),
        (201, 0),
        (1, 0),
        (201, 1),
        (201, 0),
        (201, 2),
        (2, 0),
        (201, 2),
        (201, 1),
        (1, 1),
        (201, 3),
        (2, 1),
    ]


@pytest.mark.parametrize("name", ["charge", "look up"])
def test_a_lost_call_is_heard_as_the_platform_s_client_says_it(name: str) -> None:
    port = Provider()
    call = Call("provider", name, ("k1", BODY))
    assert port.unreached(call).kind.__name__ == "NotSent"
    assert port.unanswered(call).kind.__name__ == "AnswerLost"
