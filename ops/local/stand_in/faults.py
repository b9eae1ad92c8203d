"""Faults that a test or a storm asks the stand-in for."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal, cast, get_args

from ops.local.stand_in.answer import Answer, BadRequest, Request

Kind = Literal["latency", "status", "reset", "lose-answer", "hang"]
"""What happens to a call that matches.

- latency: it takes `value` milliseconds longer; a payment's key is in use for that time.
- status: it is answered with `value` (a status, or `{"status": 503, "body": {...}}`) and does nothing.
- reset: its connection is reset before anything is done.
- lose-answer: it is done, and its connection is cut instead of an answer.
- hang: nothing is done, and no answer comes for `value` milliseconds (HANG_MS by default); then it is cut.
"""

HANG_MS = 120_000.0
"""Longer than any caller here waits: a function of ours lives for 30 s at most."""

_FINAL_STATUSES = (200, 599)
"""The first and last status of an answer that ends a call (RFC 9110, section 15)."""

_VALUES: dict[Kind, str] = {
    "latency": "milliseconds from 0; a call takes so much longer",
    "status": f"a status from {_FINAL_STATUSES[0]} to {_FINAL_STATUSES[1]} (a lower one ends no call), "
    'or {"status": 503, "body": {...}, "headers": {...}}',
    "reset": "leave it out; a reset has none",
    "lose-answer": "leave it out; a lost answer has none",
    "hang": f"milliseconds from 0; without it {HANG_MS:.0f}",
}
"""What the value of each kind has to be, for whoever sent another."""

_MATCHES = ("host", "path", "method", "bodyContains")


@dataclass
class Fault:
    """One rule. `path` is a shell pattern (`/v1/*`); `times` None is without end; `every` third call, say."""

    kind: Kind
    value: Any
    match: Mapping[str, str]
    times: int | None
    every: int
    seen: int = 0

    def applies_to(self, request: Request) -> bool:
        """Whether the call is one of those that the rule names."""
        wanted = self.match
        return (
            wanted.get("host", request.host) == request.host
            and fnmatchcase(request.target, wanted.get("path", "*"))
            and wanted.get("method", request.method).upper() == request.method
            and wanted.get("bodyContains", "").encode() in request.body
        )

    def seconds(self) -> float:
        """`value`, which is in milliseconds, in seconds."""
        return (HANG_MS if self.value is None else float(self.value)) / 1000

    def answer(self) -> Answer:
        """`value` as an answer."""
        if isinstance(self.value, int):
            return Answer(self.value, {"error": "a fault that was asked for"})
        return Answer(self.value["status"], self.value.get("body", {}), self.value.get("headers", {}))

    def document(self) -> dict[str, Any]:
        """As it was put, with the times that are left."""
        return {
            "match": dict(self.match),
            "fault": self.kind,
            "value": self.value,
            "times": self.times,
            "every": self.every,
        }


class Faults:
    """The rules in force; the first that matches and has times left is taken. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rules: list[Fault] = []

    def put(self, document: Any) -> None:  # noqa: ANN401 (any JSON value)
        """Replace all rules. Raises BadRequest for a list that is not one of rules; nothing changes then."""
        if not isinstance(document, list):
            raise BadRequest("faults are a list")
        rules = [_parsed(each) for each in document]
        with self._lock:
            self._rules = rules

    def take(self, request: Request) -> Fault | None:
        """The fault that this call meets, counted as used."""
        with self._lock:
            for rule in self._rules:
                if rule.times == 0 or not rule.applies_to(request):
                    continue
                rule.seen += 1
                if rule.seen % rule.every:
                    continue
                if rule.times is not None:
                    rule.times -= 1
                return rule
        return None

    def documents(self) -> list[dict[str, Any]]:
        """The rules, with the times that each has left."""
        with self._lock:
            return [rule.document() for rule in self._rules]


def _parsed(document: Any) -> Fault:  # noqa: ANN401 (any JSON value)
    unknown = (
        set(document) - {"match", "fault", "value", "times", "every"} if isinstance(document, dict) else {""}
    )
    if unknown:
        raise BadRequest("a fault has the members match, fault, value, times and every")
    kind, value, match = document.get("fault"), document.get("value"), document.get("match", {})
    if kind not in get_args(Kind):
        raise BadRequest(f"fault: one of {', '.join(get_args(Kind))}")
    if not isinstance(match, dict) or not all(n in _MATCHES and isinstance(v, str) for n, v in match.items()):
        raise BadRequest(f"match: texts, named {', '.join(_MATCHES)}")
    if not _fits(kind, value):
        raise BadRequest(f"value: {_VALUES[kind]}")
    times, every = document.get("times"), document.get("every", 1)
    if not (times is None or _count(times)):
        raise BadRequest(
            "times: a whole number from 1 (a rule for no call is none: leave it out), or null: no end"
        )
    if not _count(every):
        raise BadRequest("every: a whole number from 1; 3 is every third call that matches")
    return Fault(cast("Kind", kind), value, match, times, every)


def _fits(kind: str, value: Any) -> bool:  # noqa: ANN401 (any JSON value)
    if kind == "status":
        status = value.get("status") if isinstance(value, dict) else value
        return isinstance(status, int) and _FINAL_STATUSES[0] <= status <= _FINAL_STATUSES[1]
    if kind in ("latency", "hang"):
        given = value is not None or kind == "latency"
        return not given or (isinstance(value, int | float) and not isinstance(value, bool) and value >= 0)
    return value is None


def _count(value: Any) -> bool:  # noqa: ANN401 (any JSON value)
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
