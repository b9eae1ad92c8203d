"""`webhooks`: what is refused, in which order, and what a stranger can learn of it (nothing)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from moto import mock_aws

from handlers import webhooks
from handlers.domain.errors import CorruptItem, Refused, Unavailable
from tests.builders import NOW_MS
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.webhook_world import BEARER, EVENT, LIMIT, World, proof, webhook_event

if TYPE_CHECKING:
    from collections.abc import Iterator

    from handlers.domain.ports import PutOutcome
    from handlers.domain.protocol import Claim
    from handlers.domain.receipt import Receipt

NO_PROOF: dict[str, list[str]] = {"authorization": []}


@pytest.fixture(scope="module")
def environment() -> Iterator[World]:
    with mock_aws():
        yield World()


@pytest.fixture
def world(environment: World) -> World:
    environment.begin(InMemoryReceipts())
    return environment


STRANGERS: dict[str, dict[str, Any]] = {
    "unknown_tenant": {"tenant": "nobody"},
    "unknown_source": {"source": "nothing"},
    "no_secret": {"source": "secretless"},
    "header_missing": {"headers": NO_PROOF},
    "header_twice": {"headers": {"authorization": [f"Bearer {BEARER}", "Bearer other"]}},
    "malformed": {"headers": {"authorization": [BEARER]}},
    "no_match": {"headers": {"authorization": ["Bearer é"]}},
    "too_old_or_new": {"source": "stripe", "arrival_ms": NOW_MS + 301_000},
}


@pytest.mark.parametrize("reason", STRANGERS)
def test_every_stranger_gets_the_same_401_and_nothing_is_written(world: World, reason: str) -> None:
    usual = world.post(headers=NO_PROOF)
    answer = world.post(**STRANGERS[reason])
    assert (answer["statusCode"], answer["body"], answer["headers"]) == (401, usual["body"], usual["headers"])
    assert json.loads(answer["body"])["type"] == "urn:onceward:problem:unauthorized"
    assert world.logged()[-1]["reason"] == reason
    assert world.receipts.writes == 0


@pytest.mark.parametrize(
    "tenant",
    ["", "Acme", "ACME", "a", "acme ", "acme#k", "acme/x", "a" * 33, "-acme", "%61cme", "é", "acme\n"],
)
def test_a_name_that_no_tenant_can_have_is_not_even_looked_up(world: World, tenant: str) -> None:
    assert world.post(tenant=tenant)["statusCode"] == 401
    assert world.calls == []
    for path in (None, {}, {"tenant": None, "source": None}, {"tenant": "acme"}):
        answer = world.send(webhook_event() | {"pathParameters": path})
        assert answer["statusCode"] == 401


def test_a_tenant_that_is_not_there_makes_no_series_and_no_name_in_the_log(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.post(tenant="made-up-tenant")
    world.post(source="made-up-source")
    assert "made-up" not in capsys.readouterr().out + json.dumps(world.logged())
    assert [(line.get("tenant"), line.get("source")) for line in world.logged()] == [
        (None, None),
        ("acme", None),
    ]


def test_the_proof_comes_before_everything_that_is_wrong_with_a_request(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parse(body: bytes) -> None:
        raise AssertionError("parsed before the proof")

    monkeypatch.setattr("handlers.domain.canonical_json.parse", parse)
    for more in (
        {"raw": b"not JSON"},
        {"raw": b"x" * (LIMIT + 1)},
        {"raw": b"\xff"},
        {"headers": {"content-type": ["text/plain"], **NO_PROOF}},
        {"tenant": "closed"},
    ):
        assert world.post(**({"headers": NO_PROOF} | more))["statusCode"] == 401
    broken = webhook_event(headers=NO_PROOF) | {"body": "%%%"}
    assert world.send(broken)["statusCode"] == 401
    assert world.receipts.writes == 0


def test_a_signature_over_other_bytes_of_the_same_json_does_not_verify(world: World) -> None:
    compact = json.dumps(EVENT, separators=(",", ":")).encode()
    for source in ("stripe", "agreeing"):
        assert world.post(source=source, headers=proof(source, compact))["statusCode"] == 401
        assert world.post(source=source, raw=compact, headers=proof(source, compact))["statusCode"] == 202


@pytest.mark.parametrize(("header", "value"), [("webhook-id", "é\ud800"), ("webhook-signature", "v1,\ud83d")])
def test_headers_of_any_characters_are_401_and_no_error(world: World, header: str, value: str) -> None:
    assert world.post(source="agreeing", headers={header: [value]})["statusCode"] == 401


def test_a_suspended_tenant_is_403_once_its_sender_has_proved_itself(world: World) -> None:
    answer = world.post(tenant="closed")
    assert (answer["statusCode"], json.loads(answer["body"])["type"]) == (
        403,
        "urn:onceward:problem:forbidden",
    )
    assert world.post(tenant="closed", raw=b"{")["statusCode"] == 403
    assert world.receipts.writes == 0


def test_a_body_over_the_source_s_limit_is_413(world: World) -> None:
    raw = b'{"id":"a","x":"' + b"x" * (LIMIT - 17) + b'"}'
    assert len(raw) == LIMIT
    for source in ("plain", "stripe"):
        assert world.post(source=source, raw=raw)["statusCode"] == 202
        assert world.post(source=source, raw=raw + b" ")["statusCode"] == 413
    assert world.receipts.writes == 2


@pytest.mark.parametrize(
    "media",
    [
        "application/x-www-form-urlencoded",
        "text/plain",
        "",
        "application/xml",
        "json",
        "application/jsonp",
        "application/problem+json; charset=latin-1",
        "text/html+xml",
    ],
)
def test_another_media_type_is_415(world: World, media: str) -> None:
    assert world.post(headers={"content-type": [media]})["statusCode"] == 415
    assert world.receipts.writes == 0


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (b"", "not_json"),
        (b"{", "not_json"),
        (b"\xff", "not_utf8"),
        (b'{"id":"a","n":NaN}', "not_finite"),
        (b'{"id":"a","n":1e400}', "not_finite"),
        (b'{"id":"a","id":"a"}', "duplicate_name"),
        (b'{"id":"\\ud83d"}', "lone_surrogate"),
        (b'{"id":"a","x":"\\udc00"}', "lone_surrogate"),
        (b"{}", "missing"),
        (b'{"id":null}', "missing"),
        (b'{"id":" "}', "blank"),
        (b'{"id":{"a":1}}', "not_scalar"),
        (b'{"id":"' + b"a" * 1025 + b'"}', "too_long"),
        (b"[]", "missing"),
    ],
)
def test_what_is_no_event_is_400_with_its_rule_and_nothing_is_written(
    world: World, raw: bytes, rule: str
) -> None:
    for source in ("plain", "stripe"):
        answer = world.post(source=source, raw=raw)
        assert answer["statusCode"] == 400
        assert [fault["rule"] for fault in json.loads(answer["body"])["errors"]] == [rule]
        assert world.logged()[-1]["rules"] == rule
    assert world.receipts.writes == 0


def test_a_body_that_is_marked_as_base64_and_is_not_is_400_to_a_sender_that_is_known(world: World) -> None:
    answer = world.send(webhook_event() | {"body": "%%%"})
    assert [fault["rule"] for fault in json.loads(answer["body"])["errors"]] == ["bad_base64"]


class FailingStore:
    """A store that cannot be reached."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def put(self, receipt: Receipt, claim: Claim) -> PutOutcome:
        raise self._error


@pytest.mark.parametrize("error", [Unavailable("receipts", "Timeout"), Refused("receipts", "AccessDenied")])
def test_an_outage_of_the_store_is_503_and_the_redelivery_takes_effect(
    world: World, error: Exception
) -> None:
    world.begin(FailingStore(error))  # type: ignore[arg-type]
    answer = world.post()
    assert (answer["statusCode"], answer["headers"]["Retry-After"]) == (503, "1")
    assert world.logged()[-1]["outcome"] == "failed"
    world.begin(InMemoryReceipts())
    assert world.post()["statusCode"] == 202


class FailingConfigs:
    """A registry, or a secret store, that cannot be read."""

    reads = 0

    def __init__(self, error: Exception) -> None:
        self._error = error

    def find(self, tenant_id: str, name: str = "") -> Any:
        raise self._error


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Unavailable("tenants", "Timeout"), 503),
        (Refused("secrets", "AccessDeniedException"), 503),
        (CorruptItem("tenant acme is malformed"), 500),
        (RuntimeError("SECRET payload"), 500),
    ],
)
@pytest.mark.parametrize("which", ["tenants", "secrets"])
def test_without_config_or_secret_nobody_is_let_in(
    world: World, capsys: pytest.CaptureFixture[str], error: Exception, status: int, which: str
) -> None:
    failing = {which: FailingConfigs(error)}
    dependencies = webhooks.Dependencies(**(world.dependencies.__dict__ | failing))
    answer = webhooks.receive(webhook_event(), dependencies)
    assert (answer["statusCode"], world.receipts.writes) == (status, 0)
    assert "SECRET" not in answer["body"] + capsys.readouterr().out + json.dumps(world.logged())


@pytest.mark.parametrize("event", [{}, {"headers": None, "requestContext": None, "pathParameters": None}])
def test_an_event_of_no_gateway_is_answered_and_never_raises(world: World, event: dict[str, Any]) -> None:
    assert world.send(event)["statusCode"] == 401


@pytest.mark.parametrize("source", ["plain", "stripe", "standard", "agreeing", "forms"])
@pytest.mark.parametrize(("prover", "other"), [("acme", "beta"), ("beta", "acme")])
def test_one_tenant_s_proof_opens_no_other_tenant_s_address(
    world: World, source: str, prover: str, other: str
) -> None:
    body = EVENT | {"event": "submitted", "data": {"submissionId": "s-1"}}
    raw = json.dumps(body).encode()
    theirs = proof(source, raw, tenant=prover)
    answer = world.post(body, source, other, headers=theirs)
    assert answer["statusCode"] == 401
    assert world.receipts.writes == 0
    assert world.post(body, source, prover, headers=theirs)["statusCode"] == 202
    assert [receipt.tenant_id for receipt in world.receipts.items.values()] == [prover]
