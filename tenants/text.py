"""Rules about single values: web origins, and lists without repeats."""

import re
from collections.abc import Hashable
from typing import Annotated, Final, TypeVar

from pydantic import AfterValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

Item = TypeVar("Item", bound=Hashable)

STAGE: Final = r"^[a-z][a-z0-9]{1,11}$"
"""A stage's name (DESIGN section 4)."""

# As a browser sends it in `Origin` (RFC 6454): lower case, no path, no default port.
_ORIGIN: Final = re.compile(
    r"(?P<scheme>https?)://(?P<host>[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:(?P<port>[1-9][0-9]{0,4}))?"
)
# Plain http lets anyone on the way read the key; on the user's own machine there is no way.
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1"})
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_MAX_PORT: Final = 65_535


def distinct(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Return `items`, or refuse them if one comes twice."""
    seen: list[Item] = []
    for item in items:
        if item in seen:
            shown = item if isinstance(item, str) else "an entry"
            raise PydanticCustomError(
                "distinct", "must not repeat itself: {item} is there twice", {"item": shown}
            )
        seen.append(item)
    return items


def web_origin(value: str) -> str:
    """Return `value`, or refuse it if no browser would send it as an `Origin`, or if it is plain http."""
    match = _ORIGIN.fullmatch(value)
    if match is None:
        raise PydanticCustomError(
            "origin", "must be a web origin as browsers send it: https://host[:port], lower case, no path"
        )
    if match["scheme"] == "http" and match["host"] not in _LOOPBACK:
        raise PydanticCustomError("origin", "must be https (http only for localhost and 127.0.0.1)")
    port = int(match["port"] or 0)
    if port > _MAX_PORT:
        raise PydanticCustomError("origin", "must have a port of at most 65535")
    if port == _DEFAULT_PORTS[match["scheme"]]:
        raise PydanticCustomError(
            "origin", "must leave out the default port: browsers do, and would never match"
        )
    return value


Origin = Annotated[
    str,
    AfterValidator(web_origin),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": r"^https?://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[1-9][0-9]{0,4})?$",
            "examples": ["https://www.example.com"],
        }
    ),
]


OnlyStages = Annotated[
    tuple[Annotated[str, Field(pattern=STAGE)], ...] | None,
    Field(min_length=1, description="Only on these of the tenant's stages; left out: on all of them."),
    AfterValidator(lambda stages: stages and distinct(stages)),
]
"""For what belongs to one AWS account: stages may live in different ones."""
