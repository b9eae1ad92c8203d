"""What a request is recognised by: its key, its fingerprint, and what tells how another one differs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from handlers.domain import canonical_json, keys
from handlers.domain.fingerprint import body_hash, fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handlers.domain.caller import OperationSettings
    from handlers.domain.operation import Document


@dataclass(frozen=True)
class Identity:
    """Who a request is, to the receipts table.

    Attributes:
        key: from the header, or derived by the platform (`keys.derived`).
        fingerprint: what the key is used for (64 hex digits).
        members: the canonical JSON of each top-level member of the body; a refusal names those that differ.
        body_hash: of the whole body, only where the fingerprint does not cover it: a replay then tells
            whether the body is another.
        key_fields: the parts of the body that the key is made of, as configured; empty for any other key.
    """

    key: str
    fingerprint: str
    members: Mapping[str, bytes] = field(default_factory=dict)
    body_hash: str | None = None
    key_fields: tuple[str, ...] = ()


def of_request(operation: str, settings: OperationSettings, sent_key: str | None, body: Document) -> Identity:
    """The identity of a request whose fingerprint is its operation and its body.

    Args:
        sent_key: from the header, or None.

    Raises:
        InvalidKey: a key is required and none came.
        InvalidBody: the key is made of fields of the body, and one of them is not there.
    """
    members = canonical_json.members(body)
    canonical_body = canonical_json.joined(members)
    key = _key(operation, settings, sent_key, body, canonical_body)
    made_of = settings.key_fields if settings.key_source == "fields" else ()
    return Identity(key, fingerprint(operation, canonical_body), members, key_fields=made_of)


def _key(
    operation: str, settings: OperationSettings, sent: str | None, body: Document, canonical_body: bytes
) -> str:
    if settings.key_source == "fields":
        # Here, since most functions never need it and it is a good part of a cold start.
        from handlers.domain import key_fields

        return key_fields.key(operation, settings.key_fields, body)
    if sent is not None:
        return sent
    if settings.key_source == "header":
        raise keys.missing(operation)
    return keys.derived(operation, "body", body_hash(canonical_body))
