"""A stage's settings: `Pulumi.<stage>.yaml`, read and checked here and nowhere else."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

import pulumi
from pulumi.runtime import config
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from infra.alarm import RUNBOOK
from tenants.text import web_origin

NAMESPACE: Final = "onceward"
FunctionName = Literal[
    "authorizer", "ingest", "execute", "webhooks", "read",
    "dispatch", "deliver", "fulfil", "notify", "reconcile",
]  # fmt: skip
WorkerName = Literal["deliver", "fulfil"]

# The smallest that Lambda takes: parked receipts never compete with fresh ones for concurrency.
RETRY_CONCURRENCY: Final = 2

# What CloudWatch Logs accepts (PutRetentionPolicy, retentionInDays).
_RETENTIONS: Final = (
    *(1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731),
    *(1096, 1827, 2192, 2557, 2922, 3288, 3653),
)
# API Gateway's bounds of authorizerResultTtlInSeconds.
_MAX_AUTHORIZER_CACHE: Final = 3600
_CERTIFICATE: Final = r"^arn:aws[a-z-]*:acm:[a-z0-9-]+:[0-9]{12}:certificate/[A-Za-z0-9-]+$"
_DOMAIN: Final = r"^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$"
# The stand-in is a process on this machine: plain HTTP, and to nowhere else.
_STAND_IN: Final = r"^http://127\.0\.0\.1:[0-9]{1,5}$"
# SQS event sources take 2 to 1,000 concurrent calls (Lambda, ScalingConfig.MaximumConcurrency).
_CONCURRENCY: Final = Field(ge=2, le=1000)
# Alarm descriptions hold 1,024 characters (CloudWatch), and the longest of ours half of them.
_RUNBOOK: Final = r"^(docs/runbook\.md|https://[!-~]{1,300})$"
_EMAIL: Final = r"^[^@\s]+@[^@\s]+\.[^@\s]+$"


class SettingsError(Exception):
    """Settings that cannot be used; the message lists each as `key: rule`."""


def _offered_retention(days: int) -> int:
    if days not in _RETENTIONS:
        raise PydanticCustomError(
            "retention",
            "must be one of {days} (what CloudWatch Logs offers)",
            {"days": ", ".join(map(str, _RETENTIONS))},
        )
    return days


def _any_or_web_origin(origin: str) -> str:
    return origin if origin == "*" else web_origin(origin)


def _any_or_some(origins: tuple[str, ...]) -> tuple[str, ...]:
    if "*" in origins and len(origins) > 1:
        raise PydanticCustomError("origins", "'*' is every origin already: leave the others out")
    return origins


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True)


class CustomDomain(_Model):
    """A domain name for the API, whose certificate exists already (regional, in this stage's region)."""

    name: Annotated[str, Field(pattern=_DOMAIN)]
    certificate_arn: Annotated[str, Field(pattern=_CERTIFICATE)]


class WorkerConcurrency(_Model):
    """How many calls of each worker its queue may have running at once."""

    # A destination is somebody's web server: ten calls at once is what a small one bears, and with ten
    # messages a batch it is a hundred units of work a second where the destination answers in one.
    deliver: Annotated[int, _CONCURRENCY] = 10
    fulfil: Annotated[int, _CONCURRENCY] = 10


class Settings(_Model):
    """One stage's settings; defaults are what a stage with real data wants."""

    audit: bool = False
    """Give each tenant an audit queue on its topic (what the storm's checker reads)."""
    protect_data: bool = True
    """Refuse to delete tables, queues, bucket and key by mistake."""
    require_tls: bool = True
    """Deny topics, queues and the bucket to unencrypted connections (the local AWS speaks plain HTTP)."""
    log_retention_days: Annotated[int, AfterValidator(_offered_retention)] = 30
    authorizer_cache_seconds: Annotated[int, Field(ge=0, le=_MAX_AUTHORIZER_CACHE)] = 300
    """How long a revoked permission may live on; a suspended key is refused at once all the same."""
    cors_origins: Annotated[
        tuple[Annotated[str, AfterValidator(_any_or_web_origin)], ...],
        Field(min_length=1),
        AfterValidator(_any_or_some),
    ] = ("*",)
    """Web pages that browsers let read the answers. The key, not this list, is what lets a call in."""
    alarm_email: Annotated[str, Field(pattern=_EMAIL)] | None = None
    runbook_url: Annotated[str, Field(pattern=_RUNBOOK)] = RUNBOOK
    """Where the runbook can be read: every alarm's description links to a section of it."""
    watch_all_topics: bool = False
    """Alarm on failed deliveries of every SNS topic of the account and region, by topic: for a stage that is
    alone there, since SNS's metrics have no stage. The alarm on the delivery DLQ rings either way."""
    reserved_concurrency: dict[FunctionName, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    """Concurrent executions kept for a function, and its most; left out: the account's pool."""
    worker_concurrency: WorkerConcurrency = WorkerConcurrency()
    """The most calls of a worker at once; below its reserved concurrency, where that is set."""
    work_receives: Annotated[int, Field(ge=2, le=1000)] = 12
    """How often a unit of work is tried before its message goes to the dead-letter queue."""
    # Senders have no key, so nothing else bounds what they can make the functions cost: a tenth of API
    # Gateway's default for an account (10,000 a second) leaves the rest of it to the tenants' calls.
    webhook_rate_per_second: Annotated[int, Field(ge=1, le=10_000)] = 1_000
    """Webhook deliveries a second that the route lets through, all tenants and sources together."""
    webhook_burst: Annotated[int, Field(ge=1, le=5_000)] = 500
    """How many of them at once (API Gateway's burst limit of an account is 5,000)."""
    deployment: Literal["all-at-once", "canary"] = "all-at-once"
    """How new code takes over: with the update, or by `onceward release`, ten per cent first."""
    manage_api_gateway_account: bool = False
    """Own the region's one API Gateway logging role; off where the account has one already."""
    redeploy: Annotated[int, Field(ge=0)] = 0
    """Part of the deployment's content: another number deploys the API again, which a removed route needs."""
    custom_domain: CustomDomain | None = None
    stream_partial_failures: bool = True
    """Whether the stream's mapping acts on `ReportBatchItemFailures` (the local AWS ignores it)."""
    bundle_platform: Literal["aarch64", "native"] = "aarch64"
    tenants_directory: Annotated[str, Field(min_length=1)] = "tenants"
    """Where the tenant files are, from the repository's root."""
    stand_in_url: Annotated[str, Field(pattern=_STAND_IN)] | None = None
    """Where the stand-in for everything outside AWS answers; unset, calls go to the real addresses."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    stage: Annotated[str, Field(exclude=True)]

    @model_validator(mode="after")
    def _only_locally(self) -> Self:
        if self.stage == "local":
            return self
        if not self.require_tls:
            raise PydanticCustomError("local", "requireTls: false is for the stage 'local' only")
        if self.bundle_platform == "native":
            raise PydanticCustomError("local", "bundlePlatform: native is for the stage 'local' only")
        if not self.stream_partial_failures:
            raise PydanticCustomError("local", "streamPartialFailures: false is for the stage 'local' only")
        if self.stand_in_url is not None:
            raise PydanticCustomError("local", "standInUrl: a stand-in is for the stage 'local' only")
        return self

    @model_validator(mode="after")
    def _not_locally(self) -> Self:
        if self.stage == "local" and self.deployment == "canary":
            raise PydanticCustomError("local", "deployment: canary: the local AWS has no CodeDeploy")
        return self

    @model_validator(mode="after")
    def _queues_leave_concurrency(self) -> Self:
        for function, most in self.queue_concurrency.items():
            reserved = self.reserved_concurrency.get(function)
            if reserved is not None and most >= reserved:
                raise PydanticCustomError(
                    "concurrency",
                    "reservedConcurrency.{function}: must be above {most}, the most calls that its queue may "
                    "have running at once (workerConcurrency): a queue that can use up its function's "
                    "concurrency throttles it, and each throttled message counts as received",
                    {"function": function, "most": most},
                )
        return self

    @property
    def queue_concurrency(self) -> dict[FunctionName, int]:
        """The most calls at once that each function's queue may have running."""
        return {
            "dispatch": RETRY_CONCURRENCY,
            "deliver": self.worker_concurrency.deliver,
            "fulfil": self.worker_concurrency.fulfil,
        }


def parse(values: Mapping[str, str], stage: str) -> Settings:
    """Settings from raw config values (text, or JSON text for lists, maps, numbers and booleans).

    `values` has the keys without their namespace (`logRetentionDays`). Raises `SettingsError`, which names
    every faulty key and the rule it breaks; a key that is not a setting is a fault too.
    """
    if "stage" in values:
        raise SettingsError("onceward:stage: the stage is the stack's name, not a setting")
    try:
        return Settings.model_validate({"stage": stage} | {key: _value(text) for key, text in values.items()})
    except ValidationError as error:
        faults = [_fault(fault["loc"], fault["msg"]) for fault in error.errors()]
        raise SettingsError(f"Pulumi.{stage}.yaml:\n" + "\n".join(f"  {fault}" for fault in faults)) from None


def read() -> Settings:
    """The settings of the stack that is being deployed; raises as `parse` does."""
    prefix = f"{NAMESPACE}:"
    # pulumi.Config reads key by key; without the list of keys a misspelt one would do nothing, silently.
    configured = config.CONFIG.get() or config.get_config_env()
    values = {key.removeprefix(prefix): text for key, text in configured.items() if key.startswith(prefix)}
    return parse(values, pulumi.get_stack())


def _value(text: str) -> Any:  # noqa: ANN401 (whatever the file holds)
    try:
        return json.loads(text)
    except ValueError:
        return text


def _fault(path: tuple[int | str, ...], rule: str) -> str:
    key = ".".join(map(str, path))
    return f"{NAMESPACE}:{key}: {rule}" if key else f"{NAMESPACE}:{rule}"
