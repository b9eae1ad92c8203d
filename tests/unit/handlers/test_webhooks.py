"""`webhooks`: what is taken in, once, and what is said of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from moto import mock_aws

from handlers.adapters.receipts import DynamoDbReceipts
from handlers.domain.receipt import Status
from tests.builders import NOW_MS
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.webhook_world import EVENT, World, proof, webhook_event

if TYPE_CHECKING:
    from collections.abc import Iterator

NEW, DUPLICATE = {"accepted": True, "duplicate": False}, {"accepted": True, "duplicate": True}
DAYS_30_MS = 30 * 24 * 3_600_000


@pytest.fixture(scope="module")
def environment() -> Iterator[World]:
    with mock_aws():
        yield World()


@pytest.fixture
def world(environment: World) -> World:
    environment.begin(InMemoryReceipts())
    return environment


def test_a_new_event_is_202_and_stored_in_one_write_with_what_must_follow(world: World) -> None:
    answer = world.post()
    assert (answer["statusCode"], json.loads(answer["body"])) == (202, NEW)
    (stored,) = world.receipts.items.values()
    assert (world.receipts.writes, stored.tenant_id, stored.key) == (1, "acme", " webhooks:plain:evt_1")
    assert (stored.operation, stored.status) == ("webhooks", Status.COMPLETED)
    assert stored.expires_at == NOW_MS + DAYS_30_MS
    assert stored.outbox is not None
    assert stored.outbox.type == "webhook.received"
    assert answer["headers"]["Location"] == f"/v1/webhook-events/{stored.outbox.record_id}"
    assert json.loads(stored.outbox.document) == {
        "id": stored.outbox.record_id,
        "createdAt": "2026-11-30T00:53:20.000Z",
        "source": "plain",
        "eventId": "evt_1",
        "event": EVENT,
    }


def test_the_record_holds_the_event_as_it_was_sent(world: World) -> None:
    raw = b' { "z": [1.50, 1e2, 0.12345678901234567890123], "id":\t"\\u0041" }\n'
    assert world.post(raw=raw)["statusCode"] == 202
    (stored,) = world.receipts.items.values()
    assert stored.outbox is not None
    event = '"event":{"z":[1.50,1e2,0.12345678901234567890123],"id":"\\u0041"}}'
    assert stored.outbox.document.endswith('"source":"plain","eventId":"A",' + event)


@pytest.mark.parametrize(
    "again",
    [EVENT, EVENT | {"attempt": 2}, dict(reversed(list(EVENT.items()))), {"id": "evt_1"}],
    ids=["the same", "another body", "another order", "less"],
)
def test_a_duplicate_is_200_in_its_own_fixed_way_whatever_its_body(
    world: World, again: dict[str, Any]
) -> None:
    first = world.post()
    for _ in range(2):
        answer = world.post(again)
        assert (answer["statusCode"], json.loads(answer["body"])) == (200, DUPLICATE)
        assert answer["headers"] == first["headers"]
    (stored,) = world.receipts.items.values()
    assert stored.outbox is not None
    assert json.loads(stored.outbox.document)["event"] == EVENT


def test_a_duplicate_whose_body_differs_is_counted(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.post()
    capsys.readouterr()
    for body, changed in ((EVENT, False), (dict(reversed(EVENT.items())), False), (EVENT | {"n": 1}, True)):
        world.post(body)
        assert ("BodyChanged" in capsys.readouterr().out) is changed
        assert world.logged()[-1]["body_changed"] == str(changed).lower()


def test_an_event_is_a_new_one_after_its_window(world: World) -> None:
    first = world.post()
    assert world.post(arrival_ms=NOW_MS + DAYS_30_MS - 1)["statusCode"] == 200
    later = world.post(arrival_ms=NOW_MS + DAYS_30_MS)
    assert later["statusCode"] == 202
    assert later["headers"]["Location"] != first["headers"]["Location"]


def test_two_sources_or_two_tenants_with_one_id_are_as_many_events(world: World) -> None:
    answers = [
        world.post(),
        world.post(source="other"),
        world.post(tenant="beta"),
        world.post(source="stripe"),
        world.post(source="standard"),
    ]
    assert [answer["statusCode"] for answer in answers] == [202] * 5
    assert len({answer["headers"]["Location"] for answer in answers}) == 5
    assert len({receipt.fingerprint for receipt in world.receipts.items.values()}) == 5


def test_a_template_makes_the_id_of_several_members_and_an_old_secret_still_opens(world: World) -> None:
    form = {"event": "submitted", "timestamp": 1, "data": {"submissionId": "s:1"}}
    assert world.post(form, "forms")["statusCode"] == 202
    assert world.post(form | {"timestamp": 2}, "forms")["statusCode"] == 200
    (stored,) = world.receipts.items.values()
    assert stored.key == " webhooks:forms:staticforms:submitted:s%3A1"


def test_a_header_that_carries_the_id_must_agree_and_when_it_does_not_nothing_is_written(
    world: World,
) -> None:
    raw = json.dumps(EVENT).encode()
    assert world.post(source="agreeing")["statusCode"] == 202
    world.begin(InMemoryReceipts())
    answer = world.post(source="agreeing", headers=proof("agreeing", raw, "evt_2"))
    problem = json.loads(answer["body"])
    assert (answer["statusCode"], problem["type"]) == (400, "urn:onceward:problem:invalid-body")
    (fault,) = problem["errors"]
    assert (fault["field"], fault["rule"]) == ("/id", "conflicting")
    assert "webhook-id" in fault["detail"]
    assert world.receipts.writes == 0


def test_the_same_id_in_another_header_is_another_event(world: World) -> None:
    raw = json.dumps({"n": 1}).encode()
    for event_id, status in (("a", 202), ("b", 202), ("a", 200)):
        sent = proof("standard", raw, event_id)
        assert world.post(source="standard", raw=raw, headers=sent)["statusCode"] == status
    assert world.post(["any", "JSON"], "standard")["statusCode"] == 202


@pytest.mark.parametrize("source", ["stripe", "agreeing", "plain"])
def test_a_body_in_base64_is_proved_and_read_as_its_bytes(world: World, source: str) -> None:
    raw = json.dumps(EVENT | {"data": "é€"}, ensure_ascii=False).encode()
    assert world.post(source=source, raw=raw)["statusCode"] == 202
    assert world.post(source=source, raw=raw, base64_encoded=False)["statusCode"] == 200


def test_header_names_have_no_case(world: World) -> None:
    event = webhook_event(source="agreeing")
    for rename in (str.upper, str.title, str.lower):
        headers = {rename(name): values for name, values in event["multiValueHeaders"].items()}
        assert world.send(event | {"multiValueHeaders": headers})["statusCode"] in (202, 200)
    single = {name.title(): values[0] for name, values in event["multiValueHeaders"].items()}
    assert world.send(event | {"multiValueHeaders": None, "headers": single})["statusCode"] == 200


@pytest.mark.parametrize(
    "media",
    [
        "application/json",
        "application/cloudevents+json",
        "Application/JSON; charset=UTF-8",
        "application/a+json",
    ],
)
def test_json_under_any_of_its_names_is_taken(world: World, media: str) -> None:
    assert world.post(headers={"content-type": [media]})["statusCode"] == 202


def test_one_put_and_no_read_once_config_and_secret_are_cached_and_reads_are_told_apart(world: World) -> None:
    world.forget()
    world.begin(DynamoDbReceipts("receipts", world.dynamodb))
    calls = []
    for body, status in ((EVENT, 202), (EVENT, 200), ({"id": "b"}, 202)):
        assert world.post(body)["statusCode"] == status
        calls.append(list(world.calls))
        world.calls.clear()
    assert calls == [["GetItem", "GetParameter", "PutItem"], ["PutItem"], ["PutItem"]]
    assert [line["config_reads"] for line in world.logged()] == [2, 0, 0]


def test_one_log_line_a_request_and_never_an_id_or_a_payload(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.post(EVENT | {"id": "SECRET-id", "data": "SECRET-data"})
    world.post({"id": ["SECRET-id"]})
    world.post(headers={"authorization": ["Bearer SECRET-token"]})
    lines = world.logged()
    assert [(line["outcome"], line["status"], line["tenant"], line["source"]) for line in lines] == [
        ("accepted", 202, "acme", "plain"),
        ("rejected", 400, "acme", "plain"),
        ("unauthorized", 401, "acme", "plain"),
    ]
    assert [line.get("reason") for line in lines] == [None, None, "no_match"]
    emitted = capsys.readouterr().out
    assert "SECRET" not in emitted + json.dumps(lines)
    counted = {
        (tuple(sorted(names)), metric["Name"])
        for line in map(json.loads, emitted.splitlines())
        for directive in line["_aws"]["CloudWatchMetrics"]
        for names in directive["Dimensions"]
        for metric in directive["Metrics"]
    }
    assert {
        (("Service", "TenantId"), "Accepted"),
        (("Service", "TenantId"), "Unauthorized"),
        (("Operation", "Service"), "Rejected"),
        (("Service",), "RequestLatency"),
        (("Service",), "StoreLatency"),
    } <= counted
    assert (("Service", "TenantId"), "Rejected") not in counted
