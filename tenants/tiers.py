"""The tiers that tenant files name."""

from typing import Annotated, Final

from pydantic import ConfigDict, Field, RootModel

from tenants.file_model import FileModel

TIER_NAME: Final = r"^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$"
# 128 KiB: the receipt keeps the answer and the record beside each other in one 400 KB DynamoDB item.
MAX_BODY_BYTES: Final = 131_072
# Under 1 KiB not even a small lead fits.
MIN_BODY_BYTES: Final = 1_024
# API Gateway takes the burst and the quota as 32-bit integers.
MAX_INT32: Final = 2_147_483_647


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

    model_config = ConfigDict(frozen=True, strict=True, json_schema_extra={"additionalProperties": False})
