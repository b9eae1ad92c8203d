"""What the registry and the secret store say of a tenant, read strictly and seldom."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws

from handlers.adapters.secrets import SsmSecrets
from handlers.adapters.tenant_config import DynamoDbTenantConfigs
from handlers.adapters.timed_cache import TimedCache
from handlers.domain.errors import CorruptItem, Refused, Unavailable
from handlers.domain.tenant_config import Destination, from_item
from handlers.domain.webhook_proof import Proof

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE: dict[str, Any] = {
    "proof": {"scheme": "stripe", "header": None, "toleranceSeconds": 300},
    "identity": {"path": "id", "header": None, "template": "{id}"},
    "windowSeconds": 2_592_000,
    "bodyLimitBytes": 65_536,
    "destination": {"url": "https://crm.example/events/{id}", "method": "PUT"},
}


def tenant_item(webhooks: object = None, orders: object = None, **changes: Any) -> dict[str, Any]:
    return {
        "pk": {"S": "tenant#acme"},
        "kind": {"S": "tenant"},
        "tenantId": {"S": "acme"},
        "status": {"S": "active"},
        "synthetic": {"BOOL": False},
        "webhooks": {"S": json.dumps({"stripe": SOURCE} if webhooks is None else webhooks)},
        "orders": {"S": json.dumps({"destination": None} if orders is None else orders)},
    } | changes


def test_a_tenant_is_read_whole() -> None:
    orders = {"destination": {"url": "https://erp.example/orders", "method": "POST"}}
    github = SOURCE | {"identity": {"path": None, "header": "X-GitHub-Delivery", "template": ""}}
    config = from_item(tenant_item({"stripe": SOURCE, "github": github | {"destination": None}}, orders))
    assert (config.tenant_id, config.status) == ("acme", "active")
    assert config.orders_destination == Destination("https://erp.example/orders", "POST")
    assert config.webhooks["stripe"].proof == Proof("stripe", None, 300)
    assert config.webhooks["stripe"].destination == Destination("https://crm.example/events/{id}", "PUT")
    assert config.webhooks["github"].identity.header == "X-GitHub-Delivery"
    assert config.webhooks["github"].destination is None


def test_an_item_of_the_first_release_has_neither_webhooks_nor_orders() -> None:
    old = tenant_item(status={"S": "suspended"})
    del old["webhooks"], old["orders"]
    config = from_item(old)
    assert (config.status, config.webhooks, config.orders_destination) == ("suspended", {}, None)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"status": {"S": "paused"}}, "status"),
        ({"status": {"N": "1"}}, "status"),
        ({"tenantId": {"S": "Acme"}}, "tenantId"),
        ({"tenantId": {}}, "tenantId"),
        ({"webhooks": {"S": "{"}}, "webhooks: not JSON"),
        ({"webhooks": {"S": "[]"}}, "webhooks: not an object"),
        ({"webhooks": {"N": "1"}}, "webhooks"),
        ({"orders": {"S": '{"destination": 5}'}}, r"orders\.destination"),
        (
            {"orders": {"S": '{"destination": {"url": "http://a.example", "method": "PUT"}}'}},
            r"destination\.url",
        ),
        ({"orders": {"S": '{"destination": {"url": "https://a.example", "method": "GET"}}'}}, "method"),
        ({"webhooks": {"S": '{"stripe": 5}'}}, r"webhooks\.stripe"),
    ],
)
def test_a_malformed_tenant_names_itself_and_what_is_wrong(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(CorruptItem, match=named):
        from_item(tenant_item() | changes)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"proof": None}, "proof"),
        ({"proof": {"scheme": "", "header": None, "toleranceSeconds": 1}}, r"proof\.scheme"),
        ({"destination": {"url": "https://a.example", "method": 7}}, r"destination\.method"),
        ({"proof": {"scheme": ["stripe"], "header": None, "toleranceSeconds": 1}}, r"proof\.scheme"),
        ({"proof": {"scheme": "header", "header": None, "toleranceSeconds": 1}}, r"proof\.header"),
        ({"proof": {"scheme": "stripe", "header": None, "toleranceSeconds": -1}}, r"proof\.toleranceSeconds"),
        (
            {"proof": {"scheme": "stripe", "header": None, "toleranceSeconds": True}},
            r"proof\.toleranceSeconds",
        ),
        ({"proof": {"scheme": "stripe", "header": 5, "toleranceSeconds": 1}}, r"proof\.header"),
        ({"identity": {"path": None, "header": None, "template": None}}, r"identity\.path"),
        ({"identity": {"path": 5, "header": None, "template": None}}, r"identity\.path"),
        ({"identity": {"path": "id", "header": None, "template": ["{id}"]}}, r"identity\.template"),
        ({"windowSeconds": 0}, "windowSeconds"),
        ({"windowSeconds": 1.5}, "windowSeconds"),
        ({"bodyLimitBytes": "65536"}, "bodyLimitBytes"),
        ({"destination": "https://a.example"}, "destination"),
    ],
)
def test_a_malformed_source_names_itself_and_what_is_wrong(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(CorruptItem, match=rf"acme is malformed: webhooks\.stripe\.{named}"):
        from_item(tenant_item({"stripe": SOURCE | changes}))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("git", {"proof": {"scheme": "ed25519", "key": "k"}}),
        ("git", {"destination": {"url": "https://a.example", "method": "PATCH"}}),
        ("Git", {}),
        ("a:b", {}),
        ("a:b", {"proof": 5}),
    ],
)
def test_a_source_that_only_a_later_release_knows_leaves_the_others_alone(
    name: str, changes: dict[str, Any]
) -> None:
    known = from_item(tenant_item({"stripe": SOURCE}))
    assert from_item(tenant_item({"stripe": SOURCE, name: SOURCE | changes})) == known


@dataclass
class Clock:
    seconds: float = 1_000_000.0

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Aws:
    """The registry and the secret store on moto, both cached by one clock, and every call counted."""

    clock: Clock = field(default_factory=Clock)
    calls: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.dynamodb = boto3.client("dynamodb", region_name="us-east-1")
        self.ssm = boto3.client("ssm", region_name="us-east-1")
        self.dynamodb.create_table(
            TableName="tenants",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        self.tenants = DynamoDbTenantConfigs("tenants", self.dynamodb, TimedCache(self.clock))
        self.secrets = SsmSecrets("/onceward/dev/", self.ssm, TimedCache(self.clock))
        for service, client in (("dynamodb", self.dynamodb), ("ssm", self.ssm)):
            client.meta.events.register(
                f"provide-client-params.{service}.*", lambda model, **_: self.calls.append(model.name)
            )

    def put(self, item: dict[str, Any]) -> None:
        self.dynamodb.put_item(TableName="tenants", Item=item)
        self.calls.clear()

    def put_secret(self, name: str, value: str) -> None:
        self.ssm.put_parameter(Name=name, Value=value, Type="SecureString", Overwrite=True)
        self.calls.clear()


@pytest.fixture
def aws() -> Iterator[Aws]:
    with mock_aws():
        yield Aws()


def test_a_tenant_is_read_once_a_minute_and_so_is_one_that_is_not_there(aws: Aws) -> None:
    aws.put(tenant_item())
    for _ in range(3):
        assert aws.tenants.find("acme") is not None
        assert aws.tenants.find("nobody") is None
    assert (aws.calls, aws.tenants.reads) == (["GetItem"] * 2, 2)
    aws.put(tenant_item(status={"S": "suspended"}))
    aws.clock.seconds += 59.9
    found = aws.tenants.find("acme")
    assert found is not None
    assert found.status == "active"
    aws.clock.seconds += 0.1
    found = aws.tenants.find("acme")
    assert found is not None
    assert found.status == "suspended"
    assert aws.calls == ["GetItem"]


def test_failures_of_the_registry_are_told_and_never_kept(aws: Aws) -> None:
    aws.put(tenant_item(webhooks=["corrupt"]))
    with pytest.raises(CorruptItem):
        aws.tenants.find("acme")
    aws.put(tenant_item())
    assert aws.tenants.find("acme") is not None
    aws.dynamodb.delete_table(TableName="tenants")
    with pytest.raises(Refused, match="tenants: ResourceNotFoundException"):
        aws.tenants.find("other")


def test_secrets_are_lines_newest_first_and_read_once_a_minute(aws: Aws) -> None:
    aws.put_secret("/onceward/dev/acme/webhooks/stripe", "whsec_new\r\n\n  whsec_old \n")
    for _ in range(3):
        assert aws.secrets.find("acme", "webhooks/stripe") == ("whsec_new", "whsec_old")
    assert (aws.calls, aws.secrets.reads) == (["GetParameter"], 1)
    aws.put_secret("/onceward/dev/acme/webhooks/stripe", "whsec_newest")
    aws.clock.seconds += 60
    assert aws.secrets.find("acme", "webhooks/stripe") == ("whsec_newest",)


def test_a_secret_that_is_not_there_is_none_for_five_seconds(aws: Aws) -> None:
    for _ in range(3):
        assert aws.secrets.find("acme", "webhooks/stripe") == ()
    assert aws.calls == ["GetParameter"]
    aws.put_secret("/onceward/dev/acme/webhooks/stripe", "whsec_first")
    aws.clock.seconds += 5
    assert aws.secrets.find("acme", "webhooks/stripe") == ("whsec_first",)
    assert aws.secrets.find("beta", "webhooks/stripe") == ()


def test_a_secret_store_that_does_not_answer_is_an_outage_and_is_asked_again(aws: Aws) -> None:
    responses: list[Any] = [(_response(400), {"Error": {"Code": "ThrottlingException"}})]
    aws.ssm.meta.events.register_first(
        "before-call.ssm.*", lambda **_: responses.pop() if responses else None
    )
    with pytest.raises(Unavailable, match="secrets: ThrottlingException"):
        aws.secrets.find("acme", "webhooks/stripe")
    assert aws.secrets.find("acme", "webhooks/stripe") == ()


def _response(status: int) -> Any:
    return type("Response", (), {"status_code": status, "headers": {}})()


def test_a_cache_forgets_what_was_used_least_recently_and_keeps_no_failure() -> None:
    clock, loaded = Clock(), list[int]()

    def load(key: int) -> int:
        loaded.append(key)
        return key

    cache: TimedCache[int] = TimedCache(clock, entries=3)
    for key in (1, 2, 3, 1, 4, 1, 2):
        assert cache.get(key, lambda key=key: load(key)) == key  # type: ignore[misc]
    assert loaded == [1, 2, 3, 4, 2]
    for key in range(1000):
        cache.get(key, lambda: 0)
    assert len(cache) == 3


def test_a_clock_that_was_set_back_makes_what_is_kept_unknown() -> None:
    clock = Clock()
    cache: TimedCache[float] = TimedCache(clock)
    first = cache.get("k", clock)
    clock.seconds -= 3_600
    assert cache.get("k", clock) == first - 3_600
