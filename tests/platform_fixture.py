"""The platform that the platform tests share: one a session, on free ports, in a home of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from ops.local.platform import LocalPlatform

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.local.outputs import LocalOutputs

TENANTS = Path(__file__).parent / "tenants"
"""The tenant files that it runs with: made for tests, not the samples of the repository."""


@dataclass(frozen=True)
class RunningPlatform:
    """The platform, what its last `up` put out, and clients of its AWS as administrator."""

    local: LocalPlatform
    home: Path

    @property
    def outputs(self) -> LocalOutputs:
        """As of the last `up`."""
        return self.local.outputs()

    def client(self, service: str) -> Any:
        """A boto3 client."""
        known = self.outputs
        return boto3.client(
            service,
            endpoint_url=known.endpoint_url,
            aws_access_key_id=known.access_key_id,
            aws_secret_access_key=known.secret_access_key,
            region_name=known.region,
        )


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningPlatform]:
    """The local platform with the tenants of tests/tenants, stopped at the end of the session."""
    home = tmp_path_factory.mktemp("platform")
    local = LocalPlatform(home, TENANTS, owned=True)
    try:
        local.up()
        yield RunningPlatform(local, home)
    finally:
        local.down()
