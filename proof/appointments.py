"""Scenarios of appointments: claim, book the slot, complete, by patients who want the same time."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from handlers.domain import key_fields
from handlers.operations.appointments import APPOINTMENTS
from proof.answers import HttpRules
from proof.over_http import Platform, attempts_at, over_http, skews_of
from proof.programs import name_in
from proof.receipts import Receipts, leases_over
from proof.requests import Sent, executed
from proof.slots import AskingSlots, Slots

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from proof.receipts import Table, Window
    from proof.scenario import Scenario, Seen
    from proof.slots import Bookings

_WINDOW_SECONDS: Final = 10
_REDIRECT: Final = 300


def appointment(patient: str, *, tenant: str = "acme", reason: str | None = None) -> Sent:
    """A request to `POST /v1/appointments` for the one time that all patients want."""
    body: dict[str, Any] = {"doctorId": "dr-grey", "patientId": patient, "startsAt": "2031-01-01T10:00:00Z"}
    body |= {} if reason is None else {"reason": reason}
    names = list(APPOINTMENTS.key_fields)
    settings = {"windowSeconds": _WINDOW_SECONDS, "keySource": "fields", "keyFields": names, "options": {}}
    # A client that sends the header too is none the wiser: the key is made of the body.
    key = key_fields.key(APPOINTMENTS.name, APPOINTMENTS.key_fields, body)
    return Sent("/v1/appointments", body, settings, key=key, tenant=tenant)


def appointments(
    sent: Sequence[Sent],
    faults: int,
    *,
    skews_ms: Sequence[int] = (),
) -> Scenario:
    """An attempt at each of `sent`; the first workers' clocks are off by `skews_ms`."""
    tried = attempts_at(sent, skews_ms)
    platform = Platform(
        partial(executed, slots=AskingSlots), (Receipts(skews_of(tried)), Slots()), leases_over
    )
    base = over_http(_said(sent, skews_ms), tried, faults, platform)
    rules = BookingRules(**{field.name: getattr(base.rules, field.name) for field in fields(HttpRules)})
    return replace(base, rules=rules)


@dataclass(frozen=True)
class BookingRules(HttpRules):
    """Rules for attempts at one slot of each tenant."""

    def finished(self, seen: Seen, actor: str, started_ms: int, answer: Any) -> Iterator[str]:  # noqa: ANN401
        """See `Rules`. Who is told 201 has the slot; who has it is never told that another does."""
        yield from super().finished(seen, actor, started_ms, answer)
        request, told = self.requests[actor], json.loads(answer["body"])
        bookings: Bookings = seen.ports["slots"]
        booking = next((one for (tenant, _), one in bookings if tenant == request.tenant), None)
        if answer["statusCode"] < _REDIRECT:
            if booking is None or booking.record_id != told["id"]:
                yield f"{actor} was told 201, and has not got the slot"
        elif str(told.get("type", "")).endswith("slot-taken"):
            table: Table = seen.ports["receipts"]
            mine = {one.generation for one in table.windows if one.place == (request.tenant, request.key)}
            holds = booking is not None and booking.generation in mine
            if booking is None:
                yield f"{actor} was told that the slot is taken, and nobody has it"
            elif holds and "another appointment" in told["detail"]:
                yield f"{actor} was told that another has the slot, which is its patient's"
            elif not holds and "already has" in told["detail"]:
                yield f"{actor} was told that its patient has the slot, which is another's"

    def settled(self, seen: Seen) -> Iterator[str]:
        """See `Rules`. Every stored 201 has the slot, and no slot is for a request that was refused."""
        yield from super().settled(seen)
        bookings: Bookings = seen.ports["slots"]
        has = {booking.generation for _, booking in bookings}
        windows: tuple[Window, ...] = seen.ports["receipts"].windows
        for window in windows:
            if window.answer is None:
                continue
            who, is_booked = name_in(window.answered_by or ""), window.answer.status < _REDIRECT
            if is_booked and window.generation not in has:
                yield f"{who} has a stored 201, and not the slot"
            elif not is_booked and window.generation in has:
                yield f"the slot is booked for {who}, who was refused for good"


def _said(sent: Sequence[Sent], skews_ms: Sequence[int]) -> str:
    patients, tenants = len({one.body["patientId"] for one in sent}), len({one.tenant for one in sent})
    bodies = len({str(one.body) for one in sent})
    parts = [
        "appointments",
        f"{patients} patients" * (patients > 1),
        f"{bodies} bodies" * (bodies > patients),
        f"{tenants} tenants" * (tenants > 1),
        f"clocks off by {list(skews_ms)} ms" * bool(skews_ms),
    ]
    return ", ".join(part for part in parts if part)
