"""The promises of HTTP answers: what a caller may be told, given all that was ever stored."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from handlers.domain.receipt import Status
from proof.programs import name_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from proof.programs import Call
    from proof.provider import Charge
    from proof.receipts import Table, Window
    from proof.scenario import Seen

_REPLAYED: Final = "Idempotent-Replayed"
# The problems that are answers: stored, and replayed.
_FINAL: Final = ("declined", "slot-taken", "not-charged")
_ERRORS: Final = range(500, 600)


@dataclass(frozen=True)
class Request:
    """What the rules know of an actor: its place, the fingerprint of what it sends, how long its key stands.

    The rules go by this, not by what the code has stored as the fingerprint or the window of a request.
    """

    tenant: str
    key: str
    fingerprint: str
    window_ms: int


@dataclass(frozen=True)
class HttpRules:
    """Rules for attempts over HTTP.

    Attributes:
        requests: by actor. probes: of those, the ones that come when all is over.
        skew_ms: how far the clocks of workers and gateway may be apart.
        judged_before: see `Rules`.
    """

    requests: Mapping[str, Request]
    probes: tuple[str, ...] = ()
    skew_ms: int = 0
    judged_before: frozenset[str] = frozenset({"charge"})

    def before(self, seen: Seen, actor: str, call: Call) -> Iterable[str]:
        """See `Rules`. Whoever owns a claim with a checkpoint knows that the effect has happened."""
        if call.name == "charge":
            request = self.requests[actor]
            item = seen.ports["receipts"].item((request.tenant, request.key))
            if item is not None and item.checkpoint is not None and name_in(item.owner) == actor:
                yield f"{actor} charges again although the checkpoint of its own claim has the charge"

    def finished(self, seen: Seen, actor: str, started_ms: int, answer: Any) -> Iterator[str]:  # noqa: ANN401
        """See `Rules`."""
        request, status = self.requests[actor], answer["statusCode"]
        windows = [
            one for one in seen.ports["receipts"].windows if one.place == (request.tenant, request.key)
        ]
        for window in windows:
            if name_in(window.owners[0]) == actor and window.expires_at < started_ms + request.window_ms:
                yield f"{actor} opened a window that is over before its time"
        if status in _ERRORS and not _is_final(answer):
            if actor in self.probes:
                yield f"{actor} came when every lease was over, and was answered {status}"
            elif not seen.faults:
                yield f"{actor} was answered {status}, and nothing had gone wrong"
            return
        if _is_replay(answer) or status < 300 or _is_final(answer):
            yield from self._stands(windows, actor, started_ms, answer)
        elif status == 422:
            if not any(self._other(window, request) for window in windows):
                yield f"{actor} was told of another request with its key (422), and there was none"
        elif status == 409:
            yield from self._in_progress(windows, actor)
            yield from self._comes_again(seen, actor, answer)
        else:
            yield f"{actor} was answered {status}, which nothing of this explains"

    def _stands(self, windows: list[Window], actor: str, started_ms: int, answer: Any) -> Iterator[str]:  # noqa: ANN401
        """An answer that stands is the stored one of a window that was open meanwhile."""
        told = [one for one in windows if one.answer is not None and _is_the(one, answer)]
        if not told:
            yield f"{actor} was answered {answer['statusCode']} with an answer that is stored nowhere"
            return
        window = told[-1]
        author = "" if window.answered_by is None else name_in(window.answered_by)
        if self._other(window, self.requests[actor]):
            yield f"{actor} was given the answer of another request"
        # One that was stored while this request was under way lies at the boundary: it may be on either side.
        if window.expires_at + self.skew_ms <= started_ms and window.answered_at < started_ms:
            yield f"{actor} came when the window was over, and was given its answer"
        if _is_replay(answer) and author == actor:
            yield f"{actor} was told that its own answer is a replay"
        if not _is_replay(answer) and author != actor:
            yield f"{actor} was told that its request is new, and {author} had answered it"

    def _other(self, window: Window, request: Request) -> bool:
        """Whether a window was opened for another request than this."""
        return self.requests[name_in(window.owners[0])].fingerprint != request.fingerprint

    def _in_progress(self, windows: list[Window], actor: str) -> Iterator[str]:
        mine = self.requests[actor]
        if actor in self.probes:
            yield f"{actor} came when every lease was over, and was told that a request still runs"
        elif not any(
            not self._other(one, mine) and any(name_in(owner) != actor for owner in one.owners)
            for one in windows
        ):
            yield f"{actor} was told that its request still runs (409), and no other attempt of it ever did"

    def _comes_again(self, seen: Seen, actor: str, answer: Any) -> Iterator[str]:  # noqa: ANN401
        """Who does as Retry-After says finds the lease that it met over."""
        request, seconds = self.requests[actor], int(answer["headers"]["Retry-After"])
        item = seen.ports["receipts"].item((request.tenant, request.key))
        again = seen.now + seconds * 1000 + self.skew_ms
        if item is not None and item.status is Status.IN_PROGRESS and again < item.lease_until:
            yield f"{actor} was told to come again in {seconds} s, inside the lease of {name_in(item.owner)}"

    def settled(self, seen: Seen) -> Iterator[str]:
        """See `Rules`."""
        table: Table = seen.ports["receipts"]
        yield from _lost(table, seen.now)
        yield from _charges(table, seen.ports.get("provider", ()))


def _lost(table: Table, now: int) -> Iterator[str]:
    """Whoever was answered finds the answer there, until its window is over."""
    for window in table.windows:
        item = table.item(window.place)
        if (
            window.answer is not None
            and now < window.expires_at
            and (item is None or item.response != window.answer)
        ):
            yield f"the answer that {name_in(window.answered_by or '')} stored is gone inside its window"


def _charges(table: Table, charges: tuple[Charge, ...]) -> Iterator[str]:
    """One charge for each downstream key, no more than windows, and each window its own.

    Counted, whatever the keys are: how the code makes them is not for its judge to repeat.
    """
    keys = [charge.key for charge in charges]
    for key in dict.fromkeys(keys):
        if keys.count(key) > 1:
            yield f"{keys.count(key)} charges under one downstream key"
    if len(set(keys)) > len(table.windows):
        yield f"{len(set(keys))} charges under different keys, and no more than {len(table.windows)} accepted"
    owners: dict[str, str] = {}
    for window in table.windows:
        made = None if window.answer is None else json.loads(window.answer.body or "{}").get("chargeId")
        if made is not None and owners.setdefault(made, window.generation) != window.generation:
            yield f"two windows of {window.place[1]} were answered with one charge, {made}"


def _is_replay(answer: Any) -> bool:  # noqa: ANN401
    return bool(answer["headers"].get(_REPLAYED) == "true")


def _is_final(answer: Any) -> bool:  # noqa: ANN401
    kind = str(json.loads(answer["body"]).get("type", ""))
    return answer["statusCode"] in (402, 409, 502) and kind.endswith(_FINAL)


def _is_the(window: Window, answer: Any) -> bool:  # noqa: ANN401
    stored = window.answer
    headers = answer["headers"]
    return (
        stored is not None
        and stored.status == answer["statusCode"]
        and stored.body == answer["body"]
        and all(headers.get(name) == value for name, value in stored.headers.items())
    )
