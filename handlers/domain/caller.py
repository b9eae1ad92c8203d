"""Who is calling: the authorizer's context, parsed once into one frozen value."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeGuard

from handlers.domain.errors import OncewardError
from handlers.domain.json_text import parsed
from handlers.domain.metric_catalogue import DETAILED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handlers.domain.json_text import JsonValue

# The same rule as the tenant files (DESIGN section 2): with no `#` in it, the first `#` of a stored
# key always ends the tenant. A context that breaks it is refused rather than joined into a key.
TENANT_ID: Final = re.compile(r"[a-z][a-z0-9-]{1,30}[a-z0-9]")

# No more than a number of DynamoDB has; Python reads no more than 4,300 of them.
DIGITS: Final = re.compile(r"[0-9]{1,38}")

EVERY_OPERATION: Final = "*"
"""The operations entry that stands for all of them."""

KeySource: TypeAlias = Literal["header", "header-or-body", "fields"]
"""Where an operation's idempotency key comes from: `header` only, or the body's hash if there is none, or
chosen fields of the body (a header is not looked at then)."""

KEYED_OPERATIONS: Final = frozenset({"leads", "orders", "payments", "appointments"})
"""This release's operations that are called with an API key. Others in the settings are of a later release,
which shares the registry with this one during an update (docs/adr/0093)."""


class MalformedContext(OncewardError):
    """The authorizer's context lacks a field or has another shape: our fault, not the caller's."""


@dataclass(frozen=True, slots=True)
class OperationSettings:
    """What a tenant has set for one operation, defaults filled in.

    `window_seconds`: how long a key is remembered, seconds, at least 1.
    `key_source`: see `KeySource`; `key_fields`: JMESPath expressions over the body, for `fields`.
    `body_limit_bytes`: the largest body, bytes, where it is below the tier's.
    `options`: what is the operation's own (a payment provider's address), as the registry stores it.
    """

    window_seconds: int
    key_source: KeySource
    key_fields: tuple[str, ...] = ()
    body_limit_bytes: int | None = None
    options: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated tenant and what its key may do.

    `operations`: permission words such as `leads:create`, or `*` for all.
    `origins`: the web origins (`https://example.com`) that the key works from; empty means any.
    `body_limit_bytes`: the largest request body of the tier, bytes.
    `operation_settings`: by operation name (`leads`); an operation that is not there has its defaults.
    `detailed_metrics`: whether the tenant has its metrics in detail.
    """

    tenant_id: str
    key_name: str
    operations: frozenset[str]
    origins: frozenset[str]
    body_limit_bytes: int
    operation_settings: Mapping[str, OperationSettings]
    detailed_metrics: bool = False

    @classmethod
    def from_context(cls, context: Mapping[str, object] | None) -> Caller:
        """Parse `event.requestContext.authorizer` of a REST API, whose values are all strings.

        Raises `MalformedContext`, naming the field, for a context that our authorizer does not make.
        """
        fields = context or {}
        tenant_id = _text(fields, "tenantId")
        if not TENANT_ID.fullmatch(tenant_id):
            raise MalformedContext("tenantId: not a tenant id")
        return cls(
            tenant_id=tenant_id,
            key_name=_text(fields, "keyName"),
            operations=_words(_text(fields, "operations")),
            origins=_words(_text(fields, "origins", empty=True)),
            body_limit_bytes=_positive(_text(fields, "bodyLimitBytes")),
            operation_settings=parse_operation_settings(_text(fields, "operationSettings")),
            # Not in the context of an earlier release, nor of most tenants.
            detailed_metrics=fields.get("metrics") == DETAILED,
        )


def parse_operation_settings(text: str) -> dict[str, OperationSettings]:
    """Parse `{"leads": {"windowSeconds": 86400, "keySource": "header"}}`, as the registry stores it.

    `keyFields` mean the key source `fields`, whatever `keySource` says. What is not known is not looked at.
    Raises `MalformedContext`, naming the operation and the field.
    """
    try:
        document = parsed(text)
    except ValueError:
        raise MalformedContext("operationSettings: not JSON") from None
    if not isinstance(document, dict):
        raise MalformedContext("operationSettings: not an object")
    known = KEYED_OPERATIONS & document.keys()
    return {name: _operation(name, document[name]) for name in known}


def _operation(name: str, settings: object) -> OperationSettings:
    place = f"operationSettings.{name}"
    if not isinstance(settings, dict):
        raise MalformedContext(f"{place}: not an object")
    source = settings.get("keySource")
    if not _is_key_source(source):
        raise MalformedContext(f"{place}.keySource: not header, header-or-body or fields")
    window = _count(settings.get("windowSeconds"), f"{place}.windowSeconds")
    if window is None:
        raise MalformedContext(f"{place}.windowSeconds: missing")
    fields = _key_fields(settings.get("keyFields"), source, f"{place}.keyFields")
    return OperationSettings(
        window_seconds=window,
        # The registry says `header` beside them, for functions of a release that knows no `fields`.
        key_source="fields" if fields else source,
        key_fields=fields,
        body_limit_bytes=_count(settings.get("bodyLimitBytes"), f"{place}.bodyLimitBytes"),
        options=_options(settings.get("options", {}), f"{place}.options"),
    )


def _is_key_source(value: object) -> TypeGuard[KeySource]:
    return value in ("header", "header-or-body", "fields")


def _count(value: object, place: str) -> int | None:
    # bool is an int in Python; `true` is no number of seconds or bytes.
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise MalformedContext(f"{place}: not a whole number >= 1")
    return value


def _key_fields(value: object, source: KeySource, place: str) -> tuple[str, ...]:
    if value is None and source != "fields":
        return ()
    # With no field at all every request would have the same key.
    if not isinstance(value, list) or not value or not all(isinstance(each, str) and each for each in value):
        raise MalformedContext(f"{place}: not a list of expressions")
    return tuple(value)


def _options(value: object, place: str) -> Mapping[str, JsonValue]:
    if not isinstance(value, dict):
        raise MalformedContext(f"{place}: not an object")
    return value


def _text(fields: Mapping[str, object], name: str, *, empty: bool = False) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not (value or empty):
        raise MalformedContext(f"{name}: missing or not text")
    return value


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in text.split(",") if word)


def _positive(text: str) -> int:
    # Digits first: int() would also take " 7", "+7" and "1_000".
    if not DIGITS.fullmatch(text) or int(text) < 1:
        raise MalformedContext("bodyLimitBytes: not a whole number >= 1")
    return int(text)
