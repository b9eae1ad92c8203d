"""Runs of the real program on the stages' real settings, with tenants made for the test."""

import functools
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import pulumi
from ruamel.yaml import YAML

from infra.naming import WORK_QUEUES, Names
from infra.program import REPOSITORY, declare, locate
from infra.settings import Settings, parse
from infra.stage import Stage
from tenants.loader import TenantSet, load
from tenants.models import Tenant
from tests.infra.engine import Registered, Run, run

STAGES = ("local", "dev", "prod")
# The platform's own, a tenant's audit queue is not among them.
QUEUES = (
    *("dispatch-retry", "dispatch-dlq", "delivery-dlq"),
    *(name for queue in WORK_QUEUES for name in (queue, f"{queue}-dlq")),
    "notify-dlq",
)


def config_of(stage: str) -> dict[str, str]:
    """The values of Pulumi.<stage>.yaml as the Pulumi CLI hands them to the program."""
    return dict(_read(stage))


@functools.cache
def _read(stage: str) -> Mapping[str, str]:
    """The same, read once: YAML takes a quarter of the time of a run."""
    loaded = YAML(typ="safe").load(REPOSITORY / f"Pulumi.{stage}.yaml")
    return {
        key: value if isinstance(value, str) else json.dumps(value) for key, value in loaded["config"].items()
    }


def settings_of(stage: str, **changes: Any) -> Settings:
    """The settings of a stage's file, with some of them changed (by their names in the file)."""
    values = {
        key.removeprefix("onceward:"): value
        for key, value in config_of(stage).items()
        if key.startswith("onceward:")
    }
    return parse(values | {key: json.dumps(value) for key, value in changes.items()}, stage)


def sample_tenants(stage: str) -> TenantSet:
    """The repository's own tenants of a stage."""
    return load(REPOSITORY / "tenants", stage)


def tenant(tenant_id: str, **fields: Any) -> Tenant:
    """A tenant with one key on the sample tier `pro`, and whatever `fields` say."""
    return Tenant.model_validate(
        {"id": tenant_id, "name": tenant_id, "tier": "pro", "stages": ("dev",), "keys": ("server",)} | fields
    )


def with_tenants(tenants: Iterable[Tenant], stage: str = "dev") -> TenantSet:
    """These tenants, in the loader's order (by id), on the sample tiers."""
    ordered = tuple(sorted(tenants, key=lambda each: each.id))
    return TenantSet(ordered, sample_tenants(stage).tiers)


def empty_bundle(function: str, _platform: Literal["aarch64", "native"]) -> Path:
    """A stand-in for the zip, which only its path represents here."""
    return Path("/bundles") / f"{function}.zip"


def run_stage(stage: str, tenants: TenantSet | None = None, *, preview: bool = True, **changes: Any) -> Run:
    """Run the program for a stage, with its file's settings but for `changes`."""
    settings = settings_of(stage, **changes)
    wanted = sample_tenants(stage) if tenants is None else tenants

    def program() -> None:
        declare(Stage(settings, Names(pulumi.get_stack()), locate()), wanted, empty_bundle)

    return run(program, stage, preview=preview)


@functools.cache
def previewed(stage: str) -> Run:
    """A preview of the stage as it is in the repository; run once, so do not change it."""
    return run_stage(stage)


@functools.cache
def updated(stage: str) -> Run:
    """An update of the stage as it is in the repository; run once, so do not change it."""
    return run_stage(stage, preview=False)


def document(registered: Registered, field: str) -> dict[str, Any]:
    """A JSON document in a resource's input."""
    loaded: dict[str, Any] = json.loads(registered.inputs[field])
    return loaded
