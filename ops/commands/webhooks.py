"""`onceward webhooks`: try a source out."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import httpx
import typer

from loadtest.target import LOCAL_STAGE
from ops.output import print_json
from ops.stages import HomeOption, StageOption, clients, reach, telling
from ops.tenant_files import DirectoryOption, tenant_of
from ops.tenant_secrets import WEBHOOKS, TenantSecrets
from ops.webhook_signing import UnsignableError, event_id_of, headers_for

if TYPE_CHECKING:
    from tenants.webhooks import WebhookSource

app = typer.Typer(help="Try webhook sources out.", no_args_is_help=True)

# API Gateway itself gives up after 29 s.
_TIMEOUT_SECONDS: Final = 30.0

# More than the gateway lets through, so that a limit can be tried out too.
_MAX_BODY_BYTES: Final = 1024 * 1024


@app.callback()
def _group() -> None:
    """With one command only, typer would leave its name out."""


@app.command(epilog="Example: onceward webhooks send acme github --body event.json")
def send(
    tenant_id: Annotated[str, typer.Argument(metavar="TENANT", help="A tenant's id.")],
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A webhook source of it.")],
    body: Annotated[str, typer.Option("--body", help="A file, or - for standard input.")],
    event_id: Annotated[
        str | None,
        typer.Option(
            "--id", help="The event's id, where the body does not say it.", show_default="the body's hash"
        ),
    ] = None,
    stage: StageOption = LOCAL_STAGE,
    home: HomeOption = None,
    directory: DirectoryOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Send a body as the source's sender would, signed with the secret of the stage, and show the answer.

    Sent twice, the same body is a duplicate. Exit 1 if the answer is no 2xx.
    """
    settings = _source(tenant_id, source, directory)
    content = _content(body)
    target = reach(stage, home)
    with telling():
        secrets = TenantSecrets(clients(target)("ssm"), stage).read(tenant_id, WEBHOOKS + source)
    if not secrets:
        put = f"onceward secrets set {tenant_id} {WEBHOOKS}{source} --stage {stage}"
        raise typer.BadParameter(f"it has no secret on stage {stage}: `{put}`", param_hint="SOURCE")
    try:
        identity = event_id_of(settings, content, event_id)
    except UnsignableError as error:
        raise typer.BadParameter(str(error), param_hint="--id" if event_id else "--body") from None
    headers = headers_for(settings, secrets[0], content, identity, int(time.time()))
    answer = _post(f"{target.api_url}/v1/webhooks/{tenant_id}/{source}", headers, content)
    _show(answer, as_json=as_json)


def _source(tenant_id: str, source: str, directory: Path | None) -> WebhookSource:
    sources = tenant_of(tenant_id, directory).operations.webhooks.sources
    if source not in sources:
        there = ", ".join(sources) or "none"
        raise typer.BadParameter(
            f"tenant {tenant_id} has no source {source!r}; there are: {there}", param_hint="SOURCE"
        )
    return sources[source]


def _content(body: str) -> bytes:
    try:
        content = sys.stdin.buffer.read() if body == "-" else Path(body).read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{body}: {error.strerror}", param_hint="--body") from error
    if len(content) > _MAX_BODY_BYTES:
        raise typer.BadParameter(f"is longer than {_MAX_BODY_BYTES:,} bytes", param_hint="--body")
    return content


def _post(url: str, headers: dict[str, str], content: bytes) -> httpx.Response:
    try:
        return httpx.post(url, headers=headers, content=content, timeout=_TIMEOUT_SECONDS)
    except httpx.HTTPError as error:
        typer.echo(f"No answer: {type(error).__name__}: {error}", err=True)
        raise typer.Exit(1) from error


def _show(answer: httpx.Response, *, as_json: bool) -> None:
    location = answer.headers.get("location")
    if as_json:
        print_json({"status": answer.status_code, "location": location, "body": answer.text})
    else:
        typer.echo(f"{answer.status_code} {answer.text}")
        if location is not None:
            typer.echo(f"Location: {location}")
    if not answer.is_success:
        raise typer.Exit(1)
