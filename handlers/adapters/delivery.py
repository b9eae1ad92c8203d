"""A record's way to its tenant's destination."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from handlers.domain import destination
from handlers.domain.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from handlers.domain.destination import Addressee
    from handlers.domain.operation import SecretStore
    from handlers.domain.outbound import Outbound
    from handlers.domain.outbox import Delivery
    from handlers.domain.tenant_config import TenantConfig, TenantConfigs

# A destination that takes longer is as good as down, and nine more records may be waiting behind this one:
# ten times this fits a worker's two minutes (infra.timeouts).
CALL_SECONDS: Final = 8.0


@dataclass(frozen=True)
class Destinations:
    """Calls destinations. Registry and secrets are cached for a minute, so mostly it makes that one call."""

    tenants: TenantConfigs
    secrets: SecretStore
    outbound: Outbound
    addressee: Callable[[Delivery, TenantConfig | None], Addressee | None]

    def detailed(self, tenant_id: str) -> bool:
        """Whether a tenant has its metrics in detail; asks the registry as `send` does, and raises alike."""
        config = self.tenants.find(tenant_id)
        return config is not None and config.detailed_metrics

    def send(self, delivery: Delivery) -> bool:
        """Send a record where its tenant wants it; False when the tenant wants it nowhere.

        Raises:
            NotConfigured, SecretUnreadable, DestinationRefused, DestinationForbidden, NotSent, AnswerLost,
                CorruptItem: its own failures.
            Unavailable: registry or secrets cannot be read.
            Refused: the registry cannot be read: all tenants share that table.
        """
        addressee = self.addressee(delivery, self.tenants.find(delivery.tenant_id))
        if addressee is None:
            return False
        request = destination.upsert(delivery, addressee, self._secrets(delivery.tenant_id, addressee.secret))
        answer = self.outbound.call(
            request.method, request.url, request.headers, request.body, timeout_seconds=CALL_SECONDS
        )
        destination.check(answer)
        return True

    def _secrets(self, tenant_id: str, name: str) -> tuple[str, ...]:
        try:
            return tuple(self.secrets.find(tenant_id, name))
        except Refused as error:
            # One parameter a tenant and destination, each with a key of its own: what is refused here says
            # nothing of the next tenant's.
            raise destination.SecretUnreadable(
                f"the secret {name} of tenant {tenant_id} cannot be read: {error.reason}"
            ) from error
