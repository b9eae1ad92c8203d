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

# What is no store: it fails with a 502 or a 504.
_DESTINATIONS: Final = frozenset({"provider"})
_REPLAYED: Final = "Idempotent-Replayed"
# The problems that are answers: stored, and replayed.
_FINAL: Final = ("declined", "slot-taken", "not-charged")
# What a webhook's duplicate is answered (DESIGN section 3, "duplicate 200").
_WEBHOOKS: Final = "webhooks"
_OK: Final = 200
_DUPLICATE: Final = '{"accepted":true,"duplicate":true}'
# Of errors, those that say that something around us failed; a 500 is a mistake of ours, whatever failed.
_OUTAGES: Final = (502, 503, 504)


@dataclass(frozen=True)
class Request:
    """What the rules know of an actor: its place, what it sends, how long its key stands.

    The rules go by this, not by what the code has stored as the fingerprint or the window of a request.
    """

    tenant: str
    key: str
    fingerprint: str
    window_ms: int
    body: Mapping[str, Any]
    operation: str


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
        yield from self._lasts(windows, actor, started_ms)
        if status in _OUTAGES and not _is_final(answer):
            if actor in self.probes:
                yield f"{actor} came when every lease was over, and was answered {status}"
            elif not seen.faults:
                yield f"{actor} was answered {status}, and nothing had gone wrong"
            yield from self._failed(seen, windows, actor, answer)
        elif _is_replay(answer, request) or status < 300 or _is_final(answer):
            yield from self._stands(windows, actor, started_ms, answer)
        elif status == 422:
            if not any(self._other(window, request) for window in windows):
                yield f"{actor} was told of another request with its key (422), and there was none"
        elif status == 409:
            yield from self._in_progress(windows, actor)
            yield from self._comes_again(seen, actor, started_ms, answer)
        else:
            yield f"{actor} was answered {status}, which nothing of this explains"

    def _lasts(self, windows: list[Window], actor: str, started_ms: int) -> Iterator[str]:
        """A window lasts as long as its opener was promised."""
        promised_ms = self.requests[actor].window_ms
        for window in windows:
            if name_in(window.owners[0]) == actor and window.expires_at < started_ms + promised_ms:
                yield f"{actor} opened a window that is over before its time"
            if window.expires_at > self._ends(window) + self.skew_ms:
                yield f"{actor} met a window that is longer than was promised"

    def _stands(self, windows: list[Window], actor: str, started_ms: int, answer: Any) -> Iterator[str]:  # noqa: ANN401
        """An answer that stands is the stored one of a window that was open meanwhile."""
        request = self.requests[actor]
        told = [one for one in windows if one.answer is not None and _is_the(one, answer, request)]
        if not told:
            yield f"{actor} was answered {answer['statusCode']} with an answer that is stored nowhere"
            return
        window = told[-1]
        author = "" if window.answered_by is None else name_in(window.answered_by)
        if self._other(window, request):
            yield f"{actor} was given the answer of another request"
        # One that was stored while this request was under way lies at the boundary: it may be on either side.
        ends = min(window.expires_at, self._ends(window)) + self.skew_ms
        if ends <= started_ms and window.answered_at < started_ms:
            yield f"{actor} came when the window was over, and was given its answer"
        if _is_replay(answer, request) and author == actor:
            yield f"{actor} was told that its own answer is a replay"
        if not _is_replay(answer, request) and author != actor:
            yield f"{actor} was told that its request is new, and {author} had answered it"

    def _ends(self, window: Window) -> int:
        """When a window is over at the latest: as its opener was promised, or with its longest lease.

        An attempt that resumes what its own late claim has opened answers with the lease's end, too: it
        cannot tell that from another's.
        """
        opener = self.requests[name_in(window.owners[0])]
        return max(window.opened_at + opener.window_ms, window.leased_until)

    def _failed(self, seen: Seen, windows: list[Window], actor: str, answer: Any) -> Iterator[str]:  # noqa: ANN401
        """An outage is told where there was one, and as what it was."""
        status, failed = answer["statusCode"], seen.failed.get(actor, frozenset())
        mine = next((one for one in windows if actor in map(name_in, one.owners)), None)
        item = seen.ports["receipts"].item((self.requests[actor].tenant, self.requests[actor].key))
        if status == 503:
            # Without a failed call of its own: its claim was evicted, or is another request's by now.
            evicted = mine is not None and (item is None or item.generation != mine.generation)
            if not failed - _DESTINATIONS and not evicted:
                yield f"{actor} was told that a store cannot be reached (503), and each had answered it"
        holds = item is not None and item.lease_until and name_in(item.owner) == actor
        if status != 503 and "receipts" not in failed and holds:
            yield f"{actor} was told to try again ({status}), and its own lease is in the way"
        if status == 502 and mine is not None and _made_in(mine, seen):
            yield f"{actor} was told that nothing was charged (502), and a charge was made"

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

    def _comes_again(self, seen: Seen, actor: str, started_ms: int, answer: Any) -> Iterator[str]:  # noqa: ANN401
        """Who does as Retry-After says finds the lease that it met over."""
        request, seconds = self.requests[actor], int(answer["headers"]["Retry-After"])
        item = seen.ports["receipts"].item((request.tenant, request.key))
        again = seen.now + seconds * 1000 + self.skew_ms
        if item is not None and item.status is Status.IN_PROGRESS:
            owner, left_ms = name_in(item.owner), item.lease_until - started_ms + self.skew_ms
            if again < item.lease_until:
                yield f"{actor} was told to come again in {seconds} s, inside the lease of {owner}"
            elif seconds > max(1, -(-left_ms // 1000)):
                yield f"{actor} was told to come again in {seconds} s, long after the lease of {owner}"

    def settled(self, seen: Seen) -> Iterator[str]:
        """See `Rules`."""
        table: Table = seen.ports["receipts"]
        yield from _lost(table, seen.now)
        yield from _charges(table, seen)


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


def _charges(table: Table, seen: Seen) -> Iterator[str]:
    """One charge for each downstream key, one key for each window, and each window its own charge.

    Counted by who charged, whatever the keys are: how the code makes them is not for its judge to repeat.
    """
    keys = [charge.key for charge in seen.ports.get("provider", ())]
    for key in dict.fromkeys(keys):
        if keys.count(key) > 1:
            yield f"{keys.count(key)} charges under one downstream key"
    owners: dict[str, str] = {}
    for window in table.windows:
        charged = {one.key for one in _made_in(window, seen)}
        if len(charged) > 1:
            yield f"charges under {len(charged)} different keys for one acceptance of {window.place[1]}"
        answer = {} if window.answer is None else json.loads(window.answer.body or "{}")
        if charged and str(answer.get("type", "")).endswith("not-charged"):
            yield f"{name_in(window.answered_by or '')} has stored that nothing was charged, and it was"
        made = answer.get("chargeId")
        if made is not None and owners.setdefault(made, window.generation) != window.generation:
            yield f"two windows of {window.place[1]} were answered with one charge, {made}"


def _made_in(window: Window, seen: Seen) -> list[Charge]:
    """What the owners of a window's claim have charged."""
    owners = {name_in(owner) for owner in window.owners}
    return [one for one in seen.ports.get("provider", ()) if one.made_by in owners]


def _is_replay(answer: Any, request: Request) -> bool:  # noqa: ANN401
    return bool(answer["headers"].get(_REPLAYED) == "true") or _is_duplicate(answer, request)


def _is_duplicate(answer: Any, request: Request) -> bool:  # noqa: ANN401
    """Whether it is what a webhook's sender, and nobody else, is told of an event that it has sent before."""
    told = (answer["statusCode"], answer["body"]) == (_OK, _DUPLICATE)
    return request.operation == _WEBHOOKS and told


def _is_final(answer: Any) -> bool:  # noqa: ANN401
    kind = str(json.loads(answer["body"]).get("type", ""))
    return answer["statusCode"] in (402, 409, 502) and kind.endswith(_FINAL)


def _is_the(window: Window, answer: Any, request: Request) -> bool:  # noqa: ANN401
    stored = window.answer
    headers = answer["headers"]
    return (
        stored is not None
        # A webhook's duplicate is the one replay that is not the first answer, but for where its record is.
        and (
            _is_duplicate(answer, request)
            or (stored.status, stored.body) == (answer["statusCode"], answer["body"])
        )
        and all(headers.get(name) == value for name, value in stored.headers.items())
    )
