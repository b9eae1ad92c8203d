"""`onceward`: the operators' command line."""

from __future__ import annotations

import typer

from ops.commands import (
    alarms,
    cost,
    dashboard,
    demo,
    dispatch,
    dlq,
    local,
    openapi,
    receipts,
    release,
    rollback,
    secrets,
    slots,
    soak,
    storm,
    tenants,
    verify,
    webhooks,
)

app = typer.Typer(
    name="onceward",
    help="Operate Onceward: the local platform, tenants, storms and what came of them.",
    epilog="Exit codes: 0 ok, 1 the thing checked is false, 2 usage.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,  # locals hold keys and credentials
)
app.add_typer(local.app, name="local")
app.add_typer(tenants.app, name="tenants")
app.add_typer(secrets.app, name="secrets")
app.add_typer(webhooks.app, name="webhooks")
app.add_typer(dispatch.app, name="dispatch")
app.add_typer(dlq.app, name="dlq")
app.add_typer(receipts.app, name="receipts")
app.add_typer(slots.app, name="slots")
alarms.register(app)
dashboard.register(app)
storm.register(app)
verify.register(app)
demo.register(app)
soak.register(app)
release.register(app)
rollback.register(app)
openapi.register(app)
cost.register(app)


def main() -> None:
    """Run the command line."""
    app()
