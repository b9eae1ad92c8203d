"""A tenant's API keys."""

from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from tenants.file_model import FileModel
from tenants.text import Origin, distinct

# One letter is a name too; the outer bounds keep `onceward-<stage>-<tenant>_<key>` under 100 characters.
KEY_NAME: Final = r"^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$"
# Two is a rotation; usage plans count per key, so more keys would multiply the tier's rate.
MAX_KEYS: Final = 2

Permission = Literal[
    "*",
    "leads:create",
    "leads:read",
    "orders:create",
    "orders:read",
    "payments:create",
    "payments:read",
    "appointments:create",
    "appointments:read",
    "webhook-events:read",
    "receipts:read",
]


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


_KeyInFile = Annotated[str, Field(pattern=KEY_NAME)] | ApiKey


def _named_key(value: Any) -> Any:  # noqa: ANN401 (whatever the file holds)
    """Let a bare name stand for a key that may do everything."""
    return {"name": value} if isinstance(value, str) else value


def _unique_names(keys: tuple[ApiKey, ...]) -> tuple[ApiKey, ...]:
    distinct(tuple(key.name for key in keys))
    return keys


Keys = Annotated[
    tuple[Annotated[ApiKey, BeforeValidator(_named_key, json_schema_input_type=_KeyInFile)], ...],
    Field(min_length=1, max_length=MAX_KEYS, description="API keys; two at once is a rotation."),
    AfterValidator(_unique_names),
]
