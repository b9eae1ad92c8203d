"""The environment of each function, typed. Read once, by the handler's first call; never at import."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from handlers.domain.work import BY_OPERATION

if TYPE_CHECKING:
    from collections.abc import Mapping


_LOCAL_STAGE: Final = "local"


class MissingSettingError(RuntimeError):
    """The function was deployed without a variable that it needs."""


class ForbiddenSettingError(RuntimeError):
    """The function was deployed with a variable that its stage must not have."""


def _variable(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise MissingSettingError(f"the environment variable {name} is missing or empty")
    return value


def _list(name: str) -> tuple[str, ...]:
    return tuple(word for word in os.environ.get(name, "").split(",") if word)


def _optional(name: str) -> str | None:
    return os.environ.get(name) or None


def _stand_in_url(stage: str) -> str | None:
    # With it a function would send every charge and every event there in plain HTTP, tokens and all, and skip
    # the check of addresses: nothing but a developer's machine may do that.
    url = _optional("STAND_IN_URL")
    if url is not None and stage != _LOCAL_STAGE:
        raise ForbiddenSettingError(f"the environment variable STAND_IN_URL is for stage local, not {stage}")
    return url


def _work_queues() -> dict[str, str]:
    return {operation: _variable(f"{operation.upper()}_QUEUE_URL") for operation in BY_OPERATION}


@dataclass(frozen=True)
class AuthorizerSettings:
    """`authorizer`: the registry's table."""

    stage: str
    tenants_table: str

    @classmethod
    def from_environment(cls) -> AuthorizerSettings:
        """Read STAGE and TENANTS_TABLE; raises MissingSettingError."""
        return cls(_variable("STAGE"), _variable("TENANTS_TABLE"))


@dataclass(frozen=True)
class IngestSettings:
    """`ingest`: the receipts table, and the web origins that may see its answers (`*` for all)."""

    stage: str
    receipts_table: str
    cors_origins: tuple[str, ...]

    @classmethod
    def from_environment(cls) -> IngestSettings:
        """Read STAGE, RECEIPTS_TABLE and CORS_ORIGINS (comma-separated, may be empty)."""
        return cls(_variable("STAGE"), _variable("RECEIPTS_TABLE"), _list("CORS_ORIGINS"))


@dataclass(frozen=True)
class ReadSettings:
    """`read`: the tables that it looks into, and the web origins that may see its answers."""

    stage: str
    receipts_table: str
    records_table: str
    cors_origins: tuple[str, ...]

    @classmethod
    def from_environment(cls) -> ReadSettings:
        """Read STAGE, RECEIPTS_TABLE, RECORDS_TABLE and CORS_ORIGINS (comma-separated, may be empty)."""
        return cls(
            _variable("STAGE"),
            _variable("RECEIPTS_TABLE"),
            _variable("RECORDS_TABLE"),
            _list("CORS_ORIGINS"),
        )


@dataclass(frozen=True)
class DispatchSettings:
    """`dispatch`: where records, events and parked images go.

    Attributes:
        topic_arn_prefix: a tenant's topic ARN less the tenant id.
        work_queue_urls: by the operation whose work the queue takes.
        stream_honours_partial_failures: whether the stream's mapping acts on `batchItemFailures`. Where it
            does not (the local AWS), a reported failure would be taken for success and lost.
    """

    stage: str
    records_table: str
    topic_arn_prefix: str
    retry_queue_url: str
    work_queue_urls: Mapping[str, str]
    stream_honours_partial_failures: bool

    @classmethod
    def from_environment(cls) -> DispatchSettings:
        """Read STAGE, RECORDS_TABLE, TOPIC_ARN_PREFIX, RETRY_QUEUE_URL, STREAM_PARTIAL_FAILURES, work queues.

        The last is `honoured` where the mapping honours them; unset is safe anywhere: the whole batch is
        retried, which costs repeated deliveries and loses nothing. Raises MissingSettingError.
        """
        return cls(
            _variable("STAGE"),
            _variable("RECORDS_TABLE"),
            _variable("TOPIC_ARN_PREFIX"),
            _variable("RETRY_QUEUE_URL"),
            _work_queues(),
            os.environ.get("STREAM_PARTIAL_FAILURES") == "honoured",
        )


@dataclass(frozen=True)
class ExecuteSettings:
    """`execute`: receipts and slots, and how to reach what is outside AWS.

    Attributes:
        secrets_prefix: what the names of all tenants' secrets start with, `/onceward/<stage>/`.
        stand_in_url: on the stage `local` only: where the stand-in answers for every destination.
    """

    stage: str
    receipts_table: str
    slots_table: str
    secrets_prefix: str
    cors_origins: tuple[str, ...]
    stand_in_url: str | None

    @classmethod
    def from_environment(cls) -> ExecuteSettings:
        """Read STAGE, RECEIPTS_TABLE, SLOTS_TABLE, SECRETS_PREFIX, CORS_ORIGINS, perhaps STAND_IN_URL.

        Raises MissingSettingError, or ForbiddenSettingError for STAND_IN_URL on another stage than `local`.
        """
        stage = _variable("STAGE")
        return cls(
            stage,
            _variable("RECEIPTS_TABLE"),
            _variable("SLOTS_TABLE"),
            _variable("SECRETS_PREFIX"),
            _list("CORS_ORIGINS"),
            _stand_in_url(stage),
        )


@dataclass(frozen=True)
class WebhooksSettings:
    """`webhooks`: the receipts table, the registry and the senders' secrets (see `ExecuteSettings`)."""

    stage: str
    receipts_table: str
    tenants_table: str
    secrets_prefix: str

    @classmethod
    def from_environment(cls) -> WebhooksSettings:
        """Read STAGE, RECEIPTS_TABLE, TENANTS_TABLE and SECRETS_PREFIX; raises MissingSettingError."""
        return cls(
            _variable("STAGE"),
            _variable("RECEIPTS_TABLE"),
            _variable("TENANTS_TABLE"),
            _variable("SECRETS_PREFIX"),
        )


@dataclass(frozen=True)
class WorkerSettings:
    """`deliver` and `fulfil`: their queue, the records, and how to reach what is outside AWS.

    Attributes:
        max_receives: after so many receives the queue moves a message to its dead-letter queue.
        event_bus: the bus's name; None for `deliver`, which has no events of its own.
    """

    stage: str
    records_table: str
    tenants_table: str
    secrets_prefix: str
    queue_url: str
    max_receives: int
    stand_in_url: str | None
    event_bus: str | None

    @classmethod
    def from_environment(cls) -> WorkerSettings:
        """Read the variables of the attributes' names; STAND_IN_URL and EVENT_BUS_NAME may be unset.

        Raises MissingSettingError, or ForbiddenSettingError for STAND_IN_URL on another stage than `local`.
        """
        stage = _variable("STAGE")
        return cls(
            stage,
            _variable("RECORDS_TABLE"),
            _variable("TENANTS_TABLE"),
            _variable("SECRETS_PREFIX"),
            _variable("QUEUE_URL"),
            int(_variable("MAX_RECEIVES")),
            _stand_in_url(stage),
            _optional("EVENT_BUS_NAME"),
        )


@dataclass(frozen=True)
class NotifySettings:
    """`notify`: a tenant's topic ARN less the tenant id."""

    stage: str
    topic_arn_prefix: str

    @classmethod
    def from_environment(cls) -> NotifySettings:
        """Read STAGE and TOPIC_ARN_PREFIX; raises MissingSettingError."""
        return cls(_variable("STAGE"), _variable("TOPIC_ARN_PREFIX"))


@dataclass(frozen=True)
class ReconcileSettings:
    """`reconcile`: the records table, and the queues by the operation whose work they take."""

    stage: str
    records_table: str
    work_queue_urls: Mapping[str, str]

    @classmethod
    def from_environment(cls) -> ReconcileSettings:
        """Read STAGE, RECORDS_TABLE, ORDERS_QUEUE_URL and WEBHOOKS_QUEUE_URL; raises MissingSettingError."""
        return cls(_variable("STAGE"), _variable("RECORDS_TABLE"), _work_queues())
