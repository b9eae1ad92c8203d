"""The functions, wired to the tables, queues and bus that they use."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from infra.components.event_bus import EventBus
from infra.components.function import Bundle, Function, FunctionSpec
from infra.components.queues import Queues
from infra.components.tables import Tables
from infra.settings import FunctionName
from infra.stage import Stage
from infra.timeouts import TIMEOUTS
from infra.waves import CONSUMERS, WAVES

Environment = dict[str, pulumi.Input[str]]


@dataclass(frozen=True)
class Functions:
    """The functions by logical name."""

    by_name: Mapping[FunctionName, Function]

    def __getitem__(self, name: FunctionName) -> Function:
        return self.by_name[name]

    @property
    def consumers(self) -> list[aws.lambda_.Alias]:
        """The aliases of what works on accepted requests: no route may go live before they are there."""
        return [self.by_name[name].alias for name in CONSUMERS]


@dataclass(frozen=True)
class Wiring:
    """What functions are given the names of."""

    tables: Tables
    queues: Queues
    bus: EventBus


def make_functions(stage: Stage, key_arn: pulumi.Input[str], wiring: Wiring, bundle: Bundle) -> Functions:
    """Make every function, the aliases wave by wave; their environment is what `handlers.settings` reads."""
    environments = _environments(stage, wiring)
    made: dict[FunctionName, Function] = {}
    for wave in WAVES:
        before = [function.alias for function in made.values()]
        for name in wave:
            spec = FunctionSpec(name, TIMEOUTS[name], environments[name])
            made[name] = Function(spec, stage, key_arn, bundle, before=before)
    return Functions(made)


def _environments(stage: Stage, wiring: Wiring) -> dict[FunctionName, Environment]:
    """What each function is told beside its stage and logging."""
    tables: dict[str, Environment] = {
        name: {f"{name.upper()}_TABLE": table.name} for name, table in wiring.tables.by_name.items()
    }
    receipts, records, registry = tables["receipts"], tables["records"], tables["tenants"]
    # Answers of proxied functions go out as they are: the CORS headers have to come from the function.
    origins: Environment = {"CORS_ORIGINS": ",".join(stage.settings.cors_origins)}
    secrets: Environment = {"SECRETS_PREFIX": stage.names.secrets_prefix}
    topics: Environment = {"TOPIC_ARN_PREFIX": stage.arns.tenant_topic_prefix}
    queues: Environment = {
        f"{name.upper()}_QUEUE_URL": queue.url for name, queue in wiring.queues.work.items()
    }
    worker = records | registry | secrets | _outside(stage)
    return {
        "authorizer": registry,
        "ingest": receipts | origins,
        "execute": receipts | tables["slots"] | secrets | origins | _outside(stage),
        "webhooks": receipts | registry | secrets,
        "read": receipts | records | origins,
        "dispatch": records | topics | queues | _parking(stage, wiring),
        "deliver": worker | _taking("webhooks", stage, wiring),
        "fulfil": worker | _taking("orders", stage, wiring) | {"EVENT_BUS_NAME": wiring.bus.name},
        "notify": topics,
        "reconcile": records | queues,
    }


def _outside(stage: Stage) -> Environment:
    """How to reach what is outside AWS: nothing is said where it is reached directly."""
    stand_in = stage.settings.stand_in_url
    return {} if stand_in is None else {"STAND_IN_URL": stand_in}


def _parking(stage: Stage, wiring: Wiring) -> Environment:
    return {
        "RETRY_QUEUE_URL": wiring.queues.dispatch_retry.url,
        "STREAM_PARTIAL_FAILURES": "honoured" if stage.settings.stream_partial_failures else "ignored",
    }


def _taking(queue: str, stage: Stage, wiring: Wiring) -> Environment:
    """A worker's queue, and after how many receives it gives a message up."""
    return {"QUEUE_URL": wiring.queues.work[queue].url, "MAX_RECEIVES": str(stage.settings.work_receives)}
