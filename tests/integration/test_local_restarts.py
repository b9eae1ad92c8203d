"""The local platform stopped, killed and interrupted: nothing stays behind, and it goes on where it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import boto3
import httpx
import psutil
import pytest

from ops.local.errors import LocalPlatformError
from ops.local.platform import LocalPlatform
from ops.local.state import State
from tests.integration.local_site import site
from tests.platform_fixture import TENANTS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.local_site import Site

__all__ = ["site"]

pytestmark = pytest.mark.platform


def test_after_down_and_up_everything_is_as_it_was(site: Site) -> None:
    first = site.post("alpha")
    before = site.platform.outputs()
    upsert = f"{before.stand_in_url}/crm.example/contacts/1"
    assert httpx.put(upsert, json={"n": 1}, trust_env=False).status_code == 201
    site.platform.down()
    assert site.processes() == []
    assert not site.platform.status().running
    assert not (site.home / "local.json").exists()
    summary = site.up()
    # Only the stream's mapping, since the stream itself is gone, and the alarm that names it.
    assert [urn.split("::")[-1] for urn in summary.created] == ["receipts-stream"]
    assert [urn.split("::")[-1] for urn in summary.updated] == ["alarm-dispatch-given-up"]
    assert summary.changes == 2
    assert site.up().changes == 0
    # Addresses, keys, and what secrets and stand-in held.
    assert site.platform.outputs() == before
    assert httpx.get(upsert, trust_env=False).json() == {"n": 1}
    again = site.post("alpha")
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["Idempotent-Replayed"] == "true"


def test_what_is_accepted_after_down_and_up_is_dispatched(site: Site) -> None:
    for number in range(5):
        before = site.post("alpha", idempotency_key=f"before-{number}")
        # Dispatched, so that the emulator has a position in the stream to save.
        assert site.get("alpha", before.headers["Location"]).status_code == 200
    site.platform.down()
    site.up()
    for number in range(3):
        made = site.post("alpha", idempotency_key=f"after-{number}")
        # `read` waits for a record that is about to be there, and says 404 when none comes.
        assert site.get("alpha", made.headers["Location"]).status_code == 200


def test_down_leaves_no_process_behind_not_even_a_functions(site: Site) -> None:
    site.post("alpha")
    assert len(site.processes()) >= 5  # emulator, form, stand-in, and at least two functions' workers
    site.platform.down()
    assert site.processes() == []
    site.platform.down()
    site.up()


def kill_the_emulator(site: Site) -> None:
    record = json.loads((site.home / "emulator.json").read_text())
    process = psutil.Process(record["process"]["pid"])
    process.kill()
    process.wait(10)


def test_an_emulator_that_was_killed_is_made_anew_and_said_so(site: Site) -> None:
    site.edit("gamma", "name: Gamma", "name: Gamma Renamed")
    site.up()  # a change since the emulator last saved its state
    kill_the_emulator(site)
    summary = site.up()
    for line in (site.said[0], site.said[-1]):  # before two hundred lines of what is made, and after them
        assert "its data is lost (leads, receipts)" in line
        assert "new API keys and URL" in line
    assert summary.changes == len(summary.created) > 150
    assert site.post("alpha").status_code == 201


def test_an_emulator_killed_after_its_last_save_has_lost_what_it_accepted_even_if_no_resource_changed(
    site: Site,
) -> None:
    site.platform.down()
    site.up()
    site.post("alpha")
    started = (site.home / "emulator.json").stat().st_mtime
    for file in (site.home / "state.json", *(site.home / "emulator" / "state").glob("*.json")):
        os.utime(file, (started - 60, started - 60))  # all of it before the start
    kill_the_emulator(site)
    site.up()
    assert "its data is lost (leads, receipts)" in site.said[0]
    assert site.post("alpha").headers.get("Idempotent-Replayed") is None


def test_a_fresh_start_needs_nothing_of_what_was_there_not_even_a_readable_state(site: Site) -> None:
    before = site.platform.outputs()
    (site.home / "state.json").write_text("{")
    with pytest.raises(LocalPlatformError, match=r"state\.json.*start afresh"):
        site.up()
    summary = site.platform.up(fresh=True)
    assert summary.changes == len(summary.created) > 150
    assert site.platform.outputs().tenants["alpha"].keys != before.tenants["alpha"].keys
    assert site.post("alpha").status_code == 201


# Ctrl-C is heard, also where a shell has started all of this in the background, which ignores it.
INTERRUPTED = """
import pathlib, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from ops.local.errors import LocalPlatformError
from ops.local.platform import LocalPlatform
LocalPlatform(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])).up()
"""


@pytest.mark.parametrize(
    ("number", "made"), [(signal.SIGKILL, 120), (signal.SIGKILL, 30), (signal.SIGINT, 60)]
)
def test_an_interrupted_up_goes_on_where_it_was(tmp_path: Path, number: signal.Signals, made: int) -> None:
    home, journal = tmp_path / "home", tmp_path / "home" / "state.journal"
    arguments = [sys.executable, "-c", INTERRUPTED, str(home), str(TENANTS)]
    platform = LocalPlatform(home, TENANTS)
    try:
        with subprocess.Popen(arguments, stderr=subprocess.DEVNULL) as command:
            while command.poll() is None and _lines(journal) < made:
                time.sleep(0.002)
            command.send_signal(number)
            assert command.wait(timeout=60) != 0
        known = set(State(home / "state.json").entries)
        assert len(known) >= made / 3
        halfway = platform.status()
        assert (halfway.running, halfway.complete) == (True, False)
        assert "was interrupted; run it again" in (halfway.unfinished or "")
        summary = platform.up()
        assert platform.status().complete
        assert set(summary.unchanged) == known
        assert set(summary.created).isdisjoint(known)
        assert summary.changes == len(summary.created)
        assert platform.up().changes == 0
        outputs = platform.outputs()
        mappings = boto3.client(
            "lambda",
            endpoint_url=outputs.endpoint_url,
            region_name=outputs.region,
            aws_access_key_id=outputs.access_key_id,
            aws_secret_access_key=outputs.secret_access_key,
        ).list_event_source_mappings()["EventSourceMappings"]
        fed = [(mapping["FunctionArn"], mapping["EventSourceArn"]) for mapping in mappings]
        assert len(fed) == len(set(fed)) == 4, "a mapping made twice would hand everything over twice"
    finally:
        platform.down()


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0
