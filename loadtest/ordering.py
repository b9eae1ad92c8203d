"""The checker's rule for the order of a key's attempts: there is one that explains every answer. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadtest.linearizability import MOST_POSITIONS, search
from loadtest.unordered import explain
from loadtest.verdict import Kind, Ordered

if TYPE_CHECKING:
    from loadtest.heard import KeyAnswers
    from loadtest.sequential import Rules
    from loadtest.verdict import Violations


def check(heard: KeyAnswers, rules: Rules, found: Violations, ordered: Ordered) -> None:
    """Check one key against the sequential specification, and count it in `ordered`."""
    ordered.keys += 1
    ordered.attempts += len(heard.calls)
    ordered.most_attempts = max(ordered.most_attempts, len(heard.calls))
    result = search(rules, heard.calls, MOST_POSITIONS)
    if result.ordered is None:
        ordered.undecided += 1
        detail = f"gave up on the order of its {len(heard.calls)} attempts after {result.positions} positions"
        found.add(Kind.ORDER_UNDECIDED, heard.tenant, heard.key, detail)
    elif not result.ordered:
        detail = explain(rules, heard.calls) if found.keeps(Kind.NOT_LINEARIZABLE) else ""
        found.add(Kind.NOT_LINEARIZABLE, heard.tenant, heard.key, detail)
