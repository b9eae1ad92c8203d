"""`authorizer`: from an API key to a policy and a context, on moto's DynamoDB."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from moto import mock_aws

from handlers.authorizer import UnauthorizedError, authorize
from handlers.domain.caller import Caller
from handlers.domain.errors import CorruptItem, Refused, Unavailable
from handlers.domain.gateway_policy import MalformedMethodArn
from tests.one_session import client_made_once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from handlers.domain.registry_entry import KeyEntry
from tests.unit.handlers.authorizer_desk import (
    CREATE,
    HASH,
    KEY,
    READ,
    RECEIPT,
    REGION,
    STAGE_ARN,
    TABLE,
    Desk,
    key_item,
    permits,
    request_event,
)


@pytest.fixture
def desk() -> Iterator[Desk]:
    with mock_aws():
        made = Desk(client_made_once("dynamodb", region_name=REGION))
        yield made
        made.leave()


def test_a_known_key_may_call_the_whole_stage_and_brings_its_tenant(desk: Desk) -> None:
    desk.put(key_item())

    answer = desk.ask()

    assert answer["principalId"] == "acme"
    assert all(permits(answer, arn) for arn in (CREATE, READ, RECEIPT))
    assert answer["context"] == {
        "tenantId": "acme",
        "tier": "pro",
        "keyName": "web",
        "operations": "*",
        "origins": "",
        "bodyLimitBytes": "65536",
        "operationSettings": '{"leads":{"windowSeconds":86400,"keySource":"header-or-body"}}',
    }


def test_the_context_is_what_the_other_functions_parse(desk: Desk) -> None:
    operations = {"L": [{"S": "leads:create"}, {"S": "leads:read"}]}
    desk.put(key_item(operations=operations, origins={"L": [{"S": "https://acme.example"}]}))

    caller = Caller.from_context(desk.ask()["context"])

    assert (caller.tenant_id, caller.body_limit_bytes) == ("acme", 65536)
    assert caller.operations == {"leads:create", "leads:read"}
    assert caller.origins == {"https://acme.example"}
    assert caller.operation_settings["leads"].window_seconds == 86400


def test_a_publishable_key_may_call_its_operations_only_whichever_was_asked_first(desk: Desk) -> None:
    desk.put(key_item(operations={"L": [{"S": "leads:create"}]}))

    # The gateway keeps this answer and applies it to the key's next requests.
    for first in (CREATE, READ, RECEIPT):
        answer = desk.ask(request_event(method_arn=first))
        assert permits(answer, CREATE)
        assert not permits(answer, READ)
        assert not permits(answer, RECEIPT)
        assert not permits(answer, f"{STAGE_ARN}/DELETE/v1/leads")


def test_each_reading_permission_opens_its_own_path(desk: Desk) -> None:
    desk.put(key_item(operations={"L": [{"S": "receipts:read"}]}))
    answer = desk.ask()
    assert [permits(answer, arn) for arn in (CREATE, READ, RECEIPT)] == [False, False, True]


@pytest.mark.parametrize("operations", [[], ["leads:delete"]])
def test_a_key_without_a_single_route_is_denied(desk: Desk, operations: list[str]) -> None:
    desk.put(key_item(operations={"L": [{"S": word} for word in operations]}))
    answer = desk.ask()
    assert not any(permits(answer, arn) for arn in (CREATE, READ, RECEIPT))
    assert answer["policyDocument"]["Statement"][0]["Effect"] == "Deny"


def test_no_policy_reaches_another_stage(desk: Desk) -> None:
    desk.put(key_item())
    assert not permits(desk.ask(), CREATE.replace("/dev/", "/prod/"))
    assert not permits(desk.ask(), CREATE.replace("/dev/", "/dev2/"))


def test_a_suspended_tenant_is_denied_everything(desk: Desk) -> None:
    desk.put(key_item(status={"S": "suspended"}))
    answer = desk.ask()
    assert answer["principalId"] == "acme"
    assert not any(permits(answer, arn) for arn in (CREATE, READ, RECEIPT))
    assert "context" not in answer


def test_an_unknown_key_is_denied_everything_and_is_nobody(desk: Desk) -> None:
    desk.put(key_item())
    answer = desk.ask(request_event("another"))
    assert answer["principalId"] == "-"
    assert not any(permits(answer, arn) for arn in (CREATE, READ, RECEIPT))


def test_a_revoked_key_is_unknown(desk: Desk) -> None:
    desk.put(key_item())
    desk.client.delete_item(TableName=TABLE, Key={"pk": {"S": f"key#{HASH}"}})
    assert not permits(desk.ask(), CREATE)


def test_the_registry_is_asked_once_by_hash_and_strongly_consistent(desk: Desk) -> None:
    desk.put(key_item())
    desk.ask()
    assert desk.calls == [
        {"GetItem": {"TableName": TABLE, "Key": {"pk": {"S": f"key#{HASH}"}}, "ConsistentRead": True}}
    ]


@pytest.mark.parametrize("header", ["x-api-key", "X-API-Key", "X-Api-Key"])
def test_the_headers_case_does_not_matter(desk: Desk, header: str) -> None:
    desk.put(key_item())
    assert permits(desk.ask(request_event(header=header)), CREATE)


@pytest.mark.parametrize(
    "event",
    [
        request_event(None),
        request_event(""),
        request_event(KEY, more=("another",)),
        request_event() | {"multiValueHeaders": None, "headers": None},
        request_event() | {"multiValueHeaders": {"x-api-key": None}},
    ],
)
def test_no_key_or_several_is_a_401_that_nobody_caches_or_counts(
    desk: Desk, event: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    # API Gateway answers 401 for exactly this text.
    with pytest.raises(UnauthorizedError, match=re.compile(r"^Unauthorized$")):
        desk.ask(event)
    assert desk.calls == []
    # Anybody can send this: it must not be able to ring an alarm.
    assert "Failed" not in capsys.readouterr().out


def test_an_event_without_multi_value_headers_will_do(desk: Desk) -> None:
    desk.put(key_item())
    event = request_event()
    del event["multiValueHeaders"]
    assert permits(desk.ask(event), CREATE)


@pytest.mark.parametrize(
    "error",
    [
        Unavailable("tenants", "ThrottlingException"),
        Refused("tenants", "AccessDenied"),
        RuntimeError(f"a bug that repeats {KEY}"),  # a canary that fails like this has to be rolled back
    ],
)
def test_when_the_registry_cannot_say_nothing_is_decided_and_a_failure_is_counted(
    desk: Desk, error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    class Down:
        def find(self, api_key: str) -> KeyEntry | None:
            raise error

    with pytest.raises(type(error)):
        authorize(request_event(), replace(desk.dependencies, registry=Down()))
    assert '"failed"' in desk.log.getvalue()
    assert KEY not in desk.log.getvalue()
    [counted] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (counted["Service"], counted["Failed"]) == ("onceward-dev_authorizer", [1])


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("tenantId", {"S": "a#b"}),
        ("keyName", None),
        ("status", {"S": "retired"}),
        ("tier", {"S": ""}),
        ("operations", {"S": "*"}),
        ("operations", {"L": [{"N": "7"}]}),
        ("operations", {"L": [{"S": "leads:create,leads:read"}]}),
        ("origins", None),
        ("bodyLimitBytes", {"N": "-1"}),
        ("bodyLimitBytes", {"N": "٦٥"}),  # int() would read it as 65
        ("bodyLimitBytes", {"S": "65536"}),
        ("operationSettings", {"S": "{"}),
        ("operationSettings", {"S": "[]"}),
    ],
)
def test_a_malformed_entry_raises_naming_the_attribute(
    desk: Desk, attribute: str, value: dict[str, Any] | None
) -> None:
    item = key_item(**{attribute: value})
    desk.put({name: part for name, part in item.items() if part is not None})

    with pytest.raises(CorruptItem, match=attribute):
        desk.ask()

    [line] = [json.loads(text) for text in desk.log.getvalue().splitlines()]
    assert attribute in line["reason"]
    assert attribute == "tenantId" or "acme" in line["reason"]


def test_neither_key_nor_hash_is_ever_said(desk: Desk) -> None:
    said = []
    desk.ask()
    for item in (key_item(), key_item(status={"S": "suspended"}), key_item(tier={"N": "1"})):
        desk.put(item)
        try:
            desk.ask()
        except CorruptItem as error:
            said.append(str(error))
    text = desk.log.getvalue() + "".join(said)
    assert {"unknown_key", "allowed", "suspended", "failed"} <= {
        json.loads(line)["outcome"] for line in desk.log.getvalue().splitlines()
    }
    assert KEY not in text
    assert HASH not in text


@pytest.mark.parametrize(
    "arn",
    [
        "",
        "arn:aws:execute-api:eu-central-1:123456789012",
        "arn:aws:execute-api:eu-central-1:123456789012:api",
        "arn:aws:execute-api:eu-central-1:123456789012:/dev/GET/x",
        "arn:aws:lambda:eu-central-1:123456789012:api/dev/GET/x",
    ],
)
def test_a_method_that_is_no_execute_api_arn_raises(desk: Desk, arn: str) -> None:
    desk.put(key_item())
    with pytest.raises(MalformedMethodArn):
        desk.ask(request_event(method_arn=arn))


def test_other_partitions_are_kept(desk: Desk) -> None:
    desk.put(key_item())
    china = CREATE.replace("arn:aws:", "arn:aws-cn:")
    assert permits(desk.ask(request_event(method_arn=china)), china)
