"""The shape of a tenant file and of tiers.yaml.

Names are camelCase in the files and snake_case here. Every model is frozen and refuses unknown fields.
Validation is strict: the text "10" is not a number and `yes` is not a truth value.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    Tag,
    ValidationInfo,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from tenants.subscriptions import Subscription
from tenants.text import Origin, distinct

TENANT_ID: Final = r"^[a-z][a-z0-9-]{1,30}[a-z0-9]$"
STAGE: Final = r"^[a-z][a-z0-9]{1,11}$"
# One letter is a name too; the outer bounds keep `onceward-<stage>-<tenant>_<key>` under 100 characters.
KEY_NAME: Final = r"^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$"
TIER_NAME: Final = r"^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$"
# Only whole keys: a grant on an alias would follow it to a key that nobody reviewed.
KMS_KEY_ARN: Final = r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]{1,128}$"

# Two is a rotation; usage plans count per key, so more keys would multiply the tier's rate.
MAX_KEYS: Final = 2
# 128 KiB: the receipt keeps the answer and the record beside each other in one 400 KB DynamoDB item.
MAX_BODY_BYTES: Final = 131_072
# Under 1 KiB not even a small lead fits.
MIN_BODY_BYTES: Final = 1_024
# Shorter than 10 s and a client's own retry (after a time-out) is taken for a new request.
MIN_WINDOW_SECONDS: Final = 10
# 30 days, the longest window of any operation: receipts are kept, and paid for, that long.
MAX_WINDOW_SECONDS: Final = 30 * 86_400
DAY_SECONDS: Final = 86_400
# API Gateway takes the burst and the quota as 32-bit integers.
MAX_INT32: Final = 2_147_483_647
# CloudWatch evaluates at most one day (86,400 s) per alarm.
MAX_ALARM_MINUTES: Final = 1_440

Permission = Literal["*", "leads:create", "leads:read", "receipts:read"]


class FileModel(BaseModel):
    """What all parts of the files share."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, alias_generator=to_camel, validate_by_name=True
    )


def _operations(granted: tuple[Permission, ...]) -> tuple[Permission, ...]:
    if "*" in granted and len(granted) > 1:
        raise PydanticCustomError("operations", "'*' already grants everything: leave the others out")
    return distinct(granted)


class ApiKey(FileModel):
    """One API key: its name, what it may do, and from which web origins (none listed: from anywhere)."""

    name: Annotated[str, Field(pattern=KEY_NAME, description="Unique within the tenant.")]
    operations: Annotated[
        tuple[Permission, ...],
        Field(min_length=1, description="What the key may do; '*' is everything."),
        AfterValidator(_operations),
    ] = ("*",)
    origins: Annotated[
        tuple[Origin, ...],
        Field(description="Web pages that may use the key; listing any makes it a publishable key."),
        AfterValidator(distinct),
    ] = ()

    @model_validator(mode="after")
    def _publishable_keys_are_narrow(self) -> Self:
        if self.origins and "*" in self.operations:
            raise PydanticCustomError(
                "publishable", "a key with origins is public: list its operations, '*' is not allowed"
            )
        return self


def _named_key(value: Any) -> Any:  # noqa: ANN401 (whatever the file holds)
    """Let a bare name stand for a key that may do everything."""
    return {"name": value} if isinstance(value, str) else value


def _unique_names(keys: tuple[ApiKey, ...]) -> tuple[ApiKey, ...]:
    distinct(tuple(key.name for key in keys))
    return keys


class LeadsSettings(FileModel):
    """How the tenant's leads are deduplicated."""

    window_seconds: Annotated[
        int,
        Field(
            ge=MIN_WINDOW_SECONDS, le=MAX_WINDOW_SECONDS, description="How long a key stands for a request."
        ),
    ] = DAY_SECONDS
    key_source: Annotated[
        Literal["header-or-body", "header"],
        Field(
            description="'header' refuses requests without Idempotency-Key; "
            "'header-or-body' falls back to the SHA-256 of the body."
        ),
    ] = "header-or-body"
    body_limit_bytes: Annotated[
        int | None,
        Field(
            ge=MIN_BODY_BYTES,
            le=MAX_BODY_BYTES,
            description="Largest body; lowers the tier's limit, never raises it.",
        ),
    ] = None


class Operations(FileModel):
    """Settings per operation; each has defaults."""

    leads: LeadsSettings = LeadsSettings()


class AlarmRule(FileModel):
    """Alarm when at least `threshold` events were counted within `minutes`."""

    threshold: Annotated[int, Field(ge=1, le=MAX_INT32)]
    minutes: Annotated[int, Field(ge=1, le=MAX_ALARM_MINUTES)]


class Alarms(FileModel):
    """The tenant's own alarms."""

    enabled: bool = True
    # A handful of 5xx in five minutes is a fault, one is a hiccup that the client's retry has healed.
    failed_requests: AlarmRule = AlarmRule(threshold=5, minutes=5)
    # SNS has retried by then: a single failed delivery is a subscriber that lost an event.
    failed_deliveries: AlarmRule = AlarmRule(threshold=1, minutes=5)


class TenantEncryptionKey(FileModel):
    """A KMS key of the tenant's own for its topic.

    The key's policy has to let the platform's `dispatch` role use it through SNS.
    """

    kms_key_arn: Annotated[str, Field(pattern=KMS_KEY_ARN)]


def _encryption_kind(value: object) -> str:
    return "key" if isinstance(value, Mapping | TenantEncryptionKey) else "platform"


Encryption = Annotated[
    Annotated[Literal["platform"], Tag("platform")] | Annotated[TenantEncryptionKey, Tag("key")],
    Discriminator(_encryption_kind),
]


def _known_tier(name: str, info: ValidationInfo) -> str:
    known = (info.context or {}).get("tiers")
    if known is not None and name not in known:
        choices = ", ".join(sorted(known)) or "none"
        raise PydanticCustomError("tier", "must be a tier of tiers.yaml ({known})", {"known": choices})
    return name


def _file_id(name: str, info: ValidationInfo) -> str:
    stem = (info.context or {}).get("stem")
    if stem is not None and name != stem:
        raise PydanticCustomError("id", "must be the file's name without .yaml ('{stem}')", {"stem": stem})
    return name


class Tenant(FileModel):
    """One tenant file."""

    id: Annotated[str, Field(pattern=TENANT_ID), AfterValidator(_file_id)]
    name: Annotated[str, Field(min_length=1, max_length=100, description="For people.")]
    tier: Annotated[str, Field(pattern=TIER_NAME), AfterValidator(_known_tier)]
    status: Annotated[
        Literal["active", "suspended"], Field(description="A suspended tenant's requests are refused (403).")
    ] = "active"
    stages: Annotated[
        tuple[Annotated[str, Field(pattern=STAGE)], ...],
        Field(min_length=1, description="Where the tenant exists."),
        AfterValidator(distinct),
    ]
    keys: Annotated[
        tuple[Annotated[ApiKey, BeforeValidator(_named_key, json_schema_input_type=str | ApiKey)], ...],
        Field(min_length=1, max_length=MAX_KEYS, description="API keys; two at once is a rotation."),
        AfterValidator(_unique_names),
    ]
    subscriptions: Annotated[
        tuple[Subscription, ...], Field(description="Who gets the tenant's events."), AfterValidator(distinct)
    ] = ()
    operations: Operations = Operations()
    alarms: Alarms = Alarms()
    dashboard: Annotated[
        Literal["dedicated", "shared"],
        Field(description="'shared' makes no dashboard of the tenant's own, which costs less."),
    ] = "dedicated"
    encryption: Annotated[Encryption, Field(description="'platform', or a key of the tenant's own.")] = (
        "platform"
    )
    synthetic: Annotated[bool, Field(description="Made for storms: no real traffic.")] = False

    @property
    def kms_key_arn(self) -> str | None:
        """The ARN of the tenant's own key for its topic, or None for the platform's key."""
        return self.encryption.kms_key_arn if isinstance(self.encryption, TenantEncryptionKey) else None


class TierLimits(FileModel):
    """The limits of one tier. Rate, burst and quota count per API key (API Gateway usage plans)."""

    rate_per_second: Annotated[
        float, Field(gt=0, allow_inf_nan=False, description="Steady requests a second.")
    ]
    burst: Annotated[int, Field(ge=1, le=MAX_INT32, description="Requests at once above the rate.")]
    quota_per_month: Annotated[int, Field(ge=1, le=MAX_INT32, description="Requests in a calendar month.")]
    body_limit_bytes: Annotated[
        int, Field(ge=MIN_BODY_BYTES, le=MAX_BODY_BYTES, description="Largest request body.")
    ]


class Tier(TierLimits):
    """A tier by name."""

    name: Annotated[str, Field(pattern=TIER_NAME)]


class TiersFile(RootModel[dict[Annotated[str, Field(pattern=TIER_NAME)], TierLimits]]):
    """tiers.yaml: limits by tier name."""

    model_config = ConfigDict(frozen=True, strict=True)
