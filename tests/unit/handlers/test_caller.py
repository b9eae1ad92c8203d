"""The authorizer's context, parsed; and who may do what with it."""

from __future__ import annotations

import pytest

from handlers.domain import access
from handlers.domain.caller import Caller, MalformedContext, OperationSettings
from handlers.domain.errors import Forbidden

CONTEXT = {
    "tenantId": "acme",
    "tier": "pro",
    "keyName": "web",
    "operations": "leads:create,leads:read",
    "origins": "https://acme.example,https://www.acme.example",
    "bodyLimitBytes": "65536",
    "operationSettings": '{"leads":{"windowSeconds":86400,"keySource":"header-or-body"}}',
}


def test_a_context_becomes_a_caller() -> None:
    assert Caller.from_context(CONTEXT) == Caller(
        tenant_id="acme",
        key_name="web",
        operations=frozenset({"leads:create", "leads:read"}),
        origins=frozenset({"https://acme.example", "https://www.acme.example"}),
        body_limit_bytes=65536,
        operation_settings={"leads": OperationSettings(window_seconds=86400, key_source="header-or-body")},
    )


def test_settings_say_where_keys_come_from_limits_and_what_is_the_operations_own() -> None:
    settings = (
        '{"appointments":{"windowSeconds":10,"keySource":"header","keyFields":["doctorId","at"]},'
        '"payments":{"windowSeconds":60,"keySource":"header","bodyLimitBytes":2048,"options":{"lookup":true}}}'
    )
    assert Caller.from_context(CONTEXT | {"operationSettings": settings}).operation_settings == {
        "appointments": OperationSettings(10, "fields", key_fields=("doctorId", "at")),
        "payments": OperationSettings(60, "header", body_limit_bytes=2048, options={"lookup": True}),
    }


def test_the_key_source_fields_is_read_too_by_its_name() -> None:
    settings = '{"appointments":{"windowSeconds":10,"keySource":"fields","keyFields":["doctorId"]}}'
    read = Caller.from_context(CONTEXT | {"operationSettings": settings}).operation_settings
    assert read == {"appointments": OperationSettings(10, "fields", key_fields=("doctorId",))}


def test_no_origins_means_any_origin() -> None:
    caller = Caller.from_context(CONTEXT | {"origins": ""})
    assert caller.origins == frozenset()
    access.check(caller, "leads:create", "https://anywhere.example")
    access.check(caller, "leads:create", None)


# The tier is for whoever reads the context elsewhere: no function decides by its name.
@pytest.mark.parametrize("field", sorted(CONTEXT.keys() - {"tier"}))
def test_a_missing_field_is_named(field: str) -> None:
    context = {name: value for name, value in CONTEXT.items() if name != field}
    with pytest.raises(MalformedContext, match=field):
        Caller.from_context(context)


def test_no_context_at_all_is_malformed() -> None:
    with pytest.raises(MalformedContext, match="tenantId"):
        Caller.from_context(None)


@pytest.mark.parametrize("tenant", ["acme#x", "Acme", "a", "-acme", "acme-", "acme\n", "a" * 33])
def test_a_tenant_id_that_could_meet_another_key_is_malformed(tenant: str) -> None:
    with pytest.raises(MalformedContext, match="tenantId"):
        Caller.from_context(CONTEXT | {"tenantId": tenant})


@pytest.mark.parametrize("limit", ["0", "-1", "+7", " 7", "1_000", "seven", "7.0", "\u0667"])
def test_a_body_limit_is_a_plain_whole_number(limit: str) -> None:
    with pytest.raises(MalformedContext, match="bodyLimitBytes"):
        Caller.from_context(CONTEXT | {"bodyLimitBytes": limit})


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ("{", "not JSON"),
        ("[]", "not an object"),
        ('{"leads":7}', "leads: not an object"),
        ('{"leads":{"keySource":"header"}}', "windowSeconds"),
        ('{"leads":{"windowSeconds":true,"keySource":"header"}}', "windowSeconds"),
        ('{"leads":{"windowSeconds":0,"keySource":"header"}}', "windowSeconds"),
        ('{"leads":{"windowSeconds":10,"keySource":"cookie"}}', "keySource"),
        ('{"leads":{"windowSeconds":10,"keySource":"header","bodyLimitBytes":0}}', "bodyLimitBytes"),
        ('{"leads":{"windowSeconds":10,"keySource":"header","bodyLimitBytes":"9"}}', "bodyLimitBytes"),
        ('{"leads":{"windowSeconds":10,"keySource":"header","keyFields":"a"}}', "keyFields"),
        ('{"leads":{"windowSeconds":10,"keySource":"cookie","keyFields":["a"]}}', "keySource"),
        ('{"appointments":{"windowSeconds":10,"keySource":"fields"}}', "appointments.keyFields"),
        ('{"appointments":{"windowSeconds":10,"keySource":"fields","keyFields":[]}}', "keyFields"),
        ('{"appointments":{"windowSeconds":10,"keySource":"fields","keyFields":["a",7]}}', "keyFields"),
        ('{"payments":{"windowSeconds":10,"keySource":"header","options":[]}}', "payments.options"),
    ],
)
def test_operation_settings_that_mean_nothing_are_named(settings: str, named: str) -> None:
    with pytest.raises(MalformedContext, match=named):
        Caller.from_context(CONTEXT | {"operationSettings": settings})


def test_a_key_may_do_its_own_operations_only() -> None:
    caller = Caller.from_context(CONTEXT)
    access.check(caller, "leads:read", "https://acme.example")
    with pytest.raises(Forbidden, match="receipts:read"):
        access.check(caller, "receipts:read", "https://acme.example")


def test_a_star_may_do_everything() -> None:
    access.check(Caller.from_context(CONTEXT | {"operations": "*", "origins": ""}), "receipts:read", None)


@pytest.mark.parametrize(
    "origin",
    [None, "", "null", "https://evil.example", "https://acme.example.evil.example", "http://acme.example"],
)
def test_a_key_with_origins_works_from_nowhere_else(origin: str | None) -> None:
    with pytest.raises(Forbidden, match="origin"):
        access.check(Caller.from_context(CONTEXT), "leads:create", origin)
