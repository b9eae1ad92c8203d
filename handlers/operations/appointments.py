"""`POST /v1/appointments`: a doctor's time, booked once whatever the key's window."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, cast

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticCustomError

from handlers.domain.effect import Attempt, Effect, Effected
from handlers.domain.errors import SlotTaken
from handlers.domain.json_text import compact
from handlers.domain.operation import ExecuteOperation
from handlers.operations.schema import Described, Line, PydanticSchema

if TYPE_CHECKING:
    from handlers.domain.operation import Ports

# RFC 3339 section 5.6, with at most the microseconds that a datetime holds, so that no two spellings of
# different moments become one slot.
_RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
# Double clicks and impatient reloads; after it the slot itself answers.
_WINDOW_SECONDS = 10


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
    return text


class Appointment(BaseModel):
    """What an appointment must be. Fields that are not named here pass through to the record."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    doctorId: Line  # noqa: N815 - the API's spelling
    patientId: Line  # noqa: N815 - the API's spelling
    startsAt: Annotated[str, Described(_is_moment, {"format": "date-time"})]  # noqa: N815 - the API's spelling
    reason: Line | None = None


def slot_of(doctor: str, starts_at: str) -> str:
    """A doctor's moment, the same for every spelling of it. A JSON list: no two pairs have one text."""
    return compact([doctor, _moment(starts_at).isoformat()])


def _bind(ports: Ports) -> Effect:
    def book(attempt: Attempt, /) -> Effected:
        slot = slot_of(cast("str", attempt.body["doctorId"]), cast("str", attempt.body["startsAt"]))
        if not ports.slots.take(attempt.tenant_id, slot, attempt.generation, attempt.record_id):
            raise SlotTaken("this doctor has another appointment at this time")
        return Effected({"status": "booked"})

    return book


APPOINTMENTS = ExecuteOperation(
    name="appointments",
    permission="appointments:create",
    record_name="appointment",
    event_type="appointment.created",
    path="/v1/appointments/{id}",
    schema=PydanticSchema(Appointment),
    bind=_bind,
    answered=("status", "doctorId", "startsAt"),
    key_source="fields",
    key_fields=("doctorId", "patientId", "startsAt"),
    window_seconds=_WINDOW_SECONDS,
)
