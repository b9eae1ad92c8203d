"""Scenarios of attempts over HTTP: who sends what, and the two that come when all is over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from handlers.domain import canonical_json
from handlers.domain import fingerprint as fingerprints
from proof.answers import HttpRules, Request
from proof.scenario import Actor, Scenario
from proof.wording import count
from tests.builders import NOW_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from proof.ports import Port
    from proof.programs import Life
    from proof.requests import Sent
    from proof.scenario import Seen


@dataclass(frozen=True)
class Attempt:
    """One attempt: its name (``A``), what it sends, and how far its worker's clock is off (ms)."""

    name: str
    sent: Sent
    skew_ms: int = 0


@dataclass(frozen=True)
class Platform:
    """What serves the attempts.

    Attributes:
        serve: the program of a request. ports: what it calls.
        settled_at: when every lease is over, and a retry has to be answered, ms since the epoch.
    """

    serve: Callable[[Sent], Callable[[Life], dict[str, Any]]]
    ports: tuple[Port, ...]
    settled_at: Callable[[Seen], int]


def over_http(name: str, attempts: Sequence[Attempt], faults: int, platform: Platform) -> Scenario:
    """`attempts` in any order, with up to `faults` faults; then, for each place, two retries of the first."""
    sent = {one.name: one.sent for one in attempts}
    firsts = {(one.sent.tenant, one.sent.key): one.sent for one in reversed(attempts)}
    for number, first in enumerate(firsts.values()):
        sent |= {f"Y{number or ''}": first, f"Z{number or ''}": first}
    probes = [name for name in sent if name[0] in "YZ"]
    skews = {one.name: one.skew_ms for one in attempts}
    kinds = {name: f"{one} {skews.get(name, 0)}" for name, one in sent.items()}
    actors = {
        name: Actor(name, kinds[name], platform.serve(one), skews.get(name, 0)) for name, one in sent.items()
    }
    return Scenario(
        name=f"{name}: {count(len(attempts), 'attempt')}, up to {count(faults, 'fault')}",
        actors=tuple(actor for name, actor in actors.items() if name not in probes),
        ports=platform.ports,
        rules=HttpRules(
            {name: _request(one) for name, one in sent.items()},
            tuple(probes),
            max(map(abs, skews.values())),
        ),
        begins_ms=NOW_MS,
        faults=faults,
        probes=tuple(actors[name] for name in probes),
        settled_at=platform.settled_at,
    )


def _request(sent: Sent) -> Request:
    return Request(sent.tenant, sent.key or "", fingerprint(sent), sent.settings["windowSeconds"] * 1000)


def fingerprint(sent: Sent) -> str:
    """What the receipt of a request has as its fingerprint."""
    operation = sent.resource.rpartition("/")[2]
    return fingerprints.fingerprint(operation, canonical_json.canonical(dict(sent.body)))
