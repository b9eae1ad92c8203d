"""Who gets a tenant's events: e-mail, HTTPS or SQS, each with an optional SNS filter policy."""

import json
import math
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from tenants.file_model import FileModel
from tenants.text import OnlyStages

# The message attributes that every event carries; a filter on any other would never match.
Attribute = Literal["type", "tenantId", "eventId"]
# SNS: "The total combination of values in a policy must not exceed 150" (subscription filter policies).
_MAX_COMBINATIONS: Final = 150
EMAIL: Final = r"^[^@\s]+@[^@\s]+\.[^@\s]+$"
HTTPS: Final = r"^https://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[1-9][0-9]{0,4})?([/?][^\s#]*)?$"
# A FIFO queue cannot subscribe to a standard topic, hence no `.fifo`. SQS names are at most 80 characters.
SQS_ARN: Final = r"^arn:aws[a-z-]*:sqs:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,80}$"


class FilterCondition(FileModel):
    """One SNS string condition: exactly one operator."""

    prefix: str | None = None
    suffix: str | None = None
    anything_but: Annotated[tuple[str, ...] | None, Field(alias="anything-but", min_length=1)] = None
    equals_ignore_case: Annotated[str | None, Field(alias="equals-ignore-case")] = None
    exists: bool | None = None

    @model_validator(mode="after")
    def _one_operator(self) -> Self:
        if len(self.model_fields_set) != 1 or None in self.model_dump(exclude_unset=True).values():
            raise PydanticCustomError("operator", "must hold exactly one operator, with a value")
        return self


def _value_kind(value: object) -> str:
    return "text" if isinstance(value, str) else "condition"


FilterValue = Annotated[
    Annotated[str, Tag("text")] | Annotated[FilterCondition, Tag("condition")], Discriminator(_value_kind)
]
FilterPolicy = dict[Attribute, Annotated[tuple[FilterValue, ...], Field(min_length=1)]]


def _few_combinations(policy: FilterPolicy) -> FilterPolicy:
    combinations = math.prod(len(values) for values in policy.values())
    if combinations > _MAX_COMBINATIONS:
        raise PydanticCustomError(
            "combinations",
            "must have at most {most} combinations of values (has {has})",
            {"most": _MAX_COMBINATIONS, "has": combinations},
        )
    return policy


class _Subscription(FileModel):
    stages: OnlyStages = None
    filter_policy: Annotated[
        FilterPolicy | None,
        Field(min_length=1, description="Only events whose attributes match; left out: all."),
        AfterValidator(lambda policy: policy and _few_combinations(policy)),
    ] = None

    def filter_policy_json(self) -> str | None:
        """The filter policy as SNS takes it (JSON text, scope MessageAttributes), or None for all events."""
        if self.filter_policy is None:
            return None
        plain: dict[str, Any] = self.model_dump(by_alias=True, exclude_unset=True, mode="json")[
            "filterPolicy"
        ]
        return json.dumps(plain, separators=(",", ":"), sort_keys=True)

    def __hash__(self) -> int:
        return hash(self.model_dump_json())


class EmailSubscription(_Subscription):
    """An address; its owner confirms the subscription from a message that SNS sends."""

    protocol: Literal["email"]
    endpoint: Annotated[str, Field(pattern=EMAIL, max_length=254)]


class HttpsSubscription(_Subscription):
    """An HTTPS address; it confirms by itself, in its own time, and checks the signature of what it gets."""

    protocol: Literal["https"]
    endpoint: Annotated[str, Field(pattern=HTTPS, max_length=2048)]


class SqsSubscription(_Subscription):
    """A standard queue of the stage's account and region, by ARN; its policy has to let the topic send."""

    protocol: Literal["sqs"]
    endpoint: Annotated[str, Field(pattern=SQS_ARN)]


Subscription = Annotated[
    EmailSubscription | HttpsSubscription | SqsSubscription, Field(discriminator="protocol")
]
