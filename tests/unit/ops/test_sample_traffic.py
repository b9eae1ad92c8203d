"""The demo's everyday requests: every operation, twice, and what went wrong is told."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import httpx
import pytest

from ops import sample_traffic
from ops.local.outputs import LocalOutputs, TenantOutputs, WebhookOutputs
from ops.openapi.examples import BODIES
from ops.stages import ROOT
from tenants.loader import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from tenants.models import Tenant


def acme() -> Tenant:
    return next(one for one in load(ROOT / "tenants", "local").tenants if one.id == "acme")


def outputs(tenant: Tenant) -> LocalOutputs:
    webhooks = {
        name: WebhookOutputs(
            f"http://api/v1/webhooks/acme/{name}", source.proof_scheme, source.header, "s3cret"
        )
        for name, source in tenant.operations.webhooks.sources.items()
    }
    known = TenantOutputs(
        {"web": "k-web", "server": "k-server"}, "arn", None, "pro", "active", False, webhooks
    )
    return LocalOutputs(
        "http://api", "http://aws", "id", "secret", "r", "local", {}, {}, {"acme": known}, None
    )


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[httpx.Request], httpx.Response]], None]:
    def answer(handler: Callable[[httpx.Request], httpx.Response]) -> None:
        real = httpx.Client
        monkeypatch.setattr(httpx, "Client", lambda **_: real(transport=httpx.MockTransport(handler)))

    return answer


def test_each_operation_and_source_is_sent_twice_with_the_same_key_and_body(
    answering: Callable[[Callable[[httpx.Request], httpx.Response]], None],
) -> None:
    seen: Counter[tuple[str, bytes, str | None]] = Counter()

    def handler(request: httpx.Request) -> httpx.Response:
        seen[request.url.path, request.content, request.headers.get("idempotency-key")] += 1
        if "webhooks" not in request.url.path:
            assert request.headers["x-api-key"] == "k-server"
        return httpx.Response(201)

    answering(handler)
    assert sample_traffic.send([acme()], outputs(acme())) == []
    assert set(seen.values()) == {2}
    expected = {f"/v1/{operation}" for operation in BODIES if operation != "webhooks"}
    expected |= {"/v1/webhooks/acme/stripe", "/v1/webhooks/acme/github"}
    assert {path for path, _, _ in seen} == expected
    assert len(seen) == len(expected)


def test_what_is_refused_or_not_answered_is_told(
    answering: Callable[[Callable[[httpx.Request], httpx.Response]], None],
) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/leads":
            return httpx.Response(503, text=json.dumps({"title": "Temporarily unavailable"}))
        if request.url.path == "/v1/orders":
            raise httpx.ConnectError("no connection")
        return httpx.Response(200)

    answering(handler)
    wrong = sample_traffic.send([acme()], outputs(acme()))
    assert len(wrong) == 4
    assert any("503" in line and "Temporarily unavailable" in line for line in wrong)
    assert any("no connection" in line for line in wrong)
