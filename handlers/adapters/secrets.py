"""Tenants' secrets: SecureString parameters of SSM, one a name, one secret a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import boto3

from handlers.adapters.aws import CLIENT_CONFIG, translated
from handlers.adapters.timed_cache import KEPT_SECONDS, TimedCache

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient

# An operator who has just put the first secret is waiting for it; still, a source without one must not cost a
# call per request (SSM gives an account 40 GetParameter calls a second, its quotas page says).
_NONE_KEPT_SECONDS: Final = 5.0


class SsmSecrets:
    """`SecretStore` on SSM. What it reads is never logged, and no error of it repeats a value."""

    def __init__(
        self, prefix: str, client: SSMClient | None = None, cache: TimedCache[tuple[str, ...]] | None = None
    ) -> None:
        """`prefix`: `/onceward/<stage>/`."""
        self._prefix = prefix
        self._client: SSMClient = client or boto3.client("ssm", config=CLIENT_CONFIG)
        self._cache: TimedCache[tuple[str, ...]] = TimedCache() if cache is None else cache

    @property
    def reads(self) -> int:
        """How many reads of SSM were made in the life of this process."""
        return self._cache.reads

    def find(self, tenant_id: str, name: str) -> tuple[str, ...]:
        """See `SecretStore.find`."""
        place = f"{self._prefix}{tenant_id}/{name}"
        return self._cache.get(
            place, lambda: self._read(place), lambda found: KEPT_SECONDS if found else _NONE_KEPT_SECONDS
        )

    def _read(self, place: str) -> tuple[str, ...]:
        with translated("secrets"):
            try:
                answer = self._client.get_parameter(Name=place, WithDecryption=True)
            except self._client.exceptions.ParameterNotFound:
                return ()
        lines = (line.strip() for line in answer["Parameter"]["Value"].splitlines())
        return tuple(line for line in lines if line)
