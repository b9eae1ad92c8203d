"""Webhook sources: how a sender proves itself, what identifies its events, where they go."""

from typing import Annotated, Final, Self

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from tenants.destinations import Destination
from tenants.expressions import Expression, fillable, stable
from tenants.file_model import FileModel
from tenants.names import is_secret, is_timestamp
from tenants.presets import (
    PRESETS,
    SENDERS,
    TOLERANCE_SECONDS,
    WEBHOOK_WINDOW_SECONDS,
    Preset,
    PresetName,
    Scheme,
)
from tenants.tiers import MAX_BODY_BYTES, MIN_BODY_BYTES
from tenants.windows import Window

SOURCE_ID: Final = r"^[a-z][a-z0-9-]{0,30}[a-z0-9]$"
HEADER_NAME: Final = r"^[A-Za-z0-9-]{1,64}$"
# One item in the registry holds them all, read once a minute by every environment of the receiver.
_MAX_SOURCES: Final = 20
_MAX_TEMPLATE: Final = 200
# Below half a minute two clocks that are right enough would disagree; beyond an hour a signature is little
# better than a password.
_MIN_TOLERANCE: Final = 30
_MAX_TOLERANCE: Final = 3_600


def _identifying(name: str) -> str:
    if is_timestamp(name):
        raise PydanticCustomError("timestamp", "must not be a timestamp: it is never an identity")
    if is_secret(name):
        raise _secret_as_identity("")
    return name


def _secret_as_identity(place: str) -> PydanticCustomError:
    return PydanticCustomError(
        "secret",
        "{place}must not be a header by which a sender proves itself: an event's id is stored, sent on and "
        "logged",
        {"place": place},
    )


HeaderName = Annotated[str, Field(pattern=HEADER_NAME)]


class Identity(FileModel):
    """Where an event's own id is: in the body, in a header, or in both, which must then agree."""

    path: Annotated[
        Expression | None,
        Field(description="JMESPath over the body, such as data.submissionId."),
        AfterValidator(lambda path: path and stable(path)),
    ] = None
    header: Annotated[
        HeaderName | None,
        Field(description="The header that carries the id; with a path, both must be the same."),
        AfterValidator(lambda name: name and _identifying(name)),
    ] = None
    template: Annotated[
        str | None,
        Field(
            max_length=_MAX_TEMPLATE,
            description="Makes the id of several members: 'forms:{event}:{data.submissionId}'.",
        ),
        AfterValidator(lambda template: template and fillable(template)),
    ] = None

    @model_validator(mode="after")
    def _says_where(self) -> Self:
        if self.path is None and self.header is None:
            raise PydanticCustomError("identity", "must have a path or a header")
        if self.template is not None and self.path is None:
            raise PydanticCustomError("identity", "must have a path when it has a template")
        return self

    @property
    def filled_template(self) -> str:
        """The template, or one that is the path alone; empty where the header alone is the id."""
        return self.template or ("" if self.path is None else f"{{{self.path}}}")


class WebhookSource(FileModel):
    """One sender. A preset says everything in one word; a field that is written out goes before it."""

    preset: Annotated[PresetName | None, Field(description="A sender that is known.")] = None
    scheme: Annotated[Scheme | None, Field(description="How the sender proves itself.")] = None
    header: Annotated[
        HeaderName | None, Field(description="For the scheme 'header': the header that holds the secret.")
    ] = None
    tolerance_seconds: Annotated[
        int,
        Field(
            ge=_MIN_TOLERANCE, le=_MAX_TOLERANCE, description="How old a signature may be, where it is dated."
        ),
    ] = TOLERANCE_SECONDS
    identity: Identity | None = None
    window_seconds: Annotated[
        Window, Field(description="How long an event is remembered; not shorter than the sender retries.")
    ] = WEBHOOK_WINDOW_SECONDS
    body_limit_bytes: Annotated[
        int | None, Field(ge=MIN_BODY_BYTES, le=MAX_BODY_BYTES, description="Lowers the tier's limit.")
    ] = None
    destination: Annotated[
        Destination | None,
        Field(description="Where each event is put; left out: to the tenant's topic only."),
    ] = None

    @field_validator("window_seconds")
    @classmethod
    def _outlasts_the_sender(cls, window: int, info: ValidationInfo) -> int:
        # A preset beside another's scheme leaves open whose retries arrive, so that both have to fit.
        scheme: Scheme | None = info.data.get("scheme")
        named = (info.data.get("preset"), None if scheme is None else SENDERS.get(scheme))
        senders: list[PresetName] = [sender for sender in named if sender is not None]
        sender = max(senders, key=lambda each: PRESETS[each].retries_seconds, default=None)
        if sender is not None and window < PRESETS[sender].retries_seconds:
            raise PydanticCustomError(
                "retries",
                "must be at least {least}: {sender} sends an event again until then, and a late retry "
                "would count as a new event",
                {"least": PRESETS[sender].retries_seconds, "sender": sender},
            )
        return window

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.preset is None and (self.scheme is None or self.identity is None):
            missing = "scheme" if self.scheme is None else "identity"
            raise PydanticCustomError("preset", "must have a preset, or say {missing}", {"missing": missing})
        if (self.proof_scheme == "header") != (self.header is not None):
            raise PydanticCustomError("header", "must have a header with the scheme 'header', and only then")
        return self

    @model_validator(mode="after")
    def _keeps_its_secret(self) -> Self:
        # By name alone no custom header is known; it may also be the one that a preset takes the id from.
        named = self.event_identity.header
        if self.header is not None and named is not None and named.lower() == self.header.lower():
            raise _secret_as_identity("identity.header ")
        return self

    @model_validator(mode="after")
    def _knows_its_events_by_what_is_signed(self) -> Self:
        sender = SENDERS.get(self.proof_scheme)
        named = self.event_identity.header
        if sender is None or named is None or self.event_identity.path is not None:
            return self
        own = PRESETS[sender].header
        if own is None or named.lower() != own.lower():
            raise PydanticCustomError(
                "unsigned",
                "identity.header must not be {named} alone: a signature of {sender} does not cover it, so "
                "that whoever has seen one event could send it again under any id; say identity.path{own}",
                {"named": named, "sender": sender, "own": f" or {own}" if own else ""},
            )
        return self

    @property
    def _known(self) -> Preset:
        if self.preset is None:
            raise ValueError("without a preset the scheme and the identity are written out")
        return PRESETS[self.preset]

    @property
    def proof_scheme(self) -> Scheme:
        """The scheme that is written out, else the preset's."""
        return self.scheme or self._known.scheme

    @property
    def event_identity(self) -> Identity:
        """The identity that is written out, else the preset's."""
        if self.identity is not None:
            return self.identity
        return Identity(path=self._known.path, header=self._known.header, template=self._known.template)


class WebhooksSettings(FileModel):
    """The senders that may call `/v1/webhooks/<tenant>/<source>`, by source."""

    sources: Annotated[
        dict[Annotated[str, Field(pattern=SOURCE_ID)], WebhookSource],
        Field(default_factory=dict, max_length=_MAX_SOURCES),
    ]
