"""What a storm is aimed at: the outputs of a stage, from the local platform's file or from Pulumi.

Only this module sees API keys on their way from the stack to the requests. It hands them on in memory: never
in an argument of a process, a log line, or a file.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from botocore.config import Config

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

LOCAL_STAGE = "local"
# What `make up` writes for everyone who wants to talk to the local platform (DESIGN section 6).
LOCAL_OUTPUTS = "local.json"
# What the sample tenants call the key of their own servers, which may do everything.
_PREFERRED_KEY = "server"
# `pulumi stack output` reads the stack's state from its backend; longer than this is a backend that hangs.
PULUMI_SECONDS = 120


class TargetError(Exception):
    """The stage cannot be stormed: no outputs, a tenant that is not there, or one that is not for storms."""


@dataclass(frozen=True, slots=True)
class TargetTenant:
    """A tenant as the storm needs it.

    Attributes:
        tenant_id: its id.
        api_key: the value of its key `server`, or of the first by name when it has none of that name
            (outputs come in no order, and a publishable key may not read). Never shown, not even in a repr.
        audit_queue_url: the queue that hears everything on the topic; None where the stage has no audit.
        synthetic: made for storms.
        webhook_secrets: what the senders of its webhooks sign with, by source; empty where the storm sends
            none. Never shown either.
    """

    tenant_id: str
    api_key: str = field(repr=False)
    audit_queue_url: str | None
    synthetic: bool
    webhook_secrets: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Target:
    """A deployed stage.

    Attributes:
        api_url: the REST stage's URL, without `/v1` and without a slash at the end.
        region, stage: of the deployment.
        receipts_table, records_table, tenants_table: names.
        tenants: by id; suspended ones are not in it.
        audit_queues: URLs of the audit queues of all tenants that have one, suspended or not, by tenant.
        tenant_ids: of all tenants, suspended or not.
        endpoint_url: of the local AWS; None on AWS itself, where boto3 finds everything by itself.
        credentials: (access key id, secret access key) of the local AWS; None for the default chain.
        stand_in_url: of what stands in for everything outside AWS; None on a deployed stage.
    """

    api_url: str
    region: str
    stage: str
    receipts_table: str
    records_table: str
    tenants_table: str
    tenants: Mapping[str, TargetTenant]
    audit_queues: Mapping[str, str]
    tenant_ids: frozenset[str]
    endpoint_url: str | None = None
    credentials: tuple[str, str] | None = field(default=None, repr=False)
    stand_in_url: str | None = None

    def client_options(self) -> dict[str, Any]:
        """Keyword arguments for `boto3.client` that reach this stage."""
        options: dict[str, Any] = {
            "region_name": self.region,
            # A settling platform is polled with a deadline above this; standard mode retries throttles.
            "config": Config(
                retries={"mode": "standard", "max_attempts": 5}, connect_timeout=5, read_timeout=30
            ),
        }
        if self.endpoint_url:
            options["endpoint_url"] = self.endpoint_url
            # The local AWS is on loopback: no proxy of the environment may come between.
            options["config"] = options["config"].merge(Config(proxies={}))
        if self.credentials:
            options["aws_access_key_id"], options["aws_secret_access_key"] = self.credentials
        return options


def load(stage: str, home: Path, root: Path) -> Target:
    """Find out where a stage is.

    Args:
        stage: ``local`` reads `<home>/local.json`; any other asks Pulumi for the outputs of that stack.
        home: the local platform's directory (`.onceward`).
        root: the repository, in which `pulumi` is run.

    Raises:
        TargetError: there is nothing to be found (says what to do about it).
    """
    return from_local(home / LOCAL_OUTPUTS) if stage == LOCAL_STAGE else from_pulumi(stage, root)


def from_local(file: Path) -> Target:
    """Read the local platform's outputs. Raises TargetError when they are missing or not whole."""
    try:
        return parse(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise TargetError(
            f"{file}: no such file: the local platform is not up (`onceward local up`)"
        ) from error
    except OSError as error:
        raise TargetError(f"{file}: {error.strerror}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise TargetError(
            f"{file}: not the outputs of a platform: {type(error).__name__}: {error}"
        ) from error


def from_pulumi(stage: str, root: Path) -> Target:
    """Ask Pulumi for a stack's outputs; secrets come back through a pipe. Raises TargetError."""
    command = ["pulumi", "stack", "output", "--json", "--show-secrets", "--non-interactive", "--stack", stage]
    try:
        done = subprocess.run(  # noqa: S603 - no shell; the stage is one argument
            command, cwd=root, capture_output=True, text=True, timeout=PULUMI_SECONDS, check=False
        )
    except FileNotFoundError as error:
        raise TargetError("pulumi is not installed, and only it knows where a deployed stage is") from error
    except subprocess.TimeoutExpired as error:
        raise TargetError(f"pulumi gave no outputs of stack {stage} in {PULUMI_SECONDS} s") from error
    if done.returncode:
        raise TargetError(f"pulumi knows no outputs of stack {stage}: {done.stderr.strip()}")
    try:
        return parse(json.loads(done.stdout))
    except (KeyError, TypeError, ValueError) as error:
        # The content of the outputs must not get into a message: they hold keys.
        raise TargetError(
            f"the outputs of stack {stage} lack something: {type(error).__name__}: {error}"
        ) from None


def parse(outputs: Mapping[str, Any]) -> Target:
    """Make a target of a stack's outputs. Raises KeyError, naming what is missing."""
    tenants = (_tenant(name, values) for name, values in outputs["tenants"].items() if _usable(values))
    endpoint = outputs.get("endpointUrl")
    return Target(
        api_url=str(outputs["apiUrl"]).rstrip("/"),
        region=outputs["region"],
        stage=outputs["stage"],
        receipts_table=outputs["tables"]["receipts"],
        records_table=outputs["tables"]["records"],
        tenants_table=outputs["tables"]["tenants"],
        tenants={tenant.tenant_id: tenant for tenant in tenants},
        audit_queues={
            name: values["auditQueueUrl"]
            for name, values in outputs["tenants"].items()
            if values.get("auditQueueUrl")
        },
        tenant_ids=frozenset(outputs["tenants"]),
        endpoint_url=endpoint,
        credentials=(outputs["accessKeyId"], outputs["secretAccessKey"]) if endpoint else None,
        stand_in_url=outputs.get("standInUrl") or None,
    )


def choose(target: Target, wanted: Sequence[str]) -> tuple[TargetTenant, ...]:
    """The tenants to storm: those asked for, else every synthetic one, sorted by id.

    Raises:
        TargetError: a tenant is not deployed there, or it is not synthetic and the stage is not `local`;
            or none was asked for and none is synthetic. Names the tenant.
    """
    names = list(dict.fromkeys(wanted)) or sorted(
        name for name, one in target.tenants.items() if one.synthetic
    )
    if not names:
        raise TargetError(f"stage {target.stage} has no tenant with `synthetic: true` to storm")
    for name in names:
        if name not in target.tenants:
            raise TargetError(
                f"tenant {name}: stage {target.stage} has no active tenant of this name with a key"
            )
        if not target.tenants[name].synthetic and target.stage != LOCAL_STAGE:
            raise TargetError(
                f"tenant {name}: it is not synthetic, and outside stage {LOCAL_STAGE} only tenants "
                "with `synthetic: true` are stormed"
            )
    return tuple(target.tenants[name] for name in names)


def _usable(values: Mapping[str, Any]) -> bool:
    return bool(values["keys"]) and values.get("status", "active") == "active"


def _tenant(name: str, values: Mapping[str, Any]) -> TargetTenant:
    return TargetTenant(
        tenant_id=name,
        api_key=values["keys"].get(_PREFERRED_KEY) or values["keys"][min(values["keys"])],
        audit_queue_url=values.get("auditQueueUrl") or None,
        synthetic=bool(values.get("synthetic", False)),
    )
