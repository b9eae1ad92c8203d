"""The shape of a tenant file and of tiers.yaml.

Names are camelCase in the files and snake_case here. Every model is frozen and refuses unknown fields.
Validation is strict: the text "10" is not a number and `yes` is not a truth value.
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from tenants.alarm_rules import AlarmRule, Alarms, ShareRule
from tenants.file_model import FileModel
from tenants.keys import ApiKey, Keys
from tenants.operations import Operations
from tenants.subscriptions import Subscription
from tenants.text import STAGE, OnlyStages, distinct
from tenants.tiers import TIER_NAME, Tier, TierLimits, TiersFile

__all__ = [
    "AlarmRule",
    "Alarms",
    "ApiKey",
    "Operations",
    "ShareRule",
    "Subscription",
    "Tenant",
    "TenantEncryptionKey",
    "Tier",
    "TierLimits",
    "TiersFile",
]

TENANT_ID: Final = r"^[a-z][a-z0-9-]{1,30}[a-z0-9]$"
DISPLAY_NAME: Final = r"^\S(.*\S)?$"
# Only whole keys: a grant on an alias would follow it to a key that nobody reviewed.
KMS_KEY_ARN: Final = r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]{1,128}$"


class TenantEncryptionKey(FileModel):
    """A KMS key of the tenant's own for its topic, in the stage's account and region.

    The key's policy has to let two roles of the platform use it through SNS (`kms:GenerateDataKey` and
    `kms:Decrypt`): `dispatch`, and `notify`, which publishes the events of orders.
    """

    kms_key_arn: Annotated[str, Field(pattern=KMS_KEY_ARN)]
    stages: OnlyStages = None


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


def _distinct_endpoints(subscriptions: tuple[Subscription, ...]) -> tuple[Subscription, ...]:
    """Refuse an endpoint that is there twice, whatever its filters: SNS keeps one subscription for each."""
    distinct(tuple(f"{each.protocol} {each.endpoint}" for each in subscriptions))
    return subscriptions


class Tenant(FileModel):
    """One tenant file."""

    id: Annotated[str, Field(pattern=TENANT_ID), AfterValidator(_file_id)]
    name: Annotated[str, Field(pattern=DISPLAY_NAME, max_length=100, description="For people.")]
    tier: Annotated[str, Field(pattern=TIER_NAME), AfterValidator(_known_tier)]
    status: Annotated[
        Literal["active", "suspended"], Field(description="A suspended tenant's requests are refused (403).")
    ] = "active"
    stages: Annotated[
        tuple[Annotated[str, Field(pattern=STAGE)], ...],
        Field(min_length=1, description="Where the tenant exists."),
        AfterValidator(distinct),
    ]
    keys: Keys
    subscriptions: Annotated[
        tuple[Subscription, ...],
        Field(description="Who gets the tenant's events."),
        AfterValidator(_distinct_endpoints),
    ] = ()
    operations: Operations = Operations()
    alarms: Alarms = Alarms()
    dashboard: Annotated[
        Literal["dedicated", "shared"],
        Field(description="'shared' makes no dashboard of the tenant's own, which costs less."),
    ] = "dedicated"
    metrics: Annotated[
        Literal["standard", "detailed"],
        Field(description="'detailed' counts everything by operation too; each of these series costs."),
    ] = "standard"
    encryption: Annotated[Encryption, Field(description="'platform', or a key of the tenant's own.")] = (
        "platform"
    )
    synthetic: Annotated[bool, Field(description="Made for storms: no real traffic.")] = False

    @model_validator(mode="after")
    def _parts_are_where_the_tenant_is(self) -> Self:
        limited = [(f"subscriptions[{n}].stages", each.stages) for n, each in enumerate(self.subscriptions)]
        if isinstance(self.encryption, TenantEncryptionKey):
            limited.append(("encryption.stages", self.encryption.stages))
        for field, stages in limited:
            elsewhere = sorted(set(stages or ()) - set(self.stages))
            if elsewhere:
                raise PydanticCustomError(
                    "elsewhere",
                    "{field} must be among the tenant's stages (has {elsewhere})",
                    {"field": field, "elsewhere": ", ".join(elsewhere)},
                )
        return self

    def subscriptions_on(self, stage: str) -> tuple[Subscription, ...]:
        """The subscriptions that are made on `stage`."""
        return tuple(each for each in self.subscriptions if each.stages is None or stage in each.stages)

    def kms_key_on(self, stage: str) -> str | None:
        """The ARN of the tenant's own key for its topic on `stage`, or None for the platform's key."""
        key = self.encryption
        if not isinstance(key, TenantEncryptionKey) or (key.stages is not None and stage not in key.stages):
            return None
        return key.kms_key_arn
