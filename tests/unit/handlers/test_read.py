"""`read`: records by id and receipts by key, over stores in memory and a clock that tests move."""

from __future__ import annotations

import io
import itertools
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from aws_lambda_powertools import Logger

from handlers.domain import ids
from handlers.domain.errors import CorruptItem, Refused, Unavailable
from handlers.read import Dependencies, path_parameter, read
from handlers.settings import ReadSettings
from tests.builders import HOUR_MS, NOW_MS, authorizer_context, in_progress, receipt

if TYPE_CHECKING:
    from handlers.domain.receipt import Receipt

ORIGIN = "https://www.acme.example"
_LOGGERS = itertools.count()


def record_id(created_at_ms: int, tenant: str = "acme") -> str:
    return ids.record_id(tenant, "k", "generation", created_at_ms)


OLD_ID, NEW_ID = record_id(NOW_MS - HOUR_MS), record_id(NOW_MS - 200)


@dataclass
class World:
    """Stores, clock and log of one test. `appears_at`: when a record becomes visible, by id (ms)."""

    documents: dict[tuple[str, str, str], str] = field(default_factory=dict)
    receipts: dict[tuple[str, str], Receipt] = field(default_factory=dict)
    appears_at: dict[str, int] = field(default_factory=dict)
    error: Exception | None = None
    now: int = NOW_MS
    looks: int = 0
    log: io.StringIO = field(default_factory=io.StringIO)

    def document(self, tenant_id: str, operation: str, record_id: str) -> str | None:
        self.looks += 1
        if self.error is not None:
            raise self.error
        if self.appears_at.get(record_id, 0) > self.now:
            return None
        return self.documents.get((tenant_id, operation, record_id))

    def find(self, tenant_id: str, key: str) -> Receipt | None:
        self.looks += 1
        if self.error is not None:
            raise self.error
        return self.receipts.get((tenant_id, key))

    def sleep(self, pause_ms: int) -> None:
        self.now += pause_ms

    def get(self, event: dict[str, Any]) -> dict[str, Any]:
        dependencies = Dependencies(
            settings=ReadSettings("dev", "receipts", "records", (ORIGIN,)),
            records=self,
            receipts=self,
            logger=Logger(service=f"read-{next(_LOGGERS)}", level="INFO", stream=self.log),
            clock_ms=lambda: self.now,
            sleep_ms=self.sleep,
        )
        return read(event, dependencies)


def get_event(
    resource: str,
    parameters: dict[str, str],
    *,
    headers: dict[str, str] | None = None,
    authorizer: dict[str, str] | None = None,
) -> dict[str, Any]:
    """A REST API proxy event as AWS sends it: path parameters percent-encoded, no `version`."""
    sent = headers or {}
    return {
        "resource": resource,
        "path": resource,
        "httpMethod": "GET",
        "headers": sent,
        "multiValueHeaders": {name: [value] for name, value in sent.items()},
        "queryStringParameters": None,
        "pathParameters": parameters,
        "requestContext": {
            "requestId": "gateway-request-id",
            "requestTimeEpoch": NOW_MS,
            "authorizer": authorizer or authorizer_context(),
        },
        "body": None,
        "isBase64Encoded": False,
    }


def lead(record: str, **more: Any) -> dict[str, Any]:
    return get_event("/v1/leads/{id}", {"id": record}, **more)


def key(text: str, **more: Any) -> dict[str, Any]:
    return get_event("/v1/receipts/{key+}", {"key": quote(text, safe="/")}, **more)


def test_a_record_is_answered_byte_for_byte() -> None:
    document = '{"id":"x","lead":{"z":1e400,"a":1.0,"n":123456789012345678901234567890}}'
    answer = World({("acme", "leads", OLD_ID): document}).get(lead(OLD_ID))
    assert answer == {
        "statusCode": 200,
        "headers": {"Content-Type": "application/json", "X-Correlation-Id": "gateway-request-id"},
        "body": document,
    }


def problem(answer: dict[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(answer["body"])
    assert answer["headers"]["Content-Type"] == "application/problem+json"
    assert body["status"] == answer["statusCode"]
    return body


def test_another_tenants_record_is_answered_exactly_as_one_that_nobody_has() -> None:
    theirs = World({("bluebird", "leads", OLD_ID): "{}"})
    nobodys = World()
    assert theirs.get(lead(OLD_ID)) == nobodys.get(lead(OLD_ID))
    assert problem(theirs.get(lead(OLD_ID)))["status"] == 404


def test_another_operations_record_is_not_a_lead() -> None:
    assert World({("acme", "payments", OLD_ID): "{}"}).get(lead(OLD_ID))["statusCode"] == 404


@pytest.mark.parametrize(
    "malformed",
    ["", "x", OLD_ID.lower(), OLD_ID + "0", OLD_ID[:-1], "8" + OLD_ID[1:], "../receipts/k", "\x00"],
)
def test_an_id_that_is_none_is_404_without_a_look(malformed: str) -> None:
    world = World()
    answer = world.get(lead(quote(malformed, safe="")))
    assert answer["statusCode"] == 404
    assert "Retry-After" not in answer["headers"]
    assert world.looks == 0


def test_an_old_id_is_looked_for_once() -> None:
    world = World()
    answer = world.get(lead(OLD_ID))
    assert answer["statusCode"] == 404
    assert "Retry-After" not in answer["headers"]
    assert (world.looks, world.now) == (1, NOW_MS)


@pytest.mark.parametrize("delay_ms", [1, 100, 700, 1_900])
def test_a_record_on_its_way_is_waited_for(delay_ms: int) -> None:
    world = World({("acme", "leads", NEW_ID): "{}"}, appears_at={NEW_ID: NOW_MS + delay_ms})
    assert world.get(lead(NEW_ID))["statusCode"] == 200
    assert NOW_MS + delay_ms <= world.now <= NOW_MS + 2_000


def test_after_two_seconds_a_young_id_is_404_for_now() -> None:
    world = World({("acme", "leads", NEW_ID): "{}"}, appears_at={NEW_ID: NOW_MS + 60_000})
    answer = world.get(lead(NEW_ID))
    assert answer["statusCode"] == 404
    assert answer["headers"]["Retry-After"] == "1"
    assert NOW_MS + 1_500 <= world.now <= NOW_MS + 2_000
    assert world.looks <= 10


@pytest.mark.parametrize(
    ("age_ms", "waits"), [(9_999, True), (10_000, False), (0, True), (-5_000, True), (-5_001, False)]
)
def test_only_an_id_younger_than_ten_seconds_is_waited_for(age_ms: int, waits: bool) -> None:
    world = World()
    answer = world.get(lead(record_id(NOW_MS - age_ms)))
    assert (world.now > NOW_MS, "Retry-After" in answer["headers"]) == (waits, waits)


def test_a_receipt_says_what_became_of_the_key() -> None:
    found = receipt(key="order-7")
    answer = World(receipts={("acme", "order-7"): found}).get(key("order-7"))
    assert answer["statusCode"] == 200
    assert json.loads(answer["body"]) == {
        "key": "order-7",
        "operation": "leads",
        "status": "COMPLETED",
        "firstSeen": "2026-11-29T23:53:20.000Z",
        "expires": "2026-11-30T01:53:20.000Z",
        "record": "/v1/leads/R",
        "recordId": "R",
        "correlationId": "correlation-old",
    }


def test_a_receipt_in_progress_has_no_record_yet() -> None:
    answer = World(receipts={("acme", "k"): in_progress()}).get(key("k"))
    told = json.loads(answer["body"])
    assert (told["status"], told["record"], told["recordId"]) == ("IN_PROGRESS", None, None)


@pytest.mark.parametrize(
    "text", ["a/b", "a%2Fb", "100%", "%", "a+b", "a?b#c", "k#1", '"quoted"', "~", "x" * 255]
)
def test_every_key_that_a_header_can_carry_is_found_on_aws_and_locally(text: str) -> None:
    world = World(receipts={("acme", text): receipt(key=text)})
    on_aws = world.get(key(text))
    # The local AWS decodes the path first, and says `version` as an HTTP API does.
    locally = world.get(key(text) | {"pathParameters": {"key": text}, "version": "1.0"})
    for answer in (on_aws, locally):
        assert answer["statusCode"] == 200
        assert json.loads(answer["body"])["key"] == text


def test_a_path_parameter_is_decoded_once_and_never_twice() -> None:
    encoded = {"pathParameters": {"key": "a%252Fb"}}
    assert path_parameter(encoded, "key") == "a%2Fb"
    assert path_parameter(encoded | {"version": "1.0"}, "key") == "a%252Fb"


@pytest.mark.parametrize(
    ("text", "rule"),
    [("", "blank"), ("a b", "not_visible_ascii"), ("é", "not_visible_ascii"), ("x" * 256, "too_long")],
)
def test_a_key_that_no_header_could_carry_is_400_with_the_rule(text: str, rule: str) -> None:
    world = World()
    answer = world.get(key(text))
    assert problem(answer)["status"] == 400
    assert problem(answer)["errors"][0]["rule"] == rule
    assert world.looks == 0


def test_a_derived_key_cannot_be_asked_for() -> None:
    derived = " leads:body:" + "a" * 64
    answer = World(receipts={("acme", derived): receipt(key=derived)}).get(key(derived))
    assert answer["statusCode"] == 400


def test_an_unknown_key_and_another_tenants_are_the_same_404() -> None:
    theirs = World(receipts={("bluebird", "k"): receipt(tenant_id="bluebird")})
    assert theirs.get(key("k")) == World().get(key("k"))
    assert theirs.get(key("k"))["statusCode"] == 404


@pytest.mark.parametrize("event", [lead(OLD_ID), key("k")])
@pytest.mark.parametrize(
    "error", [Unavailable("records", "ThrottlingException"), Refused("records", "AccessDenied")]
)
def test_a_store_that_cannot_say_is_503_with_retry_after(event: dict[str, Any], error: Exception) -> None:
    answer = World(error=error).get(event)
    assert problem(answer)["status"] == 503
    assert answer["headers"]["Retry-After"] == "1"
    assert "ThrottlingException" not in answer["body"]


@pytest.mark.parametrize("error", [CorruptItem("secret detail"), ValueError("secret detail")])
def test_what_nobody_foresaw_is_a_500_that_tells_nothing(error: Exception) -> None:
    world = World(error=error)
    answer = world.get(lead(OLD_ID))
    assert problem(answer)["status"] == 500
    assert "secret" not in answer["body"]
    [line] = world.log.getvalue().splitlines()
    assert "secret" not in line or isinstance(error, CorruptItem)


@pytest.mark.parametrize(
    ("event", "allowed"),
    [
        (lead(OLD_ID, authorizer=authorizer_context(operations="leads:create")), False),
        (lead(OLD_ID, authorizer=authorizer_context(operations="receipts:read")), False),
        (lead(OLD_ID, authorizer=authorizer_context(operations="leads:read")), True),
        (key("k", authorizer=authorizer_context(operations="leads:read")), False),
        (key("k", authorizer=authorizer_context(operations="receipts:read")), True),
        (lead(OLD_ID, authorizer=authorizer_context(origins=ORIGIN)), False),
        (
            lead(
                OLD_ID, authorizer=authorizer_context(origins=ORIGIN), headers={"Origin": "https://x.example"}
            ),
            False,
        ),
        (lead(OLD_ID, authorizer=authorizer_context(origins=ORIGIN), headers={"origin": ORIGIN}), True),
    ],
)
def test_a_key_reads_what_it_may_and_from_where_it_may(event: dict[str, Any], allowed: bool) -> None:
    world = World({("acme", "leads", OLD_ID): "{}"}, {("acme", "k"): receipt()})
    answer = world.get(event)
    assert answer["statusCode"] == (200 if allowed else 403)
    assert world.looks == (1 if allowed else 0)


def test_a_context_that_no_authorizer_of_ours_made_is_a_500() -> None:
    assert World().get(lead(OLD_ID, authorizer=authorizer_context(tenantId="")))["statusCode"] == 500


def test_the_callers_correlation_id_comes_back_on_answers_and_problems() -> None:
    world = World({("acme", "leads", OLD_ID): "{}"})
    for record in (OLD_ID, "x"):
        answer = world.get(lead(record, headers={"X-Correlation-Id": "trace-7"}))
        assert answer["headers"]["X-Correlation-Id"] == "trace-7"


def test_a_page_of_a_known_origin_may_see_the_answer() -> None:
    answer = World({("acme", "leads", OLD_ID): "{}"}).get(lead(OLD_ID, headers={"Origin": ORIGIN}))
    assert answer["headers"]["Access-Control-Allow-Origin"] == ORIGIN


def test_one_log_line_a_request_names_the_tenant_and_never_the_key(
    capsys: pytest.CaptureFixture[str],
) -> None:
    world = World(receipts={("acme", "private-key"): receipt(key="private-key")})
    world.get(key("private-key"))
    world.get(key("other-private-key"))
    world.error = Unavailable("receipts", "ReadTimeoutError")
    world.get(key("private-key"))

    lines = [json.loads(line) for line in world.log.getvalue().splitlines()]
    assert [(line["outcome"], line["tenant"], line["status"]) for line in lines] == [
        ("answered", "acme", 200),
        ("rejected", "acme", 404),
        ("failed", "acme", 503),
    ]
    output = capsys.readouterr().out
    assert "private-key" not in world.log.getvalue() + output
    emitted = [json.loads(line) for line in output.splitlines()]
    assert all("RequestLatency" in line for line in emitted if "TenantId" not in line)
    assert [line["Failed"] for line in emitted if "Failed" in line] == [[1], [1]]  # of all, of the tenant


def test_receipts_are_found_in_the_table_they_are_written_to() -> None:
    # The one test of this file that crosses to DynamoDB: writer and reader must agree on every attribute.
    import boto3
    from moto import mock_aws

    from handlers.adapters.receipt_item import to_item
    from handlers.adapters.receipt_reader import DynamoDbReceiptReader

    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        client.create_table(
            TableName="receipts",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        written = replace(receipt(), key="a#b")
        client.put_item(TableName="receipts", Item=to_item(written))
        reader = DynamoDbReceiptReader("receipts", client)
        assert reader.find("acme", "a#b") == written
        assert reader.find("acme", "a") is None
