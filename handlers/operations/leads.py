"""`POST /v1/leads`: a lead from a form or a program, scored, stored and published once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from handlers.domain.lead_score import score
from handlers.domain.operation import AcceptOperation
from handlers.operations.schema import Line, PydanticSchema, matching

if TYPE_CHECKING:
    from pydantic.config import JsonDict

# One @ with something on either side and a dot in the domain: what can be said without sending a mail.
# 254 is the longest address that SMTP can carry (RFC 5321 section 4.5.3.1.3, less the angle brackets).
_Email = Annotated[
    str,
    Field(max_length=254),
    matching(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+", "must be an e-mail address, such as name@example.com"),
]
# E.164 has 15 digits; the rest is punctuation (an area code in brackets may come first) and an extension.
_Phone = Annotated[
    str,
    Field(max_length=40),
    matching(r"\+?\(?[0-9][0-9 ()./x-]{4,}", "must be a phone number, such as +1 202 555 0100"),
]
_Message = Annotated[str, Field(max_length=5000)]

# What `_can_be_reached` checks, in the words of JSON Schema: null is as good as nothing.
_REACHABLE: Final[JsonDict] = {
    "anyOf": [{"required": [name], "properties": {name: {"type": "string"}}} for name in ("email", "phone")]
}


class Lead(BaseModel):
    """What a lead must be. Fields that are not named here pass through to the record."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True, json_schema_extra=_REACHABLE)

    name: Line
    email: _Email | None = None
    phone: _Phone | None = None
    company: Line | None = None
    jobTitle: Line | None = None  # noqa: N815 - the API's spelling
    message: _Message | None = None
    source: Line | None = None
    budget: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _can_be_reached(self) -> Self:
        if self.email is None and self.phone is None:
            raise PydanticCustomError("unreachable", "a lead needs an email or a phone")
        return self


LEADS = AcceptOperation(
    name="leads",
    permission="leads:create",
    record_name="lead",
    event_type="lead.created",
    path="/v1/leads/{id}",
    schema=PydanticSchema(Lead),
    derive=lambda lead: {"score": score(lead)},
    answered=("score",),
    key_source="header-or-body",
)
