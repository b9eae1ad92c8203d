"""The stand-in's process: what outlives a restart, and that nothing holds up its end."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx
import pytest

from ops.local.emulator import can_listen
from ops.local.errors import LocalPlatformError
from ops.local.stand_in.process import StandIn
from tests.unit.stand_in.conftest import CHARGE, CHARGES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def stand_in(tmp_path: Path, told: list[str]) -> Iterator[StandIn]:
    made = StandIn(tmp_path, owned=True, say=told.append)
    yield made
    made.stop()


@pytest.fixture
def told() -> list[str]:
    return []


def charge(url: str) -> httpx.Response:
    return httpx.post(url + CHARGES, json=CHARGE, headers={"Idempotency-Key": "k"}, trust_env=False)


def test_a_restart_keeps_address_charges_keys_and_entities(stand_in: StandIn, tmp_path: Path) -> None:
    assert stand_in.url() is None
    assert stand_in.planned_url() == "http://127.0.0.1:0"
    url = stand_in.start()
    assert stand_in.start() == url == stand_in.url() == stand_in.planned_url()
    made = charge(url)
    httpx.put(url + "/crm.example/contacts/1", json={"n": 1}, trust_env=False)
    stand_in.stop()
    stand_in.stop()
    assert stand_in.url() is None
    assert (tmp_path / "stand-in" / "state.json").stat().st_mode & 0o777 == 0o600
    assert stand_in.start() == url
    again = charge(url)
    assert (again.json(), again.headers["Idempotent-Replayed"]) == (made.json(), "true")
    assert httpx.get(url + "/crm.example/contacts/1", trust_env=False).json() == {"n": 1}
    stand_in.stop()
    stand_in.forget()
    assert stand_in.planned_url() == "http://127.0.0.1:0"
    assert list(tmp_path.glob("stand-in*")) == [tmp_path / "stand-in.log"]


def test_a_cut_connection_does_not_keep_its_port_from_the_next_start(
    stand_in: StandIn, told: list[str]
) -> None:
    url = stand_in.start()
    httpx.put(url + "/_stand-in/faults", json=[{"fault": "lose-answer"}], trust_env=False)
    with pytest.raises(httpx.RemoteProtocolError):
        charge(url)
    stand_in.stop()
    assert stand_in.start() == url
    assert told == []


def test_a_port_that_somebody_has_taken_is_changed_and_said(
    stand_in: StandIn, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ops.local.stand_in.process.FREED_SECONDS", 0.0)
    url = stand_in.start()
    stand_in.stop()
    port = int(url.rpartition(":")[2])
    deadline = time.monotonic() + 10
    while not can_listen(port):  # what ends lets go of its port a moment later
        assert time.monotonic() < deadline
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", port))
        other.listen()
        moved = stand_in.start()
    assert moved != url
    new = moved.rpartition(":")[2]
    assert told == [f"Port {port} of the stand-in is taken by another process: it answers on {new} now."]
    assert charge(moved).status_code == 201


def test_a_stand_in_that_ends_at_once_names_its_port_and_what_to_do(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # between the choice of the port and the child's bind
        port = taken.getsockname()[1]
        monkeypatch.setattr("ops.local.stand_in.process.free_port", lambda: port)
        with pytest.raises(LocalPlatformError, match=f"on port {port}.*onceward local up --home"):
            stand_in.start()


def test_a_call_that_hangs_and_idle_connections_do_not_hold_up_its_end(stand_in: StandIn) -> None:
    url = stand_in.start()
    with httpx.Client(base_url=url, timeout=60, trust_env=False) as client, ThreadPoolExecutor(1) as pool:
        client.put("/_stand-in/faults", json=[{"fault": "hang", "times": 1}])
        hanging = pool.submit(client.get, "/crm.example/contacts/1")
        while client.get("/_stand-in/faults").json()["faults"][0]["times"]:
            assert not hanging.done()
        began = time.monotonic()
        stand_in.stop()
        assert time.monotonic() - began < 5
        assert isinstance(hanging.exception(timeout=10), httpx.TransportError)
