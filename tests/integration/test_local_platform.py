"""The whole Pulumi program on the local AWS: what an update does, and what it leaves in files."""

from __future__ import annotations

import fcntl
import json
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

import boto3
import pytest

from ops.local.errors import InvalidInputError, LocalPlatformError
from ops.local.state import State
from ops.local.urn import name_of
from tests.integration.local_site import site

if TYPE_CHECKING:
    from tests.integration.local_site import Site

__all__ = ["site"]

pytestmark = pytest.mark.platform


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
    files = ("local.json", "state.json", "emulator.json", "emulator.log", "form-config.json")
    for name in (*files, "stand-in.json", "stand-in.log"):
        assert (site.home / name).stat().st_mode & 0o777 == 0o600, name


def test_no_secret_is_in_a_command_line_or_a_log(site: Site) -> None:
    site.post("alpha")
    outputs = site.platform.outputs()
    secrets = [outputs.secret_access_key, *(v for t in outputs.tenants.values() for v in t.keys.values())]
    secrets += [sender.secret for t in outputs.tenants.values() for sender in t.webhooks.values()]
    shown = [" ".join(process.cmdline()) for process in site.processes()]
    shown += [path.read_text() for path in site.home.glob("*.log")]
    assert len(shown) > 2
    assert [s for s in secrets if any(s in text for text in shown)] == []


def test_the_outputs_file_is_what_the_contract_says(site: Site) -> None:
    document = json.loads((site.home / "local.json").read_text())
    assert document.keys() == {
        *("apiUrl", "endpointUrl", "accessKeyId", "secretAccessKey", "region", "stage"),
        *("tables", "functions", "tenants", "standInUrl"),
    }
    assert document["tables"].keys() == {"receipts", "records", "tenants", "slots"}
    assert document["tenants"]["alpha"].keys() >= {"keys", "topicArn", "auditQueueUrl", "webhooks"}
    sender = document["tenants"]["alpha"]["webhooks"]["events"]
    assert sender["url"] == f"{document['apiUrl']}/v1/webhooks/alpha/events"
    assert (sender["scheme"], sender["secret"][:6]) == ("standard-webhooks", "whsec_")


def test_a_new_source_gets_a_secret_and_the_functions_know_where_the_stand_in_is(site: Site) -> None:
    before = site.platform.outputs()
    site.edit(
        "beta", "synthetic:", "operations: { webhooks: { sources: { new: { preset: stripe } } } }\nsynthetic:"
    )
    site.up()
    after = site.platform.outputs()
    assert after.tenants["alpha"].webhooks == before.tenants["alpha"].webhooks
    aws = boto3.client(
        "ssm",
        endpoint_url=after.endpoint_url,
        region_name=after.region,
        aws_access_key_id=after.access_key_id,
        aws_secret_access_key=after.secret_access_key,
    )
    put = aws.get_parameter(Name="/onceward/local/beta/webhooks/new", WithDecryption=True)["Parameter"]
    assert (put["Type"], put["Value"]) == ("SecureString", after.tenants["beta"].webhooks["new"].secret)
    environments = {
        name.split("::")[-1]: entry.inputs["environment"]["variables"]
        for name, entry in State(site.home / "state.json").entries.items()
        if "aws:lambda/function:Function" in name
    }
    told = {name for name, known in environments.items() if known.get("STAND_IN_URL") == after.stand_in_url}
    assert told == {"execute-function", "deliver-function", "fulfil-function"}


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


def test_a_form_that_the_key_would_refuse_is_not_served_and_the_field_to_edit_is_named(site: Site) -> None:
    site.edit("alpha", f"origins: [{site.form.origin}, ", "origins: [")
    try:
        site.up()
        assert site.platform.status().form_url is None
        refused = [line for line in site.said if line.startswith("No lead form")]
        assert len(refused) == 1
        assert f"{site.form.origin} is not among the origins of alpha's key web" in refused[0]
        assert "keys[1].origins" in refused[0]
        assert str(site.tenants / "alpha.yaml") in refused[0]
    finally:
        site.edit("alpha", "origins: [", f"origins: [{site.form.origin}, ")
        site.up()
    assert site.platform.status().form_url == site.form.url


def test_two_commands_at_once_are_refused_rather_than_mixed(site: Site) -> None:
    with (site.home / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(LocalPlatformError, match="another command"):
            site.another().up()
        with pytest.raises(LocalPlatformError, match="another command"):
            site.another().down()
