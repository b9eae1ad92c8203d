"""What the next update does to callers who are already known: refused at once, cached authorizer or not."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from ops.local.platform import LocalPlatform
from tests.e2e.api import Api, assert_problem, fresh_key, new_client
from tests.platform_fixture import TENANTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.platform


class Site:
    """A platform over tenant files that a test may edit."""

    def __init__(self, local: LocalPlatform, directory: Path) -> None:
        self.local = local
        self._directory = directory
        self._client = new_client()

    def edit(self, tenant: str, old: str, new: str) -> None:
        """Change a tenant's file and bring the platform up to it."""
        path = self._directory / f"{tenant}.yaml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        self.local.up()

    def caller(self, tenant: str, key: str = "server") -> Api:
        """The API with a key's present value."""
        outputs = self.local.outputs()
        return Api(outputs.api_url, outputs.tenants[tenant].keys[key], self._client)

    def close(self) -> None:
        """Stop everything."""
        self._client.close()
        self.local.down()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("changes")
    directory = home / "tenants"
    shutil.copytree(TENANTS, directory)
    local = LocalPlatform(home / "platform", directory, owned=True)
    local.up()
    running = Site(local, directory)
    yield running
    running.close()


@pytest.mark.parametrize("known_to_the_cache", [True, False])
def test_a_suspended_tenant_is_refused_on_the_first_request_and_let_in_again_with_its_old_key(
    site: Site, known_to_the_cache: bool
) -> None:
    tenant = "beta" if known_to_the_cache else "gamma"
    before = site.caller(tenant)
    if known_to_the_cache:
        assert before.post(idempotency_key=fresh_key()).status_code == 201
    site.edit(tenant, f"id: {tenant}\n", f"id: {tenant}\nstatus: suspended\n")
    assert_problem(before.post(idempotency_key=fresh_key()), 403, "forbidden")
    site.edit(tenant, "status: suspended\n", "")
    again = site.caller(tenant)
    assert again.key == before.key
    if known_to_the_cache:
        # The verdict from before the suspension is still the cached one, and the key is on its plan again.
        assert again.post(idempotency_key=fresh_key()).status_code == 201


@pytest.mark.parametrize("known_to_the_cache", [True, False])
def test_a_revoked_key_is_refused_on_the_first_request_and_the_other_key_goes_on(
    site: Site, known_to_the_cache: bool
) -> None:
    site.edit("strict", "keys: [server", "keys: [server, spare")
    spare, server = site.caller("strict", "spare"), site.caller("strict")
    if known_to_the_cache:
        assert spare.post(idempotency_key=fresh_key()).status_code == 201
    assert server.post(idempotency_key=fresh_key()).status_code == 201
    site.edit("strict", "keys: [server, spare", "keys: [server")
    assert_problem(spare.post(idempotency_key=fresh_key()), 403, "forbidden")
    assert server.post(idempotency_key=fresh_key()).status_code == 201


def test_a_removed_tenant_is_refused_and_its_neighbours_do_not_notice(site: Site) -> None:
    alpha, narrow = site.caller("alpha"), site.caller("narrow")
    assert narrow.post(idempotency_key=fresh_key()).status_code == 201
    (site._directory / "narrow.yaml").unlink()
    summary = site.local.up()
    assert {urn.split("::")[-1].split(".")[0] for urn in summary.deleted} == {"narrow"}
    assert not summary.created
    assert_problem(narrow.post(idempotency_key=fresh_key()), 403, "forbidden")
    assert alpha.post(idempotency_key=fresh_key()).status_code == 201
