"""Rules of composite alarms: what holds of which states, and what is no rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ops.observing.alarm_rules import RuleError, holds, names, parse

if TYPE_CHECKING:
    from ops.observing.alarm_points import State

STATES: dict[str, State] = {"a": "ALARM", "b": "OK", "c": "INSUFFICIENT_DATA", "a b": "ALARM"}
ARN = "arn:aws:cloudwatch:us-east-1:000000000000:alarm:a"


@pytest.mark.parametrize(
    ("rule", "true"),
    [
        ("ALARM(a)", True),
        ('ALARM("a")', True),
        (f'ALARM("{ARN}")', True),
        (f"ALARM({ARN})", True),
        ('ALARM("a b")', True),
        ("ALARM(b)", False),
        ("OK(b)", True),
        ("INSUFFICIENT_DATA(c)", True),
        ("NOT ALARM(a)", False),
        ("NOT NOT ALARM(a)", True),
        ("TRUE", True),
        ("FALSE", False),
        ("ALARM(a) AND OK(b)", True),
        ("ALARM(a) AND ALARM(b)", False),
        ("ALARM(b) OR ALARM(a)", True),
        # AND binds closer than OR, NOT closer than both.
        ("ALARM(a) OR ALARM(b) AND ALARM(c)", True),
        ("(ALARM(a) OR ALARM(b)) AND ALARM(c)", False),
        ("NOT ALARM(b) AND ALARM(a)", True),
        ("NOT (ALARM(b) OR ALARM(a))", False),
        ("AT_LEAST(1, ALARM, (a, b, c))", True),
        ("AT_LEAST(2, ALARM, (a, b, c))", False),
        ("AT_LEAST(2, NOT ALARM, (a, b, c))", True),
        ("AT_LEAST(50%, ALARM, (a, b))", True),
        ("AT_LEAST(51%, ALARM, (a, b))", False),
    ],
)
def test_a_rule_holds_as_cloudwatch_says(rule: str, true: bool) -> None:
    assert holds(parse(rule), STATES) is true


def test_a_rule_tells_whom_it_asks_for() -> None:
    assert names(parse(f'ALARM("{ARN}") AND (OK(b) OR NOT AT_LEAST(1, ALARM, (c)))')) == {"a", "b", "c"}


def test_an_alarm_that_is_not_there_has_no_state() -> None:
    with pytest.raises(KeyError):
        holds(parse("ALARM(nobody)"), STATES)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "ALARM",
        "ALARM(a",
        "ALARM()",
        "ALARM(a) OK(b)",
        "ALARM(a) AND",
        "(ALARM(a)",
        "XOR(a)",
        "AT_LEAST(x, ALARM, (a))",
        "AT_LEAST(1, RED, (a))",
        'ALARM("a)',
    ],
)
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(RuleError):
        parse(text)
