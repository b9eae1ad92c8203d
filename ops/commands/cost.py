"""`onceward cost`: what a stage costs a month."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args

import typer

from infra.naming import Names
from infra.observability import Observability
from infra.observed import of_platform, of_tenant
from infra.query_limits import MOST_METRICS
from infra.settings import NAMESPACE, SettingsError, parse
from ops.costs.bill import Bill, Plan, bill, document
from ops.costs.counted import OPERATIONS
from ops.costs.told import THOUSAND, for_tenants, tell
from ops.costs.traffic import Site, Traffic
from ops.local import stack_config
from ops.local.errors import LocalPlatformError
from ops.output import print_json
from ops.stages import ROOT, require_stage
from tenants.errors import TenantFileError
from tenants.loader import load
from tenants.models import Tenant
from tenants.scope import stages_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from infra.settings import Settings

# Small enough to be somebody's first month, and what prices are quoted for.
_REQUESTS: Final = 1_000_000
# A tenth sent again: senders of webhooks deliver at least once, and clients retry what timed out.
_DUPLICATES: Final = 10.0

_EPILOG: Final = """Examples:

onceward cost

onceward cost --tenants 1000 --requests 10000000 --dashboard shared

onceward cost --tenants 50 --requests 2000000 --mix leads=3,payments=1 --duplicates 25 --json
"""

Dashboard = Literal["shared", "dedicated"]
_DASHBOARDS: Final = get_args(Dashboard)


def register(app: typer.Typer) -> None:
    """Add `cost` to the root command."""
    app.command(name="cost", epilog=_EPILOG)(command)


def command(
    tenants: Annotated[
        int | None, typer.Option(min=0, help="How many tenants.", show_default="those of the stage's files")
    ] = None,
    requests: Annotated[int, typer.Option(min=0, help="POSTs a month, of all tenants.")] = _REQUESTS,
    stage: Annotated[
        str, typer.Option(help="Whose settings count: log retention, authorizer's cache.")
    ] = "prod",
    dashboard: Annotated[
        Dashboard | None, typer.Option(help="With --tenants: theirs.", show_default="dedicated")
    ] = None,
    detailed: Annotated[
        bool, typer.Option("--detailed", help="With --tenants: metrics of each operation, for each tenant.")
    ] = False,
    duplicates: Annotated[
        float, typer.Option(min=0, max=100, help="Per cent of the requests that were sent before.")
    ] = _DUPLICATES,
    mix: Annotated[
        str | None,
        typer.Option(help="Parts of the requests: leads=3,orders=1.", show_default="all operations alike"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, with each price and its source.")
    ] = False,
) -> None:
    """Estimate a month's bill by service, per million requests and per tenant.

    Prices are AWS's list prices of us-east-1, dated; requests, metrics, dashboards and alarms are counted.
    Also prints the metric series of one tenant, and what a thousand tenants add, shared and dedicated.
    """
    require_stage(stage)
    if tenants is None and (dashboard is not None or detailed):
        raise typer.BadParameter(
            "needs --tenants: without it the tenants' files say", param_hint="--dashboard, --detailed"
        )
    settings = _settings(stage)
    of_each = {
        kind: _observed(stage, [_sample(stage, kind, detailed=detailed)], settings) for kind in _DASHBOARDS
    }
    if tenants is None:
        files = _of_files(stage, settings)
        many, theirs = len(files), _observed(stage, files, settings)
    else:
        many, theirs = tenants, of_each[dashboard or "dedicated"].times(tenants)
    if many > MOST_METRICS:
        typer.echo(
            f"Note: a stage takes {MOST_METRICS:,} tenants; this is the bill of one with more.", err=True
        )
    traffic = Traffic(requests, duplicates / 100, _shares(mix), many)
    site = Site(settings.authorizer_cache_seconds, settings.log_retention_days)
    made = bill(Plan(traffic, site, of_platform(Names(stage)), theirs))
    if as_json:
        print_json(document(made) | {"observabilityOfOneTenant": _described(made, of_each)})
    else:
        tell(made, of_each, f"{many:,} tenants, {requests:,} requests, {duplicates:g}% duplicates")


def _observed(stage: str, tenants: Sequence[Tenant], settings: Settings) -> Observability:
    """What these tenants have of their own."""
    each = (of_tenant(it, Names(stage), all_topics=settings.watch_all_topics) for it in tenants)
    return sum(each, Observability())


def _sample(stage: str, dashboard: str, *, detailed: bool) -> Tenant:
    return Tenant.model_validate(
        {
            "id": "sample",
            "name": "Sample",
            "tier": "sample",
            "stages": (stage,),
            "keys": ("server",),
            "dashboard": dashboard,
            "metrics": "detailed" if detailed else "standard",
        }
    )


def _of_files(stage: str, settings: Settings) -> Sequence[Tenant]:
    try:
        return load(ROOT / settings.tenants_directory, stage, known_stages=stages_in(ROOT)).tenants
    except TenantFileError as error:
        raise typer.BadParameter(str(error), param_hint="--stage") from error


def _settings(stage: str) -> Settings:
    prefix = f"{NAMESPACE}:"
    try:
        values = stack_config.read(ROOT, stage, {}).values
        ours = {key.removeprefix(prefix): text for key, text in values.items() if key.startswith(prefix)}
        return parse(ours, stage)
    except (LocalPlatformError, SettingsError) as error:
        raise typer.BadParameter(str(error), param_hint="--stage") from error


def _shares(mix: str | None) -> dict[str, float]:
    """Each operation's share of the requests, from `leads=3,orders=1`; all alike for None."""
    if mix is None:
        return dict.fromkeys(OPERATIONS, 1 / len(OPERATIONS))
    parts: dict[str, float] = {}
    for part in mix.split(","):
        found = re.fullmatch(r"\s*([a-z]+)=(\d+(?:\.\d+)?)\s*", part)
        if found is None or found[1] not in OPERATIONS or found[1] in parts:
            known = ", ".join(OPERATIONS)
            raise typer.BadParameter(f"{part!r}: each of {known} once, as leads=3", param_hint="--mix")
        parts[found[1]] = float(found[2])
    whole = sum(parts.values())
    if whole == 0:
        raise typer.BadParameter("one of the parts must be above 0", param_hint="--mix")
    return {operation: part / whole for operation, part in parts.items()}


def _described(made: Bill, kinds: Mapping[str, Observability]) -> dict[str, Any]:
    platform = made.plan.platform
    return {
        kind: {
            "metricSeries": each.series,
            "dashboards": each.dashboards,
            "alarmMetrics": each.alarm_metrics,
            "analysedMetrics": each.analysed,
            "compositeAlarms": each.composites,
            "usd": round(for_tenants(platform, each, 1), 2),
            "usdPerThousandTenants": round(for_tenants(platform, each, THOUSAND), 2),
        }
        for kind, each in kinds.items()
    }
