"""Callers of the running platform, one for each tenant of tests/tenants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.api import Api, new_client
from tests.e2e.stand_in import StandIn
from tests.e2e.webhooks import Sender

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import httpx

    from tests.platform_fixture import RunningPlatform


@pytest.fixture(scope="session")
def http_client() -> Iterator[httpx.Client]:
    """One connection pool for all callers."""
    with new_client() as client:
        yield client


@pytest.fixture(scope="session")
def caller(platform: RunningPlatform, http_client: httpx.Client) -> Callable[..., Api]:
    """`caller("alpha")` or `caller("alpha", "web")`: the API with that key."""

    def with_key(tenant: str, key: str = "server") -> Api:
        return Api(platform.outputs.api_url, platform.outputs.tenants[tenant].keys[key], http_client)

    return with_key


@pytest.fixture(scope="session")
def alpha(caller: Callable[..., Api]) -> Api:
    """Tenant alpha's server key."""
    return caller("alpha")


@pytest.fixture(scope="session")
def anonymous(platform: RunningPlatform, http_client: httpx.Client) -> Api:
    """No key."""
    return Api(platform.outputs.api_url, None, http_client)


@pytest.fixture(scope="session")
def sender(platform: RunningPlatform, http_client: httpx.Client) -> Callable[..., Sender]:
    """`sender("alpha", "stripe")`: that source of that tenant, with its secret."""

    def of(tenant: str, source: str) -> Sender:
        known = platform.outputs.tenants[tenant].webhooks[source]
        return Sender(known.url, known.scheme, known.secret, http_client)

    return of


@pytest.fixture(scope="session")
def stand_in(platform: RunningPlatform, http_client: httpx.Client) -> StandIn:
    """What answers for the tenants' provider and destinations."""
    url = platform.outputs.stand_in_url
    assert url is not None
    return StandIn(url, http_client)
