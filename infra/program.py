"""The whole program: settings -> components -> exports."""

from pathlib import Path
from typing import Final

import pulumi
import pulumi_aws as aws

from infra import bundle as bundles
from infra import observed, openapi
from infra import settings as stage_settings
from infra.access_log import metric_filters
from infra.components.access_log_metrics import make_metric_filters
from infra.components.api import Api
from infra.components.canary import Canary
from infra.components.dispatch_feed import DispatchFeed
from infra.components.encryption import Encryption
from infra.components.event_bus import EventBus, Notifications, Schedule
from infra.components.function import Bundle
from infra.components.functions import Functions, Wiring, make_functions
from infra.components.log_queries import LogQueries
from infra.components.operations import Operations, rules_on_all
from infra.components.queues import Queues
from infra.components.tables import Tables
from infra.components.tenant import Shared, TenantResources
from infra.components.usage_plans import UsagePlans
from infra.components.work_feed import WorkFeed
from infra.naming import Location, Names
from infra.stage import Stage
from tenants.loader import TenantSet, load
from tenants.scope import Place, stages_in

REPOSITORY: Final = Path(__file__).resolve().parent.parent


def deploy() -> None:
    """Read the stage's settings and tenants, declare everything, export what DESIGN section 6 lists.

    Raises `infra.settings.SettingsError`, `tenants.errors.TenantFileError`, ValueError (stack name),
    `infra.access_log.TooManyTenants` or `infra.query_limits.QueryLimitError` before anything is declared.
    """
    names = Names(pulumi.get_stack())
    settings = stage_settings.read()
    location = locate()
    tenants = load(
        REPOSITORY / settings.tenants_directory,
        names.stage,
        known_stages=stages_in(REPOSITORY),
        place=Place(location.account, location.region),
    )
    declare(Stage(settings, names, location), tenants, bundles.build)


def declare(stage: Stage, tenants: TenantSet, bundle: Bundle) -> None:
    """Declare every resource of one stage and its exports; `bundle` builds the functions' zips."""
    # First, for they may refuse the tenants.
    filters = metric_filters([tenant.id for tenant in tenants.tenants])
    rules = rules_on_all(stage, tenants.tenants)
    encryption = Encryption(stage)
    key_arn = encryption.key_arn
    tables = Tables(stage, key_arn)
    queues = Queues(stage, key_arn)
    operations = Operations(stage, key_arn, rules, len(tenants.tenants))
    bus = EventBus(stage, key_arn, queues.notify_dlq)
    functions = make_functions(stage, key_arn, Wiring(tables, queues, bus), bundle)
    DispatchFeed(
        stage,
        functions["dispatch"],
        key_arn=key_arn,
        stream_arn=tables.receipts.stream_arn,
        retry_queue_arn=queues.dispatch_retry.arn,
        alarm_topic_arn=operations.alarm_topic_arn,
    )
    if stage.settings.deployment == "canary":
        Canary(stage, functions, operations)
    WorkFeed(stage, queues, functions)
    Notifications(stage, bus, functions["notify"], queues.notify_dlq)
    Schedule(stage, functions["reconcile"])
    api = Api(stage, functions, key_arn, openapi=openapi.read(REPOSITORY))
    make_metric_filters(stage, api.stage.access_log.name, filters, parent=api.stage)
    LogQueries(stage, after=[*functions.by_name.values(), api.stage])
    plans = UsagePlans(stage, api.rest_api, api.stage, tenants.tiers)
    shared = Shared(key_arn, tables.tenants.name, plans.ids, queues.delivery_dlq.arn, operations.paging)
    made = {
        tenant.id: TenantResources(tenant, tenants.tier_of(tenant), stage, shared)
        for tenant in tenants.tenants
    }
    _export(stage, api, tables, functions, made)
    _tell_costs(stage, tenants)


def locate() -> Location:
    """The partition, account and region that the default provider works in."""
    return Location(
        partition=aws.get_partition().partition,
        account=aws.get_caller_identity().account_id,
        region=aws.get_region().region,
    )


def _export(
    stage: Stage, api: Api, tables: Tables, functions: Functions, tenants: dict[str, TenantResources]
) -> None:
    pulumi.export("apiUrl", api.stage.url)
    if api.stage.domain is not None:
        pulumi.export("customDomain", api.stage.domain)
    pulumi.export("region", stage.location.region)
    pulumi.export("stage", stage.names.stage)
    pulumi.export("tables", {name: table.name for name, table in tables.by_name.items()})
    pulumi.export("deployment", stage.settings.deployment)
    pulumi.export(
        "functions",
        {
            name: {"name": function.resource.name, "alias": function.alias.name}
            for name, function in functions.by_name.items()
        },
    )
    pulumi.export("tenants", {name: tenant.outputs for name, tenant in tenants.items()})


def _tell_costs(stage: Stage, tenants: TenantSet) -> None:
    """Say at each update what the chosen observability costs; locally nobody charges anything."""
    if stage.names.stage != "local":
        watched = stage.settings.watch_all_topics
        pulumi.log.info(observed.told(stage.names, tenants.tenants, all_topics=watched))
