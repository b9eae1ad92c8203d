"""The peer's table in the search means what DynamoDB means: the utility's own requests, over both."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from aws_lambda_powertools.utilities import idempotency
from aws_lambda_powertools.utilities.idempotency import DynamoDBPersistenceLayer, IdempotencyConfig
from aws_lambda_powertools.utilities.idempotency.exceptions import (
    IdempotencyItemAlreadyExistsError,
    IdempotencyItemNotFoundError,
    IdempotencyValidationError,
)
from botocore.exceptions import ClientError
from moto import mock_aws

from proof.interning import frozen
from proof.peer_handler import CLOCKED, DAY_SECONDS, PORT, TABLE, clock
from proof.peer_promises import Promise
from proof.peer_table import PeerTable
from proof.programs import Call, Raised
from proof.requests import REMAINING_MS
from tests.builders import NOW_MS
from tests.unit.proof.peer_world import dynamodb, make_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proof.peer_records import Table

_SENT = {"key": "k", "body": "one"}
_OTHER = {"key": "k", "body": "another"}


class Both:
    """A client that sends every request to moto and to the port, and checks that they agree."""

    def __init__(self) -> None:
        self.state: Table = PeerTable().initial()
        self.now = NOW_MS
        self.requests = list[str]()
        self._moto = dynamodb()
        make_table(self._moto)

    def __getattr__(self, name: str) -> Any:
        return lambda **request: self._send(name, request)

    def _send(self, name: str, request: dict[str, Any]) -> Any:
        applied = PeerTable().apply(self.state, Call(PORT, name, ("A", request)), self.now)
        self.state = applied.state
        self.requests.append(name)
        frozen(applied.state)  # the search can hold it
        if isinstance(applied.result, Raised):
            raised: Any = applied.result.kind(*applied.result.arguments)
            with pytest.raises(ClientError) as refused:
                getattr(self._moto, name)(**request)
            for member in ("Error", "Item"):
                assert raised.response.get(member) == refused.value.response.get(member)
            raise raised
        answer = getattr(self._moto, name)(**request)
        assert applied.result == {one: answer[one] for one in ("Item",) if one in answer}
        items = self._moto.scan(TableName=TABLE)["Items"]
        assert items == [item for _, item in self.state.items]
        return answer

    def plant(self, item: dict[str, Any]) -> None:
        """Put an item into both."""
        self.state = self.state.with_item(item["id"]["S"], item)
        self._moto.put_item(TableName=TABLE, Item=item)


class Layer:
    """The real persistence layer over both."""

    def __init__(self) -> None:
        self.both = Both()
        client: Any = self.both
        self.layer = DynamoDBPersistenceLayer(table_name=TABLE, boto3_client=client)
        self.layer.configure(
            IdempotencyConfig(
                event_key_jmespath="key",
                payload_validation_jmespath="body",
                expires_after_seconds=DAY_SECONDS,
            ),
            "f",
        )

    def claim(self, sent: dict[str, Any] = _SENT) -> None:
        self.layer.save_inprogress(sent, REMAINING_MS)

    @property
    def item_id(self) -> str:
        return str(self.layer._get_hashed_idempotency_key(_SENT))


@pytest.fixture
def layer() -> Iterator[Layer]:
    with mock_aws():
        made = Layer()
        with clock(lambda: made.both.now):
            yield made


def test_a_life_of_a_record_is_the_same_on_moto(layer: Layer) -> None:
    with pytest.raises(IdempotencyItemNotFoundError):
        layer.layer.get_record(_SENT)
    layer.claim()
    with pytest.raises(IdempotencyItemAlreadyExistsError):
        layer.claim()
    with pytest.raises(IdempotencyValidationError):
        layer.claim(_OTHER)
    layer.layer.save_success(_SENT, {"statusCode": 201})
    assert layer.layer.get_record(_SENT).status == "COMPLETED"  # type: ignore[union-attr]
    with pytest.raises(IdempotencyItemAlreadyExistsError):
        layer.claim()
    layer.layer.delete_record(_SENT, ValueError())
    layer.layer.delete_record(_SENT, ValueError())
    layer.layer.save_success(_SENT, {"statusCode": 201})
    layer.claim({"key": "another", "body": "one"})
    assert set(layer.both.requests) == {"get_item", "put_item", "update_item", "delete_item"}


@pytest.mark.parametrize(("after_ms", "free"), [(REMAINING_MS, False), (REMAINING_MS + 1, True)])
def test_an_unfinished_record_is_taken_the_ms_after_its_expiry(
    layer: Layer, after_ms: int, free: bool
) -> None:
    layer.claim()
    layer.both.now += after_ms
    _claims(layer, free)


@pytest.mark.parametrize(
    ("after_ms", "free"), [(DAY_SECONDS * 1000 + 999, False), (DAY_SECONDS * 1000 + 1000, True)]
)
def test_a_finished_record_is_taken_the_second_after_its_expiry(
    layer: Layer, after_ms: int, free: bool
) -> None:
    layer.claim()
    layer.layer.save_success(_SENT, {"statusCode": 201})
    layer.both.now += after_ms
    _claims(layer, free)


_LAPSED = {"N": str(NOW_MS - 1)}
_SECONDS = NOW_MS // 1000


@pytest.mark.parametrize(
    ("item", "free"),
    [
        ({"status": {"S": "INPROGRESS"}, "expiration": {"N": str(_SECONDS)}}, False),
        ({"status": {"S": "INPROGRESS"}, "expiration": {"N": str(_SECONDS - 1)}}, True),
        (
            {
                "status": {"S": "INPROGRESS"},
                "expiration": {"N": str(_SECONDS)},
                "in_progress_expiration": _LAPSED,
            },
            True,
        ),
        (
            {
                "status": {"S": "COMPLETED"},
                "expiration": {"N": str(_SECONDS)},
                "in_progress_expiration": _LAPSED,
            },
            False,
        ),
    ],
)
def test_each_part_of_the_condition_is_judged_alike(layer: Layer, item: dict[str, Any], free: bool) -> None:
    validation = {"S": layer.layer._get_hashed_payload(_SENT)}
    layer.both.plant({"id": {"S": layer.item_id}, "validation": validation, **item})
    _claims(layer, free)


def _claims(layer: Layer, free: bool) -> None:
    if free:
        layer.claim()
    else:
        with pytest.raises(IdempotencyItemAlreadyExistsError):
            layer.claim()


@pytest.mark.parametrize("change", ["ConditionExpression", "ReturnValuesOnConditionCheckFailure", "Item"])
def test_a_request_that_says_something_else_is_not_guessed_at(layer: Layer, change: str) -> None:
    sent = list[dict[str, Any]]()
    recording: Any = SimpleNamespace(put_item=lambda **request: sent.append(request))
    layer.layer.client = recording
    layer.claim()
    request = sent[0]
    PeerTable().apply(PeerTable().initial(), Call(PORT, "put_item", ("A", request)), NOW_MS)
    changed = {**request, change: "x"} if change != "Item" else {**request, "Expected": {}}
    with pytest.raises(AssertionError):
        PeerTable().apply(PeerTable().initial(), Call(PORT, "put_item", ("A", changed)), NOW_MS)


def test_the_utility_reads_the_schedulers_clock_and_no_other(layer: Layer) -> None:
    layer.both.now = 1_000_000
    layer.claim()
    item = layer.both.state.item(layer.item_id)
    assert item is not None
    assert item["expiration"] == {"N": str(1_000 + DAY_SECONDS)}
    assert item["in_progress_expiration"] == {"N": str(1_000_000 + REMAINING_MS)}
    folder = Path(idempotency.__file__).parent
    reads = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if re.search(r"\bnow\(|\btime\.|import time", path.read_text(encoding="utf-8"))
    }
    known = {Path(str(module.__file__)).relative_to(folder).as_posix() for module in CLOCKED}
    # Its other layers are for Redis and such: they are not used here.
    assert reads - {"persistence/redis.py", "persistence/cache.py"} == known


def test_a_claim_beside_an_unexpired_one_is_seen() -> None:
    table, now = PeerTable(frozenset({Promise.ONE_CLAIM})), NOW_MS
    sent = list[dict[str, Any]]()
    state = table.initial()
    with mock_aws():
        layer = Layer()
        recording: Any = SimpleNamespace(put_item=lambda **request: sent.append(request))
        layer.layer.client = recording
        with clock(lambda: now):
            layer.claim()
    state = table.apply(state, Call(PORT, "put_item", ("A", sent[0])), now).state
    gone = state.with_item(layer.item_id, None)
    beside = table.apply(gone, Call(PORT, "put_item", ("B", sent[0])), now)
    assert [Promise.ONE_CLAIM.value in text for text in beside.broken] == [True]
    after = table.apply(gone, Call(PORT, "put_item", ("B", sent[0])), now + REMAINING_MS + 1)
    assert after.broken == ()
