"""What a sender of webhooks needs on the local platform: an address, and a secret that is there."""

from collections.abc import Iterable

from ops.local.outputs import Webhooks
from ops.tenant_secrets import WEBHOOKS, TenantSecrets, generated
from tenants.models import Tenant


def provide(tenants: Iterable[Tenant], secrets: TenantSecrets, api_url: str) -> dict[str, Webhooks]:
    """Give a random secret to every source that has none; returns all of them by tenant and source."""
    known = secrets.read_all()
    found: dict[str, Webhooks] = {}
    for tenant in tenants:
        sources = {}
        for source, settings in tenant.operations.webhooks.sources.items():
            name = WEBHOOKS + source
            values = known.get((tenant.id, name))
            if not values:
                values = (generated(tenant, name),)
                secrets.put(tenant.id, name, values)
            sources[source] = {
                "url": f"{api_url}/v1/webhooks/{tenant.id}/{source}",
                "scheme": settings.proof_scheme,
                "header": settings.header,
                "secret": values[0],
            }
        found[tenant.id] = sources
    return found
