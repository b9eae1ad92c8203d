"""JSON in: the strict parser and the canonical form, against two implementations of RFC 8785; the schemas."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jcs
import rfc8785

from fuzz.target import Broken, Target, require
from handlers.domain import canonical_json
from handlers.domain.errors import InvalidBody
from handlers.operations import accepted, executed, webhooks
from tests.builders import LEAD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handlers.domain.json_text import JsonValue
    from handlers.domain.operation import Schema

_EXACT = 2**53
SCHEMAS: Mapping[str, Schema] = {
    **{each.name: each.schema for each in accepted.BY_RESOURCE.values()},
    **{each.name: each.schema for each in executed.BY_RESOURCE.values()},
    webhooks.WEBHOOKS.name: webhooks.WEBHOOKS.schema,
}
# For each, a body that fits.
BODIES: dict[str, Any] = {
    "leads": LEAD | {"budget": 1.5, "phone": "+1 202 555 0100"},
    "orders": {
        "customer": "c-1",
        "currency": "EUR",
        "items": [{"sku": "s", "quantity": 1, "unitPrice": 995}],
    },
    "payments": {"amount": 1999, "currency": "EUR", "paymentMethod": "pm_card"},
    "appointments": {"doctorId": "d-1", "patientId": "p-1", "startsAt": "2026-12-01T09:30:00+01:00"},
    "webhooks": {"id": "evt_1", "data": {"name": "Ada"}},
}


def check_canonical(body: bytes) -> None:
    """Parse and put in order: refused, or a value that Python reads too, in one canonical form."""
    try:
        value = canonical_json.parse(body)
    except InvalidBody as error:
        require(error.faults, "a refusal without a fault")
        return
    theirs = json.loads(body.decode(), object_pairs_hook=_once)
    # As text, for Python holds True for equal to 1, and 0.0 to -0.0.
    require(repr(theirs) == repr(value), "read otherwise than by Python")
    form = canonical_json.canonical(value)
    again = canonical_json.parse(form)
    require(canonical_json.canonical(again) == form, "the canonical form has another canonical form")
    if not _has_beyond_exact(value):
        require(_alike(again, value), "the canonical form is another value")
        require(form == rfc8785.dumps(theirs), "not as the package rfc8785 has it")
        require(form == jcs.canonicalize(theirs), "not as the package jcs has it")
    for spelled in (
        json.dumps(_reversed(value), indent=1),
        json.dumps(value, ensure_ascii=False, separators=(" ,\t", "\r: ")),
        canonical_json.as_sent(body),
    ):
        same = canonical_json.canonical(canonical_json.parse(spelled.encode()))
        require(same == form, "another spelling has another canonical form")


def check_schemas(body: bytes) -> None:
    """Each operation takes a body as it is, or lists its faults."""
    try:
        value = canonical_json.parse(body)
    except InvalidBody:
        return
    before = canonical_json.canonical(value)
    for name, schema in SCHEMAS.items():
        try:
            taken = schema(value)
            # A sender's event need not be an object; what is no object has no members to derive from.
            require(taken is value or (name == "webhooks" and taken == {}), "a body was changed")
        except InvalidBody as error:
            require(error.faults, "a refusal without a fault")
            require(all(fault.rule and fault.detail for fault in error.faults), "a fault that says nothing")
        require(canonical_json.canonical(value) == before, "a body was changed in place")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise Broken("a name twice in one object was taken")
    return dict(pairs)


def _alike(one: JsonValue, other: JsonValue) -> bool:
    """Whether they are one value; 1 and 1.0 are, 1 and true are not."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _has_beyond_exact(value: JsonValue) -> bool:
    """Whether a number is in it that two spellings of may differ: where our contract departs from the RFC."""
    if isinstance(value, dict):
        return any(map(_has_beyond_exact, value.values()))
    if isinstance(value, list):
        return any(map(_has_beyond_exact, value))
    return isinstance(value, int | float) and abs(value) >= _EXACT


def _reversed(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {name: _reversed(item) for name, item in reversed(value.items())}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


def _canonical_seeds() -> list[bytes]:
    return [
        *_bodies(),
        b"[1,1.0,1e0,-0,-0.0,0.1,1e21,1e-7,5e-324,1.7976931348623157e308,1e400]",
        b'{"\\ud83d\\ude00":1,"\\ufb33":2,"\\u20ac":3,"\\r":4,"1":5,"\\u0080":6}',
        b"[9007199254740991,9007199254740992,9007199254740993,123456789012345678901234567890]",
        b'[true,1,false,0,{"a":true}]',
        b'{"a":1,"a":2}',
        b'"\\ud800"',
        b"[" * 64 + b"]" * 64,
        b"[" * 65 + b"]" * 65,
        b"NaN",
        b"\xef\xbb\xbf{}",
    ]


def _bodies() -> list[bytes]:
    return [json.dumps(body).encode() for body in BODIES.values()]


CANONICAL = Target("canonical", check_canonical, _canonical_seeds)
SCHEMA = Target("schemas", check_schemas, _bodies)
