"""The whole Pulumi program on the local AWS: updates, restarts, interruptions, and what is left behind."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from typing import TYPE_CHECKING

import boto3
import httpx
import psutil
import pytest

from ops.local.emulator import free_port
from ops.local.errors import InvalidInputError, LocalPlatformError
from ops.local.form import FormSite
from ops.local.platform import LocalPlatform
from ops.local.state import State
from ops.local.urn import name_of
from tests.builders import LEAD
from tests.platform_fixture import TENANTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ops.local.summary import UpdateSummary

pytestmark = pytest.mark.platform


class Site:
    """A platform of its own with tenant files that a test may edit."""

    def __init__(self, directory: Path) -> None:
        self.home = directory / "home"
        self.tenants = directory / "tenants"
        self.form = FormSite(free_port(), tenant="alpha", tenant_name="Alpha", key="web")
        shutil.copytree(TENANTS, self.tenants)
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

    def post(self, tenant: str, key: str = "server") -> httpx.Response:
        outputs = self.platform.outputs()
        headers = {"x-api-key": outputs.tenants[tenant].keys[key], "Idempotency-Key": "once"}
        return httpx.post(
            f"{outputs.api_url}/v1/leads", json=LEAD, headers=headers, timeout=30, trust_env=False
        )

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


def tenants_in(*groups: tuple[str, ...]) -> set[str]:
    """The tenants whose resources the URNs are, by logical name."""
    return {name_of(urn).split(".")[0] for group in groups for urn in group}


def test_a_second_up_with_nothing_changed_changes_nothing(site: Site) -> None:
    summary = site.up()
    assert summary.changes == 0
    assert len(summary.unchanged) == len(State(site.home / "state.json").entries) > 150
    assert site.said == []
    assert site.another().up().changes == 0


@pytest.mark.parametrize("tenant", ["aaa", "zzz"])
def test_a_new_tenant_file_makes_its_resources_only_and_its_removal_deletes_them(
    site: Site, tenant: str
) -> None:
    text = (site.tenants / "beta.yaml").read_text().replace("id: beta", f"id: {tenant}")
    (site.tenants / f"{tenant}.yaml").write_text(text)
    made = site.up()
    assert tenants_in(made.created) == {tenant}
    assert made.changes == len(made.created) > 8
    assert site.post(tenant).status_code == 201
    (site.tenants / f"{tenant}.yaml").unlink()
    removed = site.up()
    assert set(removed.deleted) == set(made.created)
    assert removed.changes == len(removed.deleted)


def test_an_edited_tenant_file_changes_its_resources_only(site: Site) -> None:
    site.edit("gamma", "keys: [server]", "keys: [server, second]")
    added = site.up()
    assert tenants_in(added.created, added.updated, added.replaced, added.deleted) == {"gamma"}
    assert {name_of(urn) for urn in added.created} >= {"gamma.key.second"}
    assert site.post("gamma", "second").status_code == 201
    site.edit("gamma", "keys: [server, second]", "keys: [server]")
    removed = site.up()
    assert tenants_in(removed.deleted) == {"gamma"}
    assert "second" not in site.platform.outputs().tenants["gamma"].keys


def test_a_wrong_tenant_file_stops_the_update_before_anything_is_made(site: Site) -> None:
    (site.tenants / "bad.yaml").write_text("id: bad\n")
    before = (site.home / "state.json").read_bytes()
    try:
        with pytest.raises(InvalidInputError, match=r"bad\.yaml:1: keys: is required"):
            site.up()
    finally:
        (site.tenants / "bad.yaml").unlink()
    assert (site.home / "state.json").read_bytes() == before
    assert site.up().changes == 0


def test_what_holds_secrets_is_readable_by_the_user_only(site: Site) -> None:
    assert site.home.stat().st_mode & 0o777 == 0o700
    for name in ("local.json", "state.json", "emulator.json", "emulator.log", "form-config.json"):
        assert (site.home / name).stat().st_mode & 0o777 == 0o600, name


def test_no_secret_is_in_a_command_line_or_a_log(site: Site) -> None:
    site.post("alpha")
    outputs = site.platform.outputs()
    secrets = [outputs.secret_access_key, *(v for t in outputs.tenants.values() for v in t.keys.values())]
    shown = [" ".join(process.cmdline()) for process in site.processes()]
    shown += [path.read_text() for path in site.home.glob("*.log")]
    assert len(shown) > 2
    assert [s for s in secrets if any(s in text for text in shown)] == []


def test_the_outputs_file_is_what_the_contract_says(site: Site) -> None:
    document = json.loads((site.home / "local.json").read_text())
    assert document.keys() == {
        *("apiUrl", "endpointUrl", "accessKeyId", "secretAccessKey", "region", "stage"),
        *("tables", "functions", "tenants"),
    }
    assert document["tables"].keys() == {"receipts", "records", "tenants"}
    assert document["tenants"]["alpha"].keys() >= {"keys", "topicArn", "auditQueueUrl"}


def test_the_form_is_served_with_the_publishable_key_and_nothing_else(site: Site) -> None:
    def get(path: str) -> bytes:
        with urllib.request.urlopen(f"{site.form.url}{path}", timeout=5) as answer:
            assert answer.headers["Cache-Control"] == "no-store"
            content: bytes = answer.read()
            return content

    outputs = site.platform.outputs()
    assert json.loads(get("config.json")) == {
        "apiUrl": outputs.api_url,
        "tenantName": "Alpha",
        "apiKey": outputs.tenants["alpha"].keys["web"],
    }
    assert b"<form" in get("")
    for path in ("../home/local.json", "%2e%2e/%2e%2e/pyproject.toml", "local.json"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get(path)


def test_two_commands_at_once_are_refused_rather_than_mixed(site: Site) -> None:
    import fcntl

    with (site.home / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(LocalPlatformError, match="another command"):
            site.another().up()
        with pytest.raises(LocalPlatformError, match="another command"):
            site.another().down()


def test_after_down_and_up_everything_is_as_it_was(site: Site) -> None:
    first = site.post("alpha")
    api_url = site.platform.outputs().api_url
    site.platform.down()
    assert site.processes() == []
    assert not site.platform.status().running
    assert site.up().changes == 0
    assert site.platform.outputs().api_url == api_url
    again = site.post("alpha")
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["Idempotent-Replayed"] == "true"


def test_down_leaves_no_process_behind_not_even_a_functions(site: Site) -> None:
    site.post("alpha")
    assert len(site.processes()) >= 4  # the emulator, the form, and at least two functions' workers
    site.platform.down()
    assert site.processes() == []
    site.platform.down()
    site.up()


def test_an_emulator_that_was_killed_is_made_anew_and_said_so(site: Site) -> None:
    site.edit("gamma", "name: Gamma", "name: Gamma Renamed")
    site.up()  # a change since the emulator last saved its state
    record = json.loads((site.home / "emulator.json").read_text())
    process = psutil.Process(record["process"]["pid"])
    process.kill()
    process.wait(10)
    summary = site.up()
    assert any("made anew" in line for line in site.said)
    assert summary.changes == len(summary.created) > 150
    assert site.post("alpha").status_code == 201


INTERRUPTED = """
import pathlib, sys
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
        summary = platform.up()
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
        assert len(mappings) == 2, "a mapping made twice would hand everything over twice"
    finally:
        platform.down()


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0
