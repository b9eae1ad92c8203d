"""A stand-in in a thread of the test's own process, and a client for it."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from ops.local.stand_in.server import Server
from ops.local.stand_in.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator

CHARGES = "/pay.example/v1/charges"
CHARGE = {"amount": 1999, "currency": "EUR", "paymentMethod": "pm_card", "reference": "r-1"}


@dataclass
class Bench:
    """The running stand-in. `release` ends every wait of its faults."""

    world: World
    client: httpx.Client
    release: threading.Event

    def charge(self, key: str | None = "k-1", **members: Any) -> httpx.Response:
        headers = {} if key is None else {"Idempotency-Key": key}
        return self.client.post(CHARGES, json=CHARGE | members, headers=headers)

    def charges(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.client.get("/_stand-in/charges").json()["charges"]
        return found

    def upserts(self) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get("/_stand-in/upserts").json()
        return found

    def faults(self, *faults: dict[str, Any]) -> None:
        assert self.client.put("/_stand-in/faults", json=list(faults)).status_code == 200

    def calls(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.client.get("/_stand-in/calls").json()["calls"]
        return found


@pytest.fixture
def bench() -> Iterator[Bench]:
    release = threading.Event()
    world = World(release.wait)
    with Server(0, world) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        limits = httpx.Limits(max_connections=100, max_keepalive_connections=100)
        url = f"http://127.0.0.1:{server.server_port}"
        with httpx.Client(base_url=url, limits=limits, timeout=20, trust_env=False) as client:
            yield Bench(world, client, release)
        release.set()
        server.shutdown()
        thread.join()
