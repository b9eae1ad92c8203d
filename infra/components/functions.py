"""The functions, wired to the tables, queues and bus that they use."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

import pulumi

from infra.components.event_bus import EventBus
from infra.components.function import Bundle, Function, FunctionSpec
from infra.components.queues import WORKERS, Queues
from infra.components.tables import Tables
from infra.settings import FunctionName
from infra.stage import Stage
from infra.timeouts import TIMEOUTS

Environment = dict[str, pulumi.Input[str]]


@dataclass(frozen=True)
class Functions:
    """The functions by logical name."""

    by_name: Mapping[FunctionName, Function]

    def __getitem__(self, name: FunctionName) -> Function:
        return self.by_name[name]


@dataclass(frozen=True)
class Wiring:
    """What functions are given the names of."""

    tables: Tables
    queues: Queues
    bus: EventBus


def make_functions(stage: Stage, key_arn: pulumi.Input[str], wiring: Wiring, bundle: Bundle) -> Functions:
    """Make every function; their environment is what `handlers.settings` reads."""
    environments = _environments(stage, wiring)
    names: tuple[FunctionName, ...] = get_args(FunctionName)
    return Functions(
        {
            name: Function(FunctionSpec(name, TIMEOUTS[name], environments[name]), stage, key_arn, bundle)
            for name in names
        }
    )


def _environments(stage: Stage, wiring: Wiring) -> dict[FunctionName, Environment]:
    tables = {name: table.name for name, table in wiring.tables.by_name.items()}
    # Answers of proxied functions go out as they are: the CORS headers have to come from the function.
    origins = {"CORS_ORIGINS": ",".join(stage.settings.cors_origins)}
    secrets = {"SECRETS_PREFIX": stage.names.secrets_prefix}
    outside = {} if stage.settings.stand_in_url is None else {"STAND_IN_URL": stage.settings.stand_in_url}
    topics = {"TOPIC_ARN_PREFIX": stage.arns.tenant_topic_prefix}
    queues: Environment = {
        f"{name.upper()}_QUEUE_URL": queue.url for name, queue in wiring.queues.work.items()
    }
    receipts: Environment = {"RECEIPTS_TABLE": tables["receipts"]}
    records: Environment = {"RECORDS_TABLE": tables["records"]}
    registry: Environment = {"TENANTS_TABLE": tables["tenants"]}
    streams = "honoured" if stage.settings.stream_partial_failures else "ignored"
    workers: dict[FunctionName, Environment] = {
        worker: {
            **(records | registry | secrets | outside),
            "QUEUE_URL": wiring.queues.work[queue].url,
            "MAX_RECEIVES": str(stage.settings.work_receives),
        }
        for queue, worker in WORKERS.items()
    }
    return {
        "authorizer": registry,
        "ingest": receipts | origins,
        "execute": receipts | {"SLOTS_TABLE": tables["slots"]} | secrets | origins | outside,
        "webhooks": receipts | registry | secrets,
        "read": receipts | records | origins,
        "dispatch": {
            **(records | topics | queues),
            "RETRY_QUEUE_URL": wiring.queues.dispatch_retry.url,
            "STREAM_PARTIAL_FAILURES": streams,
        },
        "deliver": workers["deliver"],
        "fulfil": workers["fulfil"] | {"EVENT_BUS_NAME": wiring.bus.name},
        "notify": {**topics},
        "reconcile": records | queues,
    }
