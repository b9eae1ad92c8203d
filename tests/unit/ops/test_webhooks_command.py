"""`onceward webhooks send`: what it sends is what the receiver's own check believes."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from moto import mock_aws

from handlers.domain.webhook_proof import Proof, Sent, verify
from ops.local.webhooks import provide
from ops.tenant_secrets import TenantSecrets
from tenants.loader import load_all
from tests.unit.ops.secrets_stage import SOURCES, SecretsStage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EVENT = {"id": "evt_1", "event": "form.submitted", "data": {"submissionId": "s-1"}}


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SecretsStage]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        stage = SecretsStage(tmp_path)
        provide(load_all(tmp_path).tenants, TenantSecrets(stage.ssm, "local"), "http://api.test")
        yield stage


class Posts:
    """What was posted, and what answers it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answer: httpx.Response | Exception) -> None:
        self.sent: list[tuple[str, dict[str, str], bytes]] = []
        self._answer = answer
        monkeypatch.setattr(httpx, "post", self._post)

    def _post(self, url: str, *, headers: dict[str, str], content: bytes, timeout: float) -> httpx.Response:
        assert timeout > 29
        self.sent.append((url, headers, content))
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def accepted(duplicate: bool = False) -> httpx.Response:
    return httpx.Response(
        200 if duplicate else 202,
        json={"accepted": True, "duplicate": duplicate},
        headers={"Location": "/v1/webhook-events/w-1"},
    )


def send(stage: SecretsStage, source: str, *options: str, body: object = EVENT) -> Any:
    return stage.run("webhooks", "send", "acme", source, "--body", "-", *options, given=json.dumps(body))


@pytest.mark.parametrize("source", SOURCES)
def test_every_scheme_is_signed_so_that_the_receiver_believes_it(
    stage: SecretsStage, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    posts = Posts(monkeypatch, accepted())
    told = send(stage, source)
    assert told.exit_code == 0, told.output
    ((url, headers, content),) = posts.sent
    assert url == f"http://api.test/v1/webhooks/acme/{source}"
    settings = load_all(stage.home).tenants[0].operations.webhooks.sources[source]
    sent = Sent({name.lower(): [value] for name, value in headers.items()}, content, time.time())
    verify(Proof(settings.proof_scheme, settings.header, 300), [stage.value(f"webhooks/{source}")], sent)
    header = settings.event_identity.header
    assert header is None or headers[header.lower()]


def test_the_answer_and_where_the_event_is_are_shown(
    stage: SecretsStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    Posts(monkeypatch, accepted(duplicate=True))
    told = send(stage, "forms")
    assert told.stdout == '200 {"accepted":true,"duplicate":true}\nLocation: /v1/webhook-events/w-1\n'
    as_json = json.loads(send(stage, "forms", "--json").stdout)
    assert as_json == {
        "status": 200,
        "location": "/v1/webhook-events/w-1",
        "body": '{"accepted":true,"duplicate":true}',
    }


def test_an_id_that_only_a_header_carries_is_the_bodys_own_unless_it_is_given(
    stage: SecretsStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = Posts(monkeypatch, accepted())
    send(stage, "github")
    send(stage, "github")
    send(stage, "github", body={"other": 1})
    send(stage, "github", "--id", "mine")
    ids = [headers["x-github-delivery"] for _, headers, _ in posts.sent]
    assert ids[0] == ids[1] != ids[2]
    assert ids[3] == "mine"


def test_a_header_that_must_agree_carries_what_the_body_says(
    stage: SecretsStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = Posts(monkeypatch, accepted())
    send(stage, "legacy")
    assert posts.sent[0][1]["x-event"] == "evt_1"
    assert send(stage, "legacy", "--id", "other").exit_code == 2


def test_what_cannot_be_sent_is_refused_before_anything_is(
    stage: SecretsStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = Posts(monkeypatch, accepted())
    assert send(stage, "none").exit_code == 2
    assert send(stage, "stripe", body={}).exit_code == 2
    assert stage.run("webhooks", "send", "acme", "stripe", "--body", "-", given="{").exit_code == 2
    assert stage.run("webhooks", "send", "acme", "stripe", "--body", "/no/such/file").exit_code == 2
    stage.run("secrets", "remove", "acme", "webhooks/stripe", "--yes")
    refused = send(stage, "stripe")
    assert (refused.exit_code, "has no secret on stage local" in refused.output) == (2, True)
    assert posts.sent == []


@pytest.mark.parametrize("answer", [httpx.Response(401, text="no"), httpx.ConnectError("refused")])
def test_an_answer_that_is_no_yes_is_exit_1(
    stage: SecretsStage, monkeypatch: pytest.MonkeyPatch, answer: httpx.Response | Exception
) -> None:
    Posts(monkeypatch, answer)
    assert send(stage, "forms").exit_code == 1
