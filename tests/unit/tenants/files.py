"""Tenant directories for the tests: a valid base, changed one line at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tenants.errors import Fault, TenantFileError
from tenants.loader import load_all

if TYPE_CHECKING:
    from pathlib import Path

    from tenants.operations import Operations
    from tenants.webhooks import WebhookSource

TIERS = """\
small:
  ratePerSecond: 10
  burst: 20
  quotaPerMonth: 1000
  bodyLimitBytes: 2048
"""
TENANT = """\
id: acme
name: Acme
tier: small
stages: [local, dev]
keys: [server]
"""


def directory(tmp_path: Path, *, tiers: str = TIERS, **tenants: str) -> Path:
    """Write tiers.yaml and one file per keyword (`acme=` becomes acme.yaml)."""
    (tmp_path / "tiers.yaml").write_text(tiers, encoding="utf-8")
    for name, text in tenants.items():
        (tmp_path / f"{name.replace('_', '-')}.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def faults_of(path: Path) -> tuple[Fault, ...]:
    """What `load_all` finds wrong; fails the test when it finds nothing."""
    with pytest.raises(TenantFileError) as caught:
        load_all(path)
    return caught.value.faults


def spelt(path: Path) -> list[str]:
    """The faults as `name:line: field: rule`, without the directory."""
    return [str(fault).removeprefix(f"{path}/") for fault in faults_of(path)]


def operations(tmp_path: Path, text: str) -> Operations:
    """The settings of a tenant whose file says `text` under `operations`."""
    (tenant,) = load_all(directory(tmp_path, acme=f"{TENANT}operations:\n  {text}\n")).tenants
    return tenant.operations


def source(tmp_path: Path, text: str) -> WebhookSource:
    """The webhook source `forms` of a tenant whose file says `text` of it."""
    return operations(tmp_path, f"webhooks: {{sources: {{forms: {text}}}}}").webhooks.sources["forms"]


def check(tmp_path: Path, text: str, field: str, rule: str) -> None:
    """`text` under `operations` has one fault, at `field`, and its rule says `rule`."""
    (fault,) = faults_of(directory(tmp_path, acme=f"{TENANT}operations:\n  {text}\n"))
    assert fault.field == f"operations.{field}"
    assert rule in fault.rule
    assert fault.line == len(TENANT.splitlines()) + 2
