"""What the loader reads, and that it tells every fault of every file at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from tenants.errors import TenantFileError
from tenants.loader import load, load_all
from tests.unit.tenants.files import TENANT, TIERS, directory, faults_of, spelt

SAMPLES = Path(__file__).resolve().parents[3] / "tenants"


def test_the_sample_tenants_are_what_the_readme_promises() -> None:
    everything = load_all(SAMPLES)
    assert [tenant.id for tenant in everything.tenants] == [
        *("acme", "bluebird", "cobalt", "storm-a", "storm-b", "storm-c")
    ]
    acme, bluebird, cobalt, *storms = everything.tenants
    assert [key.name for key in acme.keys] == ["server", "web"]
    assert acme.keys[1].operations == ("leads:create",)
    assert "https://www.acme.example" in acme.keys[1].origins
    assert (acme.tier, acme.dashboard, acme.status) == ("pro", "dedicated", "active")
    assert (bluebird.tier, bluebird.dashboard) == ("starter", "shared")
    assert cobalt.status == "suspended"
    assert all(storm.synthetic and storm.tier == "storm" for storm in storms)
    assert not any(tenant.synthetic for tenant in (acme, bluebird, cobalt))


@pytest.mark.parametrize(("stage", "count"), [("local", 6), ("dev", 6), ("prod", 3), ("elsewhere", 0)])
def test_a_stage_gets_only_its_own_tenants_and_every_tier(stage: str, count: int) -> None:
    loaded = load(SAMPLES, stage)
    assert len(loaded.tenants) == count
    assert set(loaded.tiers) == {"starter", "pro", "storm"}


def test_the_synthetic_tenants_are_not_in_production() -> None:
    assert not any(tenant.synthetic for tenant in load(SAMPLES, "prod").tenants)


def test_what_a_file_leaves_out_has_the_documented_default(tmp_path: Path) -> None:
    (tenant,) = load_all(directory(tmp_path, acme=TENANT)).tenants
    assert (tenant.status, tenant.dashboard, tenant.encryption, tenant.synthetic) == (
        *("active", "dedicated", "platform"),
        False,
    )
    assert (tenant.kms_key_on("dev"), tenant.subscriptions) == (None, ())
    assert tenant.keys[0].operations == ("*",)
    assert (tenant.operations.leads.window_seconds, tenant.operations.leads.key_source) == (
        86_400,
        "header-or-body",
    )
    assert tenant.alarms.enabled is True
    assert (tenant.alarms.failed_deliveries.threshold, tenant.alarms.failed_requests.minutes) == (1, 5)


@pytest.mark.parametrize(("rule", "share"), [("failedRequests", 1), ("throttledRequests", 10)])
def test_a_threshold_of_its_own_leaves_the_share_as_it_is_without_one(
    tmp_path: Path, rule: str, share: int
) -> None:
    text = f"{TENANT}alarms: {{{rule}: {{threshold: 50, minutes: 7}}}}\n"
    tenants = load_all(directory(tmp_path, acme=text, other=TENANT.replace("acme", "other"))).tenants
    shares = [each.alarms.model_dump(by_alias=True)[rule]["sharePercent"] for each in tenants]
    assert shares == [share, share]


def test_a_loaded_tenant_cannot_be_changed(tmp_path: Path) -> None:
    (tenant,) = load_all(directory(tmp_path, acme=TENANT)).tenants
    with pytest.raises(ValidationError, match="frozen"):
        tenant.tier = "pro"  # type: ignore[misc] # what mypy refuses must fail at run time too
    with pytest.raises(ValidationError, match="frozen"):
        tenant.keys[0].name = "other"  # type: ignore[misc]


def test_a_key_of_the_tenants_own_encrypts_its_topic(tmp_path: Path) -> None:
    arn = "arn:aws:kms:eu-west-1:123456789012:key/0a1b2c3d-0000-1111-2222-333344445555"
    path = directory(tmp_path, acme=f"{TENANT}encryption:\n  kmsKeyArn: {arn}\n")
    assert load_all(path).tenants[0].kms_key_on("dev") == arn


def test_tenants_come_sorted_by_id_whatever_the_names_order(tmp_path: Path) -> None:
    names = ["zed", "ab-c", "abc", "ab1"]
    files = {name.replace("-", "_"): TENANT.replace("id: acme", f"id: {name}") for name in names}
    path = directory(tmp_path, **files)
    assert [tenant.id for tenant in load_all(path).tenants] == sorted(names)


def test_every_fault_of_every_file_is_in_one_error(tmp_path: Path) -> None:
    path = directory(
        tmp_path,
        tiers=TIERS + "big:\n  ratePerSecond: 0\n  burst: 1\n  quotaPerMonth: 1\n  bodyLimitBytes: 131073\n",
        acme=TENANT.replace("tier: small", "tier: gold") + "colour: red\n",
        bird=TENANT + "dashboard: none\n",
        cat="id: cat\nname: [\n",
        dog="",
    )
    (tmp_path / "eel.yml").touch()
    assert spelt(path) == [
        "acme.yaml:3: tier: must be a tier of tiers.yaml (big, small) (is 'gold')",
        "acme.yaml:6: colour: is not a known field",
        "bird.yaml:1: id: must be the file's name without .yaml ('bird') (is 'acme')",
        "bird.yaml:6: dashboard: must be 'dedicated' or 'shared' (is 'none')",
        "cat.yaml:3: yaml: while parsing a flow node, expected the node content, but found '<stream end>'",
        "dog.yaml:1: file: is empty",
        "eel.yml:1: file: must end in .yaml, or it would be ignored",
        "tiers.yaml:7: big.ratePerSecond: must be greater than 0 (is 0)",
        "tiers.yaml:10: big.bodyLimitBytes: must be less than or equal to 131072 (is 131073)",
    ]


def test_the_message_counts_the_faults_and_lists_them_one_a_line(tmp_path: Path) -> None:
    path = directory(tmp_path, acme=TENANT + "colour: red\n")
    with pytest.raises(TenantFileError, match=r"^1 fault in the tenant files:\n  .*acme\.yaml:6: colour: "):
        load_all(path)
    (path / "acme.yaml").write_text(TENANT + "colour: red\nsize: 3\n", encoding="utf-8")
    with pytest.raises(TenantFileError, match=r"^2 faults in the tenant files:\n.*\n.*acme\.yaml:7: size: "):
        load_all(path)


def test_a_fault_in_another_stages_tenant_stops_this_stage_too(tmp_path: Path) -> None:
    path = directory(tmp_path, acme=TENANT, bird=TENANT.replace("acme", "bird") + "status: gone\n")
    with pytest.raises(TenantFileError, match=r"bird\.yaml:6: status: "):
        load(path, "prod")


def test_tenants_are_not_blamed_for_a_missing_or_faulty_tiers_file(tmp_path: Path) -> None:
    path = directory(tmp_path, acme=TENANT, tiers="small: {burst: 1}\n")
    assert {fault.file for fault in faults_of(path)} == {str(path / "tiers.yaml")}
    (path / "tiers.yaml").unlink()
    assert spelt(path) == ["tiers.yaml:1: file: is missing"]


@pytest.mark.parametrize("name", ["nowhere", "file"])
def test_a_directory_that_is_none_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    assert spelt(tmp_path / name) == [f"{tmp_path / name}:1: file: must be a directory of tenant files"]


def test_a_file_that_is_not_utf8_or_not_readable_is_named(tmp_path: Path) -> None:
    path = directory(tmp_path)
    (path / "acme.yaml").write_bytes(b"id: \xff\n")
    (path / "bird.yaml").mkdir()
    assert spelt(path) == [
        "acme.yaml:1: file: must be UTF-8 (byte 4 is not)",
        "bird.yaml:1: file: cannot be read (Is a directory)",
    ]
