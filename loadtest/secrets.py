"""What the senders of a stormed tenant's webhooks sign with: read where the platform reads it.

Each process finds them by itself, as it finds API keys (`loadtest.target`), and keeps them in memory: they
are in no argument and in no file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from loadtest.signing import SOURCES
from loadtest.target import TargetError

if TYPE_CHECKING:
    from loadtest.target import Target, TargetTenant


def with_webhooks(target: Target, tenants: tuple[TargetTenant, ...]) -> tuple[TargetTenant, ...]:
    """The tenants with the secrets of `loadtest.signing.SOURCES`.

    Raises:
        TargetError: one of them cannot be read (names the tenant and the source, and what to do).
    """
    ssm = boto3.Session().client("ssm", **target.client_options())

    def secret(tenant: TargetTenant, source: str) -> str:
        name = f"/onceward/{target.stage}/{tenant.tenant_id}/webhooks/{source}"
        try:
            value: str = ssm.get_parameter(Name=name, WithDecryption=True)["Parameter"]["Value"]
        except (ClientError, BotoCoreError) as error:
            # No names of ours in AWS's own message would help; the parameter's name does.
            raise TargetError(
                f"tenant {tenant.tenant_id}: the secret of webhook source {source} cannot be read ({name}): "
                f"{type(error).__name__}; set it with `onceward secrets set`, or storm other --operations"
            ) from error
        # One secret a line, newest first: in a rotation senders sign with the new one.
        return value.split("\n", 1)[0].strip()

    return tuple(
        replace(tenant, webhook_secrets={source: secret(tenant, source) for source in SOURCES})
        for tenant in tenants
    )
