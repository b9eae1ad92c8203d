"""The tenants of a soak: as many as are asked for, each the sample tenant of storms under another name."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final

from ops.stages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

# It has all five operations, and the tier whose rate and quota no storm meets.
_SAMPLE: Final = "storm-a"
_SAMPLES: Final = ROOT / "tenants"
# Beside a tenant's own file: what its tier means.
_TIERS: Final = "tiers.yaml"


def tenant_ids(count: int) -> tuple[str, ...]:
    """The ids of so many tenants, sorted: `soak-001`, `soak-002` and so on."""
    return tuple(f"soak-{number:03}" for number in range(1, count + 1))


def write_tenants(directory: Path, count: int) -> None:
    """Write the files of so many tenants, and their tiers; those of an earlier soak go."""
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob("soak-*.yaml"):
        old.unlink()
    shutil.copy(_SAMPLES / _TIERS, directory)
    sample = (_SAMPLES / f"{_SAMPLE}.yaml").read_text(encoding="utf-8")
    for tenant_id in tenant_ids(count):
        text = sample.replace(_SAMPLE, tenant_id).replace("Storm tenant A", f"Soak tenant {tenant_id}")
        (directory / f"{tenant_id}.yaml").write_text(text, encoding="utf-8")
