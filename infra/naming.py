"""Physical and logical names, from data: one place decides how anything is called.

Physical names are fixed rather than generated, so that a role's policy, which has to exist before the
thing it names, can spell the ARN out, and a preview shows the whole policy.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

# DESIGN section 4: short enough that every physical name fits (SQS allows 80 characters).
_STAGE = re.compile(r"[a-z][a-z0-9]{1,11}")

PROJECT = "onceward"
PENDING_INDEX = "pending"
"""The index of `records` that holds the work which is not done yet."""
WORK_QUEUES = ("orders", "webhooks")
"""The queues of work, each named after its operation."""
WORKERS: Final[Mapping[str, Literal["fulfil", "deliver"]]] = {"orders": "fulfil", "webhooks": "deliver"}
"""The function that works on each of them."""
NOTIFY_RULE = "orders-notify"
"""The event bus's one rule."""
ALIAS = "live"
"""The alias that the API and the event sources call; pointing it at an older version rolls back."""


@dataclass(frozen=True)
class Location:
    """Where the stage lives: AWS partition (`aws`), account id (12 digits) and region."""

    partition: str
    account: str
    region: str

    def arn(self, service: str, resource: str) -> str:
        """The ARN of a regional resource of this account."""
        return f"arn:{self.partition}:{service}:{self.region}:{self.account}:{resource}"


@dataclass(frozen=True)
class Names:
    """Every physical name of one stage.

    The platform's own resources have an underscore after the stage and a tenant's have a hyphen. Neither
    ids nor stages can hold an underscore, so no tenant meets a platform name and no stage's pattern
    (`onceward-dev-*`) matches another's. Raises ValueError for a stage that breaks the rule.
    """

    stage: str

    def __post_init__(self) -> None:
        if not _STAGE.fullmatch(self.stage):
            raise ValueError(
                f"stack name {self.stage!r}: must be a stage, which matches ^[a-z][a-z0-9]{{1,11}}$"
            )

    def platform(self, name: str) -> str:
        """`onceward-<stage>_<name>`."""
        return f"{PROJECT}-{self.stage}_{name}"

    @property
    def tenant_prefix(self) -> str:
        """What every tenant's name starts with, and no platform name does."""
        return f"{PROJECT}-{self.stage}-"

    def tenant(self, tenant_id: str) -> str:
        """`onceward-<stage>-<tenantId>`: the tenant's topic and dashboard."""
        return f"{self.tenant_prefix}{tenant_id}"

    def tenant_part(self, tenant_id: str, part: str) -> str:
        """`onceward-<stage>-<tenantId>_<part>`: the tenant's keys and audit queue."""
        return f"{self.tenant(tenant_id)}_{part}"

    def log_group(self, function: str) -> str:
        """The log group of a function (Lambda's own convention)."""
        return f"/aws/lambda/{self.platform(function)}"

    @property
    def secrets_prefix(self) -> str:
        """What the names of all tenants' secrets start with (SSM parameters): `/onceward/<stage>/`."""
        return f"/{PROJECT}/{self.stage}/"

    @property
    def access_log_group(self) -> str:
        """The log group of the API's access log."""
        return f"/aws/apigateway/{self.platform('access')}"

    def failure_bucket(self, location: Location) -> str:
        """The bucket of stream batches that were given up; S3 names are global, take no
        underscore and at most 63 characters."""
        return f"{PROJECT}-{self.stage}-failures-{location.account}-{location.region}"


@dataclass(frozen=True)
class Arns:
    """ARNs spelt out from names, for policies that have to exist before what they name."""

    location: Location
    names: Names

    def table(self, name: str) -> str:
        """A table's ARN."""
        return self.location.arn("dynamodb", f"table/{self.names.platform(name)}")

    def stream(self, table: str) -> str:
        """Every stream that a table has had (the label is the time it was enabled)."""
        return f"{self.table(table)}/stream/*"

    def function(self, name: str) -> str:
        """A function's ARN, without version or alias."""
        return self.location.arn("lambda", f"function:{self.names.platform(name)}")

    def log_streams(self, function: str) -> str:
        """Every log stream of a function's group."""
        return self.location.arn("logs", f"log-group:{self.names.log_group(function)}:*")

    def queue(self, name: str) -> str:
        """A platform queue's ARN."""
        return self.location.arn("sqs", self.names.platform(name))

    def topic(self, name: str) -> str:
        """A platform topic's ARN."""
        return self.location.arn("sns", self.names.platform(name))

    def index(self, table: str, name: str) -> str:
        """An index of a table."""
        return f"{self.table(table)}/index/{name}"

    def alarm(self, name: str) -> str:
        """A platform alarm's ARN."""
        return self.location.arn("cloudwatch", f"alarm:{self.names.platform(name)}")

    def bus(self, name: str) -> str:
        """An event bus's ARN."""
        return self.location.arn("events", f"event-bus/{self.names.platform(name)}")

    def rule(self, name: str, bus: str | None = None) -> str:
        """A rule's ARN; without `bus`, of the account's default bus."""
        path = self.names.platform(name) if bus is None else f"{bus}/{self.names.platform(name)}"
        return self.location.arn("events", f"rule/{path}")

    def secrets(self, pattern: str) -> str:
        """The secrets of every tenant whose own name matches (`webhooks/*`)."""
        return self.location.arn("ssm", f"parameter{self.names.secrets_prefix}*/{pattern}")

    @property
    def tenant_topic_prefix(self) -> str:
        """What every tenant topic's ARN starts with."""
        return self.location.arn("sns", self.names.tenant_prefix)

    def tenant_topic(self, tenant_id: str) -> str:
        """One tenant's topic."""
        return f"{self.tenant_topic_prefix}{tenant_id}"

    def role(self, function: str) -> str:
        """A function's execution role."""
        return self._iam("iam", f"role/{self.names.platform(function)}")

    def sessions(self, function: str) -> str:
        """Every session of a function's execution role."""
        return self._iam("sts", f"assumed-role/{self.names.platform(function)}/*")

    @property
    def failure_bucket(self) -> str:
        """The bucket of stream batches that were given up."""
        return f"arn:{self.location.partition}:s3:::{self.names.failure_bucket(self.location)}"

    def _iam(self, service: str, resource: str) -> str:
        return f"arn:{self.location.partition}:{service}::{self.location.account}:{resource}"
