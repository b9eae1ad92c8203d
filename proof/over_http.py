"""Scenarios of attempts over HTTP: who sends what, and the two that come when all is over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from proof.answers import HttpRules, Request
from proof.receipt_changes import LIVES_MS
from proof.scenario import Actor, Scenario
from proof.wording import count
from tests.builders import NOW_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
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


def attempts_at(sent: Sequence[Sent], skews_ms: Sequence[int] = ()) -> list[Attempt]:
    """An attempt at each of `sent`, ``A`` first; the first workers' clocks are off by `skews_ms`."""
    skews = (*skews_ms, *[0] * len(sent))
    return [Attempt(name, one, skew) for name, one, skew in zip("ABCDEF", sent, skews, strict=False)]


def skews_of(tried: Iterable[Attempt]) -> dict[str, int]:
    """How far the workers of these attempts are off, ms, by their names."""
    return {one.name: one.skew_ms for one in tried}


def over_http(name: str, tried: Sequence[Attempt], faults: int, platform: Platform) -> Scenario:
    """`tried` in any order, with up to `faults` faults; then, for each place, two retries of the first."""
    sent = {one.name: one.sent for one in tried}
    firsts = {(one.sent.tenant, one.sent.key): one.sent for one in reversed(tried)}
    for number, first in enumerate(firsts.values()):
        sent |= {f"Y{number or ''}": first, f"Z{number or ''}": first}
    probes = [name for name in sent if name[0] in "YZ"]
    skews = skews_of(tried)
    kinds = {name: f"{one} {skews.get(name, 0)}" for name, one in sent.items()}
    actors = {
        # A slow clock's lease ends earlier: so much less is left of the margin for what comes late.
        name: Actor(name, kinds[name], platform.serve(one), skew, lives_ms=LIVES_MS + min(0, skew))
        for name, one in sent.items()
        for skew in [skews.get(name, 0)]
    }
    return Scenario(
        name=f"{name}: {count(len(tried), 'attempt')}, up to {count(faults, 'fault')}",
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
    window_ms = sent.settings["windowSeconds"] * 1000
    return Request(sent.tenant, sent.key or "", sent.fingerprint, window_ms, dict(sent.body), sent.operation)
