"""Tenants' secrets: SecureString parameters `/onceward/<stage>/<tenantId>/<name>`, one secret a line.

The newest is the first line. A second line is the one before it: both are taken while a sender changes over.
"""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from infra.naming import Names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from mypy_boto3_ssm import SSMClient

    from tenants.models import Tenant
    from tenants.webhooks import WebhookSource

# SSM's standard tier holds 4 KB (Parameter Store quotas), and a rotation needs two secrets in it.
MAX_SECRET_BYTES: Final = 2_000

# Whoever has one signed message tries secrets at home, billions a second: less than this is guessed by then
# even where its characters are random. GitHub and Shopify check no length, so nobody else would say so.
MIN_SIGNING_CHARACTERS: Final = 16

# One that is sent as it is can only be tried against the other side, one request each.
MIN_SENT_CHARACTERS: Final = 8

# 24 to 64 bytes, says the Standard Webhooks specification; 32 fill an HMAC-SHA256 key.
_RANDOM_BYTES: Final = 32

# Headers carry visible ASCII without loss; HMAC keys are text of that kind too.
_VISIBLE: Final = re.compile(r"[\x21-\x7e]+")

_SIGNING: Final = frozenset({"standard-webhooks", "github", "stripe", "shopify"})
"""The schemes whose secret is an HMAC key; with the others the secret itself is sent."""

_SIGNING_PREFIX: Final = "whsec_"

WEBHOOKS: Final = "webhooks/"
"""What the names of senders' proofs start with."""


class SecretError(ValueError):
    """A secret or its name cannot be used; the message says why and never holds the secret."""


@dataclass(frozen=True)
class Listed:
    """A secret as a list shows it. `version` and `changed` are None for one that has no value yet.

    `named`: whether the tenant's file has a use for it.
    """

    name: str
    version: int | None
    changed: datetime | None
    named: bool


class TenantSecrets:
    """The parameters of one stage. What boto3 raises goes through."""

    def __init__(self, client: SSMClient, stage: str) -> None:
        names = Names(stage)
        self._client = client
        self._prefix = names.secrets_prefix
        # The stage's own key by its alias: whoever may use the stage's data may use its secrets.
        self._key = f"alias/{names.platform('data')}"

    def read(self, tenant_id: str, name: str) -> tuple[str, ...]:
        """The secrets under a name, newest first; none if there is no value."""
        try:
            answer = self._client.get_parameter(Name=self._place(tenant_id, name), WithDecryption=True)
        except self._client.exceptions.ParameterNotFound:
            return ()
        return _lines(answer["Parameter"]["Value"])

    def read_all(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """Every secret of the stage by tenant and name."""
        pages = self._client.get_paginator("get_parameters_by_path").paginate(
            Path=self._prefix, Recursive=True, WithDecryption=True
        )
        found = {}
        for parameter in (each for page in pages for each in page["Parameters"]):
            tenant_id, _, name = parameter["Name"].removeprefix(self._prefix).partition("/")
            found[tenant_id, name] = _lines(parameter["Value"])
        return found

    def put(self, tenant_id: str, name: str, values: Iterable[str]) -> int:
        """Write secrets, newest first, over what was there; returns the parameter's version."""
        answer = self._client.put_parameter(
            Name=self._place(tenant_id, name),
            Value="\n".join(values),
            Type="SecureString",
            KeyId=self._key,
            Overwrite=True,
        )
        return answer["Version"]

    def remove(self, tenant_id: str, name: str) -> bool:
        """Delete it; False if there was none."""
        try:
            self._client.delete_parameter(Name=self._place(tenant_id, name))
        except self._client.exceptions.ParameterNotFound:
            return False
        return True

    def listed(self, tenant: Tenant) -> list[Listed]:
        """What the tenant has, and what its file names and has no value; by name."""
        place = self._place(tenant.id, "")
        pages = self._client.get_paginator("describe_parameters").paginate(
            ParameterFilters=[{"Key": "Path", "Option": "Recursive", "Values": [place.rstrip("/")]}]
        )
        named = set(names_of(tenant))
        found = {
            name: Listed(name, parameter["Version"], parameter["LastModifiedDate"], name in named)
            for page in pages
            for parameter in page["Parameters"]
            for name in [parameter["Name"].removeprefix(place)]
        }
        missing = {name: Listed(name, None, None, named=True) for name in named - found.keys()}
        return [each for _, each in sorted((found | missing).items())]

    def _place(self, tenant_id: str, name: str) -> str:
        return f"{self._prefix}{tenant_id}/{name}"


def names_of(tenant: Tenant) -> Mapping[str, str]:
    """The names that the tenant's file has a use for, and what each secret is."""
    operations = tenant.operations
    names = {}
    for source, settings in operations.webhooks.sources.items():
        names[WEBHOOKS + source] = f"the sender's proof ({settings.proof_scheme})"
        if settings.destination is not None:
            names[f"destinations/{WEBHOOKS}{source}"] = "a bearer token for the destination, if it wants one"
    if operations.orders.destination is not None:
        names["destinations/orders"] = "a bearer token for the destination, if it wants one"
    if operations.payments is not None:
        names["payments/provider"] = "a bearer token for the provider, if it wants one"
    return names


def check(tenant: Tenant, name: str, secret: str) -> None:
    """Refuse a secret that could never do its work. Raises SecretError."""
    if not _VISIBLE.fullmatch(secret):
        raise SecretError("a secret is one line of visible ASCII characters, without spaces")
    if len(secret) > MAX_SECRET_BYTES:
        raise SecretError(f"a secret has at most {MAX_SECRET_BYTES} characters")
    source = source_of(tenant, name)
    scheme = None if source is None else source.proof_scheme
    if scheme == "basic" and not secret.partition(":")[2]:
        raise SecretError("a secret of scheme 'basic' is user:password")
    if scheme == "standard-webhooks" and not _is_base64(secret.removeprefix(_SIGNING_PREFIX)):
        raise SecretError(f"a secret of scheme 'standard-webhooks' is {_SIGNING_PREFIX} and base64")
    _check_length(scheme, secret)


def _check_length(scheme: str | None, secret: str) -> None:
    """Count only what has to be guessed: no fixed prefix, and no user, who is no secret."""
    if scheme in _SIGNING:
        shortest, guessed = MIN_SIGNING_CHARACTERS, secret.removeprefix(_SIGNING_PREFIX)
    else:
        shortest, guessed = MIN_SENT_CHARACTERS, secret.partition(":")[2] if scheme == "basic" else secret
    if len(guessed) < shortest:
        raise SecretError(
            f"a secret for this has at least {shortest} characters (after a whsec_ or user:), better more: "
            "--generate makes one"
        )


def generated(tenant: Tenant, name: str) -> str:
    """A random secret in the form that its use asks for."""
    source = source_of(tenant, name)
    scheme = None if source is None else source.proof_scheme
    if scheme in ("standard-webhooks", "stripe"):
        return _SIGNING_PREFIX + base64.b64encode(secrets.token_bytes(_RANDOM_BYTES)).decode()
    token = secrets.token_urlsafe(_RANDOM_BYTES)
    return f"{tenant.id}:{token}" if scheme == "basic" else token


def source_of(tenant: Tenant, name: str) -> WebhookSource | None:
    """The source whose sender the secret proves; None for a secret that we send."""
    if not name.startswith(WEBHOOKS):
        return None
    return tenant.operations.webhooks.sources.get(name.removeprefix(WEBHOOKS))


def _is_base64(text: str) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True))
    except binascii.Error:
        return False


def _lines(value: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in value.splitlines() if line.strip())
