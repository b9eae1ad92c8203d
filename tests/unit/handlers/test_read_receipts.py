"""`read`: what became of a key; and who may ask, of both."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from aws_lambda_powertools import Logger

from handlers.adapters import metrics
from handlers.domain import keys
from handlers.domain.errors import Refused, Unavailable
from handlers.read import path_parameter
from tests.builders import authorizer_context, in_progress, receipt
from tests.unit.handlers.read_world import OLD_ID, ORIGIN, World, key, lead, problem


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
    "text", ["a/b", "a%2Fb", "100%", "%", "a+b", "a?b#c", "k#1", 'quoted"', "~", "x" * 255]
)
def test_every_key_that_a_header_can_carry_is_found_on_aws_and_locally(text: str) -> None:
    world = World(receipts={("acme", text): receipt(key=text)})
    on_aws = world.get(key(text))
    # The local AWS decodes the path first, and says `version` as an HTTP API does.
    locally = world.get(key(text) | {"pathParameters": {"key": text}, "version": "1.0"})
    for answer in (on_aws, locally):
        assert answer["statusCode"] == 200
        assert json.loads(answer["body"])["key"] == text


@pytest.mark.parametrize(
    ("sent", "meant"), [('"abc"', "abc"), (r'"a\"b"', 'a"b'), (r'"\"quoted\""', '"quoted"'), ('"a/b"', "a/b")]
)
def test_a_key_that_was_sent_quoted_is_asked_for_as_it_was_sent(sent: str, meant: str) -> None:
    assert keys.from_header((sent,)) == meant
    world = World(receipts={("acme", meant): receipt(key=meant)})
    assert json.loads(world.get(key(sent))["body"])["key"] == meant


@pytest.mark.parametrize("sent", ['"abc', '"', '"a"b"', '""'])
def test_a_quoted_key_that_no_header_could_carry_is_400(sent: str) -> None:
    assert problem(World().get(key(sent)))["type"] == "urn:onceward:problem:invalid-key"


@pytest.mark.parametrize("parameters", [None, {}, {"key": None}, {"id": None}])
def test_a_path_without_its_parameter_is_the_callers_fault(parameters: Any) -> None:
    assert World().get(key("k") | {"pathParameters": parameters})["statusCode"] == 400
    assert World().get(lead(OLD_ID) | {"pathParameters": parameters})["statusCode"] == 404


@pytest.mark.parametrize("missing", ["headers", "multiValueHeaders", "requestContext", "resource"])
def test_an_event_with_nulls_is_answered_and_raises_nothing(missing: str) -> None:
    world = World({("acme", "leads", OLD_ID): "{}"})
    expected = 200 if "eaders" in missing else 500
    assert world.get(lead(OLD_ID) | {missing: None})["statusCode"] == expected


def test_what_cannot_be_told_is_answered_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(metrics, "emit", broken)
    monkeypatch.setattr(Logger, "info", broken)
    assert World({("acme", "leads", OLD_ID): "{}"}).get(lead(OLD_ID))["statusCode"] == 200


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


def test_one_log_line_a_request_names_the_tenant_and_never_the_key(
    capsys: pytest.CaptureFixture[str],
) -> None:
    world = World(receipts={("acme", "private-key"): receipt(key="private-key")})
    world.get(key("private-key"))
    world.get(key("other-private-key"))
    world.error = Unavailable("receipts", "ReadTimeoutError")
    world.get(key("private-key"))

    lines = [json.loads(line) for line in world.log.getvalue().splitlines()]
    assert {line["key_name"] for line in lines} == {"server"}
    assert [(line["outcome"], line["tenant"], line["status"]) for line in lines] == [
        ("answered", "acme", 200),
        ("rejected", "acme", 404),
        ("failed", "acme", 503),
    ]
    output = capsys.readouterr().out
    assert "private-key" not in world.log.getvalue() + output
    emitted = [json.loads(line) for line in output.splitlines()]
    assert {line["Service"] for line in emitted} == {"onceward-dev_read"}
    assert all("RequestLatency" in line for line in emitted)
    assert [line["Failed"] for line in emitted] == [[0], [0], [1]]


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
