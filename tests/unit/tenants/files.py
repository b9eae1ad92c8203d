"""Tenant directories for the tests: a valid base, changed one line at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tenants.errors import Fault, TenantFileError
from tenants.loader import load_all

if TYPE_CHECKING:
    from pathlib import Path

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
