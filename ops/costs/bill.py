"""A month's bill, split by what it grows with: nothing, tenants, requests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from infra import prices
from ops.costs.traffic import usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infra.observability import Observability
    from infra.prices import Price
    from ops.costs.traffic import Site, Traffic


@dataclass(frozen=True)
class Plan:
    """What is to be paid for.

    Attributes:
        platform: observability that is there without a tenant.
        tenants: observability of all tenants together.
    """

    traffic: Traffic
    site: Site
    platform: Observability
    tenants: Observability


@dataclass(frozen=True)
class Line:
    """One service's dollars a month: whatever there is, for the tenants, for their requests."""

    service: str
    standing: float
    tenants: float
    requests: float

    @property
    def usd(self) -> float:
        """All three."""
        return self.standing + self.tenants + self.requests


@dataclass(frozen=True)
class Bill:
    """The lines by service, and what they add up to."""

    plan: Plan
    lines: tuple[Line, ...]

    @property
    def total(self) -> Line:
        """All services."""
        return Line(
            "in all",
            sum(line.standing for line in self.lines),
            sum(line.tenants for line in self.lines),
            sum(line.requests for line in self.lines),
        )

    @property
    def usd_per_million_requests(self) -> float | None:
        """What a million requests more cost at this size; None without requests."""
        sent = self.plan.traffic.requests
        return self.total.requests / sent * 1e6 if sent else None

    @property
    def usd_per_tenant(self) -> float | None:
        """What a tenant costs before it sends anything, on average; None without tenants."""
        tenants = self.plan.traffic.tenants
        return self.total.tenants / tenants if tenants else None


def bill(plan: Plan) -> Bill:
    """Price the plan: what is there anyway, then what tenants add, then what requests add."""
    nobody = replace(plan.traffic, requests=0, tenants=0)
    nothing = replace(plan.traffic, requests=0)
    standing = _by_service(nobody, plan.site, plan.platform)
    with_tenants = _by_service(nothing, plan.site, plan.platform + plan.tenants)
    all_of_it = _by_service(plan.traffic, plan.site, plan.platform + plan.tenants)
    return Bill(
        plan,
        tuple(
            Line(
                service,
                standing[service],
                with_tenants[service] - standing[service],
                usd - with_tenants[service],
            )
            for service, usd in all_of_it.items()
        ),
    )


def _by_service(traffic: Traffic, site: Site, observed: Observability) -> dict[str, float]:
    used: dict[Price, float] = dict(usage(traffic, site))
    for price, quantity in observed.charged.items():
        used[price] = used.get(price, 0) + quantity
    return prices.by_service(used)


def document(made: Bill) -> dict[str, Any]:
    """The bill as JSON: dollars rounded to cents, with the prices and where each is from."""
    total = made.total
    return {
        "currency": "USD",
        "region": prices.REGION,
        "pricesReadOn": prices.READ_ON.isoformat(),
        "tenants": made.plan.traffic.tenants,
        "requests": made.plan.traffic.requests,
        "duplicates": made.plan.traffic.duplicates,
        "mix": dict(made.plan.traffic.mix),
        "services": {line.service: _parts(line) for line in made.lines},
        "total": _parts(total),
        "perMillionRequests": _cents(made.usd_per_million_requests),
        "perTenant": _cents(made.usd_per_tenant),
        "prices": [_price(each) for each in prices.PRICES],
    }


def _parts(line: Line) -> Mapping[str, float | None]:
    return {
        "standing": _cents(line.standing),
        "tenants": _cents(line.tenants),
        "requests": _cents(line.requests),
        "usd": _cents(line.usd),
    }


def _cents(usd: float | None) -> float | None:
    return None if usd is None else round(usd, 2)


def _price(each: Price) -> dict[str, Any]:
    told = {"service": each.service, "unit": each.unit, "usd": each.usd, "page": each.page, "read": each.read}
    return told | ({"doubt": each.doubt} if each.doubt else {})
