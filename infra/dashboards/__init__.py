"""Dashboard bodies as data: the platform's, one for any tenant, and one for a tenant that has its own."""

from infra.dashboards.first_steps import Place
from infra.dashboards.platform import platform_body
from infra.dashboards.tenant import any_tenant_body, tenant_body

__all__ = ["Place", "any_tenant_body", "platform_body", "tenant_body"]
