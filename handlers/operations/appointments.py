"""`POST /v1/appointments`: a doctor's time, booked once whatever the key's window."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final, cast
from unicodedata import normalize

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticCustomError

from handlers.domain import member_hashes
from handlers.domain.effect import Attempt, Effect, Effected
from handlers.domain.errors import SlotTaken
from handlers.domain.json_text import compact
from handlers.domain.operation import Booking, ExecuteOperation
from handlers.operations.schema import Described, Line, Name, PydanticSchema

if TYPE_CHECKING:
    from handlers.domain.operation import Ports

# RFC 3339 section 5.6, with at most the microseconds that a datetime holds, so that no two spellings of
# different moments become one slot. What an appointment may say is narrower (`_is_moment`); operators free
# what earlier releases booked.
_RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
# A fraction of zeros is none: JavaScript's Date writes `.000` behind each second. As ECMA-262 reads it, too.
_WHOLE_SECOND = re.compile(r"[^.]*(?:\.0+[^0-9.][^.]*)?")
_TAKEN = "this doctor has another appointment at this time"
# A duplicate that comes after its short window (one that did as Retry-After told it, say) is a new request.
_BOOKED = "this patient already has this slot: a request before this one took it"
# Double clicks and impatient reloads; after it the slot itself answers.
_WINDOW_SECONDS = 10
_PATH = "/v1/appointments/{id}"


def _moment(text: str) -> datetime:
    """The instant, in UTC. Raises ValueError, or OverflowError beyond the calendar's ends."""
    if not _RFC_3339.fullmatch(text):
        raise ValueError(text)
    return datetime.fromisoformat(text.upper()).astimezone(UTC)


def _is_moment(text: str) -> str:
    try:
        _moment(text)
    except (ValueError, OverflowError):
        message = "must be a time with its offset from UTC (RFC 3339), such as 2026-12-01T09:30:00+01:00"
        raise PydanticCustomError("moment", "{message}", {"message": message}) from None
    if not _WHOLE_SECOND.fullmatch(text):
        message = "must be a whole second: two moments within one second would be two slots"
        raise PydanticCustomError("whole_second", "{message}", {"message": message})
    return text


_STARTS_AT: Final = {
    "format": "date-time",
    "pattern": f"^{_WHOLE_SECOND.pattern}$",
    "description": "With its offset from UTC, to the whole second.",
}


class Appointment(BaseModel):
    """What an appointment must be. Fields that are not named here pass through to the record."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    doctorId: Name  # noqa: N815 - the API's spelling
    patientId: Name  # noqa: N815 - the API's spelling
    startsAt: Annotated[str, Described(_is_moment, _STARTS_AT)]  # noqa: N815 - the API's spelling
    reason: Line | None = None


def slot_of(doctor: str, starts_at: str) -> str:
    """A doctor's moment, the same for every spelling of it. A JSON list: no two pairs have one text.

    Raises ValueError or OverflowError for what is no moment.
    """
    return compact([normalize("NFC", doctor), _moment(starts_at).isoformat()])


def _holder(patient: str, generation: str) -> str:
    """Whom a slot is for, as the booking keeps it: enough to know it again, and nothing to read."""
    return member_hashes.hashes({"patientId": normalize("NFC", patient).encode()}, generation)["patientId"]


def _bind(ports: Ports) -> Effect:
    def book(attempt: Attempt, /) -> Effected:
        doctor, patient, starts_at = (
            cast("str", attempt.body[name]) for name in ("doctorId", "patientId", "startsAt")
        )
        mine = Booking(attempt.generation, attempt.record_id, _holder(patient, attempt.generation))
        there = ports.slots.take(attempt.tenant_id, slot_of(doctor, starts_at), mine)
        if there is not None:
            if there.holder != _holder(patient, there.generation):
                raise SlotTaken(_TAKEN)
            raise SlotTaken(_BOOKED, _PATH.format(id=there.record_id))
        return Effected({"status": "booked"})

    return book


APPOINTMENTS = ExecuteOperation(
    name="appointments",
    permission="appointments:create",
    record_name="appointment",
    event_type="appointment.created",
    path=_PATH,
    schema=PydanticSchema(Appointment),
    bind=_bind,
    answered=("status", "doctorId", "startsAt"),
    key_source="fields",
    key_fields=("doctorId", "patientId", "startsAt"),
    window_seconds=_WINDOW_SECONDS,
)
