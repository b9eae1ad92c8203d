"""The rule of a composite alarm: read, and asked whether it holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from ops.observing.alarm_definitions import named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ops.observing.alarm_points import State

_TOKEN: Final = re.compile(r'\s*(?:([(),])|"((?:[^"\\]|\\.)*)"|([^\s(),"]+))')
_STATES: Final = ("ALARM", "OK", "INSUFFICIENT_DATA")
_COUNT: Final = re.compile(r"(\d+)(%?)")


class RuleError(ValueError):
    """The text is no rule."""


@dataclass(frozen=True)
class _Is:
    state: str
    alarm: str


@dataclass(frozen=True)
class _Constant:
    value: bool


@dataclass(frozen=True)
class _Not:
    operand: Rule


@dataclass(frozen=True)
class _Joined:
    word: Literal["AND", "OR"]
    operands: tuple[Rule, ...]


@dataclass(frozen=True)
class _AtLeast:
    count: int
    percent: bool
    operands: tuple[Rule, ...]


Rule: TypeAlias = _Is | _Constant | _Not | _Joined | _AtLeast


def holds(rule: Rule, states: Mapping[str, State]) -> bool:
    """Whether the rule is true of the alarms' states, by name. Raises KeyError for an alarm without one."""
    match rule:
        case _Is(state, alarm):
            return states[alarm] == state
        case _Constant(value):
            return value
        case _Not(operand):
            return not holds(operand, states)
        case _Joined(word, operands):
            truths = [holds(each, states) for each in operands]
            return all(truths) if word == "AND" else any(truths)
        case _AtLeast(count, percent, operands):
            true = sum(holds(each, states) for each in operands)
            return true * 100 >= count * len(operands) if percent else true >= count


def names(rule: Rule) -> frozenset[str]:
    """The alarms that it asks for."""
    match rule:
        case _Is(_, alarm):
            return frozenset({alarm})
        case _Constant():
            return frozenset()
        case _Not(operand):
            return names(operand)
        case _Joined(_, operands) | _AtLeast(_, _, operands):
            return frozenset(name for each in operands for name in names(each))


def parse(text: str) -> Rule:
    """Read an `AlarmRule` (CloudWatch's API reference, PutCompositeAlarm). Raises RuleError."""
    reader = _Reader(list(_tokens(text)))
    rule = reader.either()
    if reader.word is not None:
        raise RuleError(f"{reader.word!r} follows a rule")
    return rule


def _tokens(text: str) -> Iterator[str]:
    at, text = 0, text.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise RuleError(f"no rule at {text[at : at + 20]!r}")
        at = found.end()
        mark, quoted, plain = found.groups()
        yield mark or plain or re.sub(r"\\(.)", r"\1", quoted)


class _Reader:
    """NOT binds closest, then AND, then OR."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def word(self) -> str | None:
        """The next token; None at the end."""
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def either(self) -> Rule:
        """A rule as far as it goes."""
        return self._joined("OR", lambda: self._joined("AND", self._operand))

    def _joined(self, word: Literal["AND", "OR"], read: Callable[[], Rule]) -> Rule:
        operands = [read()]
        while self.word == word:
            self._at += 1
            operands.append(read())
        return operands[0] if len(operands) == 1 else _Joined(word, tuple(operands))

    def _operand(self) -> Rule:
        word = self._next()
        if word == "NOT":
            return _Not(self._operand())
        if word == "(":
            inner = self.either()
            self._take(")")
            return inner
        if word in ("TRUE", "FALSE"):
            return _Constant(word == "TRUE")
        if word == "AT_LEAST":
            return self._at_least()
        if word in _STATES:
            self._take("(")
            alarm = self._next()
            self._take(")")
            return _Is(word, named(alarm))
        raise RuleError(f"{word!r} begins no rule")

    def _at_least(self) -> Rule:
        """`AT_LEAST(2, ALARM, (a, b, c))`; `50%` of them; `NOT ALARM`."""
        self._take("(")
        count = _COUNT.fullmatch(self._next())
        if count is None:
            raise RuleError("AT_LEAST begins with a number")
        self._take(",")
        negated = self.word == "NOT"
        self._at += negated
        state = self._next()
        if state not in _STATES:
            raise RuleError(f"{state!r} is no state")
        self._take(",")
        self._take("(")
        asked: list[Rule] = [_Is(state, named(self._next()))]
        while self.word == ",":
            self._at += 1
            asked.append(_Is(state, named(self._next())))
        self._take(")")
        self._take(")")
        operands = [_Not(each) for each in asked] if negated else asked
        return _AtLeast(int(count[1]), bool(count[2]), tuple(operands))

    def _next(self) -> str:
        word = self.word
        if word is None:
            raise RuleError("the rule ends too soon")
        self._at += 1
        return word

    def _take(self, expected: str) -> None:
        found = self._next()
        if found != expected:
            raise RuleError(f"{found!r} where {expected!r} belongs")
