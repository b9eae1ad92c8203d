"""A local AWS of a module's own, and a tap before it for each test that asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bench.counts import Meter
from bench.local_aws import REGION, connect
from bench.wire import tapped
from ops.local.emulator import Emulator
from tests.integration.at_the_wire import AtTheWire

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def behind_the_wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    emulator = Emulator(tmp_path_factory.mktemp("wire"), REGION)
    yield emulator.start()
    emulator.stop()


@pytest.fixture
def at_the_wire(behind_the_wire: Any) -> Iterator[AtTheWire]:
    endpoint = behind_the_wire
    with tapped(endpoint.url) as wire:
        clients = connect(wire.url, endpoint.access_key_id, endpoint.secret_access_key)
        yield AtTheWire(wire, clients, Meter(wire, clients))
