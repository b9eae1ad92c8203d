"""The dashboards of a platform that runs: its own bodies, and what it measures while one looks."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from ops.dashboard.drawer import Drawer
from ops.dashboard.drawing import Asked
from ops.dashboard.sources import Live, live

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.api import Api
    from tests.platform_fixture import RunningPlatform

pytestmark = pytest.mark.platform

# Several looks of the collector, each as long as a busy machine makes it.
_PATIENCE_SECONDS = 120.0


@pytest.fixture
def source(platform: RunningPlatform) -> Iterator[Live]:
    found = live([platform.home])
    assert found is not None
    with found:
        yield found


def accepted(drawer: Drawer, tenant: str) -> float:
    """How many new requests of a tenant its dashboard shows, over the last hour."""
    drawn = drawer.dashboard("onceward-local_any-tenant", Asked("1h", values={"tenant": tenant}))
    (number,) = [each for each in drawn["widgets"] if each["title"] == "New requests"]
    assert number["view"] == "numbers"
    points: list[Any] = number["lines"][0]["points"]
    return float(points[-1][1]) if points else 0.0


def test_the_bodies_are_those_that_the_program_made(source: Live) -> None:
    names = list(source.bodies())
    assert {"onceward-local_platform", "onceward-local_any-tenant"} <= set(names)
    assert Drawer(source).listing()["live"]


def test_a_request_is_drawn_soon_after_it_was_made(source: Live, alpha: Api) -> None:
    drawer = Drawer(source)
    before = accepted(drawer, "alpha")
    assert alpha.post(idempotency_key=f"drawn-{uuid.uuid4().hex}").status_code == 201
    until = time.monotonic() + _PATIENCE_SECONDS
    while accepted(drawer, "alpha") < before + 1:
        assert time.monotonic() < until, "the request was not drawn"
        time.sleep(0.5)  # between looks: the collector has its own pace
    assert source.notice() is None


def test_the_alarms_of_the_platform_are_known(source: Live) -> None:
    (ringing,) = [
        each
        for each in Drawer(source).dashboard("onceward-local_platform", Asked())["widgets"]
        if each["title"] == "Rings now (what pages)"
    ]
    assert ringing["alarms"]
    assert [each["name"] for each in ringing["alarms"] if each["state"] == "UNKNOWN"] == []


def test_no_platform_is_no_source(tmp_path: Path) -> None:
    assert live([tmp_path]) is None
