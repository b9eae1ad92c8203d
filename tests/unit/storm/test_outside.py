"""Reading what is outside, and the secrets of senders: whole, only the run's, and refused with a reason."""

from __future__ import annotations

import gc
import json
import tracemalloc
from itertools import chain
from typing import TYPE_CHECKING, Any

import boto3
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto import mock_aws

from loadtest import secrets, stand_in
from loadtest.target import Target, TargetError, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK, REGION = "storm-abc123-", "eu-central-1"
CHARGE = {
    "id": "ch_1",
    "account": "payments.a1.example",
    "idempotencyKey": "down-1",
    "amount": 1001,
    "currency": "EUR",
    "reference": f"{MARK}1",
}
ENTITY = {
    "host": "crm.a1.example",
    "path": "/v1/events/evt_1",
    "key": None,
    "document": {"id": "record-1", "event": {"id": f"evt_{MARK}1"}},
}
TOLD = {"charges": [CHARGE, {**CHARGE, "reference": None}], "upserts": [ENTITY, {**ENTITY, "document": {}}]}


def _target(url: str | None = "http://stand-in") -> Target:
    tenants = {name: {"keys": {"k": "v"}, "synthetic": True} for name in ("a1", "b1")}
    tables = {name: name for name in ("receipts", "records", "tenants")}
    outputs = {"apiUrl": "http://api", "region": REGION, "stage": "dev", "tables": tables, "tenants": tenants}
    return parse({**outputs, "standInUrl": url})


@pytest.fixture
def aws() -> Iterator[None]:
    """A registry in which a1 has destinations and b1 has none."""
    with mock_aws():
        dynamodb: Any = boto3.client("dynamodb", region_name=REGION)
        dynamodb.create_table(
            TableName="tenants",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        )
        crm = {"destination": {"url": "https://crm.a1.example/{id}", "method": "PUT"}}
        settings = {"webhooks": {"events": crm, "stripe": {"destination": None}}, "orders": crm}
        provider = {"payments": {"options": {"providerUrl": "https://payments.a1.example"}}}
        for pk, tenant, parts in (
            ("tenant#a1", "a1", settings),
            ("key#0123", "a1", {"operationSettings": provider}),
            ("tenant#b1", "b1", {}),
            ("tenant#c1", "c1", settings),  # has no part in the run
        ):
            item = {"pk": {"S": pk}, "tenantId": {"S": tenant}}
            item |= {name: {"S": json.dumps(value)} for name, value in parts.items()}
            dynamodb.put_item(TableName="tenants", Item=item)
        yield


def _answering(monkeypatch: pytest.MonkeyPatch, told: dict[str, Any], status: int = 200) -> None:
    def handle(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        what = request.url.path.rpartition("/")[2]
        # As the stand-in does: what is counted comes before the list.
        return httpx.Response(status, json={"count": 1, what: told[what]})

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", handle)


@pytest.mark.usefixtures("aws")
def test_what_bears_the_runs_mark_is_read_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    _answering(monkeypatch, TOLD)
    seen = stand_in.read(_target(), ("a1", "b1"), MARK)
    assert seen is not None
    assert [(one.charge_id, one.downstream_key, one.amount) for one in seen.charges] == [
        ("ch_1", "down-1", 1001)
    ]
    assert [(one.place, one.document_id) for one in seen.entities] == [
        ("crm.a1.example/v1/events/evt_1", "record-1")
    ]
    assert seen.destinations == {
        ("a1", "orders"): "https://crm.a1.example/{id}",
        ("a1", "webhooks/events"): "https://crm.a1.example/{id}",
        ("a1", "payments"): "https://payments.a1.example",
    }


def test_a_stage_without_a_stand_in_tells_nothing() -> None:
    assert stand_in.read(_target(None), ("a1",), MARK) is None


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize(
    ("told", "status"),
    [(TOLD, 500), ({"charges": None, "upserts": []}, 200), ({**TOLD, "upserts": [{"document": MARK}]}, 200)],
)
def test_a_stand_in_that_is_none_is_said(
    monkeypatch: pytest.MonkeyPatch, told: dict[str, Any], status: int
) -> None:
    _answering(monkeypatch, told, status)
    seen = stand_in.read(_target(), ("a1",), MARK)
    assert seen is not None
    with pytest.raises(TargetError, match="http://stand-in"):
        seen.check()


@given(
    st.lists(st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.text()))), st.integers(1, 50)
)
def test_a_list_is_taken_apart_wherever_the_network_cuts_it(found: list[dict[str, Any]], size: int) -> None:
    text = json.dumps({"count": len(found), "charges": found})
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    assert list(stand_in.elements(chunks, "charges")) == found


@pytest.mark.parametrize(
    "text",
    ["", "{}", '{"charges": {}}', '{"charges": [', '{"charges": [{"a": 1}', '{"charges": [{"a": 1}]', "[]"],
)
def test_what_is_cut_off_is_no_list(text: str) -> None:
    with pytest.raises(ValueError, match=r"no JSON|something follows"):
        list(stand_in.elements([text], "charges"))


def test_a_long_list_takes_the_memory_of_a_short_one() -> None:
    charge = json.dumps({**CHARGE, "padding": "x" * 400})

    def peak(count: int) -> int:
        chunks = (f"{charge}," for _ in range(count))
        gc.collect()
        tracemalloc.start()
        try:
            taken = stand_in.elements(chain(['{"charges": ['], chunks, [charge, "]}"]), "charges")
            assert sum(1 for _ in taken) == count + 1
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)  # what is made once, on first use
    short, long = peak(500), peak(5_000)
    assert long - short < 100_000, (short, long)  # they are 2.5 MB longer


def test_senders_sign_with_the_newest_secret_which_is_never_shown() -> None:
    with mock_aws():
        ssm = boto3.client("ssm", region_name=REGION)
        for source in ("events", "stripe"):
            name = f"/onceward/dev/a1/webhooks/{source}"
            ssm.put_parameter(Name=name, Value=f"new-{source}\nold-{source}", Type="SecureString")
        target = _target()
        (one,) = secrets.with_webhooks(target, (target.tenants["a1"],))
        assert one.webhook_secrets == {"events": "new-events", "stripe": "new-stripe"}
        assert "new-events" not in repr(one)
        with pytest.raises(TargetError, match="tenant b1: the secret of webhook source events"):
            secrets.with_webhooks(target, (target.tenants["b1"],))
