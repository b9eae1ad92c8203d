"""A platform whose tenant files a test may edit."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import httpx
import psutil
import pytest

from ops.local.emulator import free_port
from ops.local.form import FormSite
from ops.local.platform import LocalPlatform
from tests.builders import LEAD
from tests.platform_fixture import TENANTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ops.local.summary import UpdateSummary


class Site:
    """A platform of its own with tenant files that a test may edit."""

    def __init__(self, directory: Path) -> None:
        self.home = directory / "home"
        self.tenants = directory / "tenants"
        self.form = FormSite(free_port(), tenant="alpha", tenant_name="Alpha", key="web")
        shutil.copytree(TENANTS, self.tenants)
        self.edit("alpha", "origins: [", f"origins: [{self.form.origin}, ")
        self.said: list[str] = []
        self.platform = self.another()

    def another(self) -> LocalPlatform:
        """The same platform as another command would see it."""
        return LocalPlatform(self.home, self.tenants, form=self.form, owned=True, say=self.said.append)

    def up(self) -> UpdateSummary:
        self.said.clear()
        return self.platform.up()

    def edit(self, tenant: str, old: str, new: str) -> None:
        path = self.tenants / f"{tenant}.yaml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def post(self, tenant: str, key: str = "server", *, idempotency_key: str = "once") -> httpx.Response:
        outputs = self.platform.outputs()
        headers = {"x-api-key": outputs.tenants[tenant].keys[key], "Idempotency-Key": idempotency_key}
        return httpx.post(
            f"{outputs.api_url}/v1/leads", json=LEAD, headers=headers, timeout=30, trust_env=False
        )

    def get(self, tenant: str, path: str) -> httpx.Response:
        outputs = self.platform.outputs()
        headers = {"x-api-key": outputs.tenants[tenant].keys["server"]}
        return httpx.get(f"{outputs.api_url}{path}", headers=headers, timeout=30, trust_env=False)

    def processes(self) -> list[psutil.Process]:
        """Every process whose command line or directory is in this home."""
        found = []
        for process in psutil.process_iter(["pid", "cmdline", "cwd", "environ"]):
            known = (
                process.info["cmdline"] or [],
                process.info["cwd"],
                (process.info["environ"] or {}).get("TMPDIR"),
            )
            if str(self.home) in str(known) and process.pid != psutil.Process().pid:
                found.append(process)
        return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    running = Site(tmp_path_factory.mktemp("local"))
    try:
        running.up()
        yield running
    finally:
        running.platform.down()
