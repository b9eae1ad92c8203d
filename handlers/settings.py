"""The environment of each function, typed. Read once, by the handler's first call; never at import."""

from __future__ import annotations

import os
from dataclasses import dataclass


class MissingSettingError(RuntimeError):
    """The function was deployed without a variable that it needs."""


def _variable(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise MissingSettingError(f"the environment variable {name} is missing or empty")
    return value


def _list(name: str) -> tuple[str, ...]:
    return tuple(word for word in os.environ.get(name, "").split(",") if word)


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
        stream_honours_partial_failures: whether the stream's mapping acts on `batchItemFailures`. Where it
            does not (the local AWS), a reported failure would be taken for success and lost.
    """

    stage: str
    records_table: str
    topic_arn_prefix: str
    retry_queue_url: str
    stream_honours_partial_failures: bool

    @classmethod
    def from_environment(cls) -> DispatchSettings:
        """Read STAGE, RECORDS_TABLE, TOPIC_ARN_PREFIX, RETRY_QUEUE_URL and STREAM_PARTIAL_FAILURES.

        The last is `honoured` where the mapping honours them; unset is safe anywhere: the whole batch is
        retried, which costs repeated deliveries and loses nothing. Raises MissingSettingError.
        """
        return cls(
            _variable("STAGE"),
            _variable("RECORDS_TABLE"),
            _variable("TOPIC_ARN_PREFIX"),
            _variable("RETRY_QUEUE_URL"),
            os.environ.get("STREAM_PARTIAL_FAILURES") == "honoured",
        )
