"""Section 3 of the contract for webhooks, through the deployed API."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.api import Api, assert_problem, eventually, fresh_key
from tests.e2e.stored import marked
from tests.e2e.test_contract_store import without_rights
from tests.e2e.webhooks import Sender, event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import httpx

    from tests.e2e.stand_in import StandIn
    from tests.platform_fixture import RunningPlatform

pytestmark = pytest.mark.platform

NEW, DUPLICATE = {"accepted": True, "duplicate": False}, {"accepted": True, "duplicate": True}
each_source = pytest.mark.parametrize("source", ["events", "stripe", "github", "plain"])


@each_source
def test_a_new_event_is_202_and_its_duplicates_200_whatever_their_bodies(
    sender: Callable[..., Sender], alpha: Api, source: str
) -> None:
    sent = event()
    first = sender("alpha", source).send(sent)
    assert (first.status_code, first.json()) == (202, NEW), first.text
    for again in (sent, sent | {"attempt": 2}, dict(reversed(list(sent.items())))):
        answer = sender("alpha", source).send(again)
        assert (answer.status_code, answer.json()) == (200, DUPLICATE)
        assert answer.headers["Location"] == first.headers["Location"]
    stored = alpha.get(first.headers["Location"]).json()
    assert (stored["source"], stored["eventId"], stored["event"]) == (source, sent["id"], sent)


@each_source
def test_what_is_not_proved_is_401_and_nothing_is_written(
    platform: RunningPlatform, sender: Callable[..., Sender], source: str
) -> None:
    true = sender("alpha", source)
    wrong = Sender(true.url, true.scheme, "whsec_d3Jvbmcgc2VjcmV0IGZvciBldmVyeW9uZQ==", true.client)
    sent = event()
    body = json.dumps(sent).encode()
    assert_problem(wrong.send(sent), 401, "unauthorized")
    assert_problem(true.client.post(true.url, content=body), 401, "unauthorized")
    if source != "plain":
        signed = true.sign(body, sent["id"]) | {"content-type": "application/json"}
        flipped = body.replace(b"Ada", b"Adb")
        assert_problem(true.client.post(true.url, content=flipped, headers=signed), 401, "unauthorized")
    if source in ("events", "stripe"):
        old = true.sign(body, sent["id"], int(time.time()) - 3600) | {"content-type": "application/json"}
        assert_problem(true.client.post(true.url, content=body, headers=old), 401, "unauthorized")
    assert marked(platform, "receipts", "outbox.document", sent["id"]) == []


def test_one_tenant_s_proof_opens_no_other_tenant_s_address(
    platform: RunningPlatform, sender: Callable[..., Sender]
) -> None:
    mine, theirs = sender("alpha", "events"), sender("delta", "events")
    assert mine.secret != theirs.secret
    sent = event()
    stranger = Sender(theirs.url, mine.scheme, mine.secret, mine.client)
    assert_problem(stranger.send(sent), 401, "unauthorized")
    assert marked(platform, "receipts", "outbox.document", sent["id"]) == []
    assert theirs.send(sent).status_code == 202


def test_a_source_or_tenant_that_is_not_there_is_401_like_a_wrong_proof(
    sender: Callable[..., Sender],
) -> None:
    known = sender("alpha", "events")
    for path in ("alpha/nobody", "nobody/events", "beta/events", "Alpha/events", "alpha/EVENTS"):
        stranger = Sender(known.url.replace("alpha/events", path), known.scheme, known.secret, known.client)
        assert_problem(stranger.send(event()), 401, "unauthorized")


def test_a_suspended_tenant_is_403_once_its_sender_has_proved_itself(sender: Callable[..., Sender]) -> None:
    closed = sender("closed", "events")
    for _ in range(3):
        assert_problem(closed.send(event()), 403, "forbidden")
    assert_problem(
        Sender(closed.url, closed.scheme, "whsec_AAAA", closed.client).send(event()), 401, "unauthorized"
    )


@pytest.mark.parametrize(("source", "header"), [("events", "webhook-id")])
def test_header_and_body_that_disagree_are_400_and_nothing_is_written(
    platform: RunningPlatform, sender: Callable[..., Sender], source: str, header: str
) -> None:
    api = sender("alpha", source)
    for number in range(3):
        sent = event()
        body = json.dumps(sent).encode()
        signed = api.sign(body, f"another-{number}-{sent['id']}")
        assert signed[header] != sent["id"]
        problem = assert_problem(
            api.client.post(api.url, content=body, headers=signed | {"content-type": "application/json"}),
            400,
            "invalid-body",
        )
        assert header in str(problem["errors"]).lower()
        assert marked(platform, "receipts", "outbox.document", sent["id"]) == []


@pytest.mark.parametrize("body", [{}, {"id": None}, {"id": ""}, {"id": {"a": 1}}, {"id": ["a"]}, []])
def test_an_event_without_its_id_is_400(sender: Callable[..., Sender], body: object) -> None:
    for source in ("stripe", "plain"):
        assert_problem(sender("alpha", source).send(body), 400, "invalid-body")


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (b"", "not_json"),
        (b'{"id":"a","n":NaN}', "not_finite"),
        (b'{"id":"a","id":"a"}', "duplicate_name"),
        (b'{"id":"\\ud83d"}', "lone_surrogate"),
    ],
)
def test_a_body_that_is_not_strict_json_is_400(sender: Callable[..., Sender], raw: bytes, rule: str) -> None:
    for source in ("events", "stripe", "plain"):
        problem = assert_problem(sender("alpha", source).send({"id": "a"}, raw=raw), 400, "invalid-body")
        assert rule in {fault["rule"] for fault in problem["errors"]}  # type: ignore[attr-defined]


def test_another_media_type_is_415_and_a_body_over_the_limit_413(sender: Callable[..., Sender]) -> None:
    for media in ("text/plain", "application/x-www-form-urlencoded", "application/xml"):
        answer = sender("alpha", "plain").send(event(), {"content-type": media})
        assert_problem(answer, 415, "unsupported-media-type")
    for size in (131_072, 140_000, 200_000):
        answer = sender("alpha", "plain").send(event(data="x" * size))
        assert_problem(answer, 413, "body-too-large")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_another_method_is_405(sender: Callable[..., Sender], method: str) -> None:
    api = sender("alpha", "events")
    answer = api.client.request(method, api.url)
    assert_problem(answer, 405, "method-not-allowed", by_mock=True)
    assert {word.strip() for word in answer.headers["Allow"].split(",")} == {"POST", "OPTIONS"}


@pytest.mark.parametrize("path", ["/v1/webhooks", "/v1/webhooks/alpha", "/v1/webhooks/alpha/events/more"])
def test_an_unknown_path_is_404(anonymous: Api, path: str) -> None:
    assert_problem(anonymous.post(event(), path=path), 404, "not-found")


@contextmanager
def narrow_route(platform: RunningPlatform) -> Iterator[None]:
    """Let the route take one request a second for the length of the block."""
    gateway, (api_id, stage) = platform.client("apigateway"), platform.outputs.api_url.split("/")[-2:]
    (path,) = (
        name
        for name in gateway.get_stage(restApiId=api_id, stageName=stage)["methodSettings"]
        if "webhooks" in name
    )
    limits = gateway.get_stage(restApiId=api_id, stageName=stage)["methodSettings"][path]
    place = "/" + path.removesuffix("/POST").replace("/", "~1") + "/POST/throttling/"

    def limit(rate: float, burst: int) -> None:
        changes = [
            {"op": "replace", "path": place + "rateLimit", "value": str(rate)},
            {"op": "replace", "path": place + "burstLimit", "value": str(burst)},
        ]
        gateway.update_stage(restApiId=api_id, stageName=stage, patchOperations=changes)

    limit(1, 1)
    try:
        yield
    finally:
        limit(limits["throttlingRateLimit"], limits["throttlingBurstLimit"])


def test_over_the_rate_of_the_route_is_429_and_other_routes_do_not_notice(
    platform: RunningPlatform, sender: Callable[..., Sender], alpha: Api
) -> None:
    api = sender("alpha", "events")
    with narrow_route(platform):
        answers = [api.send(event()) for _ in range(8)]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert len(refused) >= 3
        for answer in refused:
            assert_problem(answer, 429, "rate-limited")
        assert alpha.post(idempotency_key=fresh_key()).status_code == 201
    assert eventually(lambda: api.send(event()).status_code == 202)


def test_two_sources_with_one_id_are_two_events_and_so_are_two_tenants(
    sender: Callable[..., Sender],
) -> None:
    for _ in range(3):
        sent = event()
        senders = [sender("alpha", "events"), sender("alpha", "stripe"), sender("delta", "events")]
        answers = [each.send(sent) for each in senders]
        assert [answer.status_code for answer in answers] == [202, 202, 202]
        assert len({answer.headers["Location"] for answer in answers}) == 3


def test_an_event_of_another_tenant_is_404(
    sender: Callable[..., Sender], alpha: Api, caller: Callable[..., Api]
) -> None:
    places = [sender("alpha", "events").send(event()).headers["Location"] for _ in range(3)]
    assert [alpha.get(place).status_code for place in places] == [200, 200, 200]
    with ThreadPoolExecutor(3) as pool:
        for answer in pool.map(caller("beta").get, places):
            assert_problem(answer, 404, "not-found")


def test_a_store_that_cannot_be_reached_is_503_and_the_redelivery_takes_effect(
    platform: RunningPlatform, sender: Callable[..., Sender]
) -> None:
    api, sent = sender("alpha", "events"), [event() for _ in range(3)]
    assert api.send(event()).status_code == 202
    with without_rights(platform, "webhooks"):
        for each in sent:
            answer = api.send(each)
            assert_problem(answer, 503, "store-unavailable")
            assert int(answer.headers["Retry-After"]) >= 1
    for each in sent:
        assert eventually(lambda each=each: api.send(each).status_code == 202)  # type: ignore[misc]


def test_an_event_is_upserted_at_its_destination_and_then_delivered(
    sender: Callable[..., Sender], alpha: Api, stand_in: StandIn
) -> None:
    sent = event()
    location = sender("alpha", "events").send(sent).headers["Location"]
    assert alpha.get(location).json()["status"] in ("RECEIVED", "DELIVERED")
    eventually(lambda: alpha.get(location).json()["status"] == "DELIVERED")
    (entity,) = stand_in.upserts(sent["id"])
    assert entity


def test_a_destination_whose_answers_are_lost_gets_the_same_upsert_again(
    sender: Callable[..., Sender], alpha: Api, stand_in: StandIn
) -> None:
    sent = event()
    with stand_in.fault("lose-answer", bodyContains=sent["id"], times=1):
        location = sender("alpha", "events").send(sent).headers["Location"]
        eventually(lambda: stand_in.upserts(sent["id"]))
    eventually(lambda: alpha.get(location).json()["status"] == "DELIVERED", seconds=90)
    assert len(stand_in.upserts(sent["id"])) == 1


@pytest.mark.alone
def test_64_redeliveries_at_once_are_one_event(
    platform: RunningPlatform, sender: Callable[..., Sender], stand_in: StandIn, alpha: Api
) -> None:
    api, callers = sender("alpha", "events"), 64
    with ThreadPoolExecutor(callers) as pool:
        for _ in range(3):
            sent, barrier = event(), threading.Barrier(callers)

            def call(sent: dict[str, Any] = sent, barrier: threading.Barrier = barrier) -> httpx.Response:
                barrier.wait()
                return api.send(sent)

            answers = [future.result() for future in [pool.submit(call) for _ in range(callers)]]
            outages = [answer for answer in answers if answer.status_code == 503]
            new = [answer for answer in answers if answer.status_code == 202]
            assert len(new) in ({0, 1} if outages else {1})
            assert {answer.status_code for answer in answers} <= {200, 202, 503}
            last = eventually(lambda sent=sent: (again := api.send(sent)).status_code == 200 and again)  # type: ignore[misc]
            accepted = [answer for answer in answers if answer.is_success]
            assert {answer.headers["Location"] for answer in accepted} | {last.headers["Location"]} == {
                last.headers["Location"]
            }
            assert len(marked(platform, "receipts", "outbox.document", sent["id"])) == 1
            eventually(
                lambda place=last.headers["Location"]: alpha.get(place).json()["status"] == "DELIVERED"  # type: ignore[misc]
            )
            assert len(marked(platform, "records", "document", sent["id"])) == 1
            assert len(stand_in.upserts(sent["id"])) == 1
