"""`ingest` answers whatever event it is handed, and whatever becomes of its own log line."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from handlers.adapters import metrics
from tests.builders import LEAD, lead_event
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.ingest_calls import LOG, keyed, post

if TYPE_CHECKING:
    from collections.abc import Iterator

FULL = lead_event(
    headers={"idempotency-key": ["k"], "x-correlation-id": ["c"], "origin": ["https://a.example"]}
)


def places(tree: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every member and element of `tree`."""
    if isinstance(tree, dict | list):
        for name, inner in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield (*path, name)
            yield from places(inner, (*path, name))


def without(place: tuple[Any, ...], *, null: bool) -> dict[str, Any]:
    event = copy.deepcopy(FULL)
    parent: Any = event
    for name in place[:-1]:
        parent = parent[name]
    if null:
        parent[place[-1]] = None
    else:
        del parent[place[-1]]
    return event


@pytest.mark.parametrize("null", [True, False])
@pytest.mark.parametrize("place", list(places(FULL)), ids=str)
def test_an_event_without_any_one_of_its_parts_is_answered(place: tuple[Any, ...], null: bool) -> None:
    store = InMemoryReceipts()
    answer = post(store, without(place, null=null))
    assert answer["statusCode"] in (201, 400, 404, 415, 500)
    assert len(store.items) == (answer["statusCode"] == 201)
    if answer["statusCode"] != 201:
        problem = json.loads(answer["body"])
        assert problem["correlationId"] == answer["headers"]["X-Correlation-Id"]
        assert problem["status"] == answer["statusCode"]


def test_no_event_at_all_is_answered() -> None:
    assert post(InMemoryReceipts(), {})["statusCode"] == 404


@pytest.mark.parametrize("resource", ["/v1/payments", "/", "/v1/leads/{id}", None])
def test_an_unknown_resource_is_404(resource: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    answer = post(InMemoryReceipts(), keyed("k") | {"resource": resource})
    assert (answer["statusCode"], json.loads(answer["body"])["type"]) == (
        404,
        "urn:onceward:problem:not-found",
    )
    assert '"Operation":"none"' in capsys.readouterr().out


@pytest.mark.parametrize("time", [None, "yesterday", {}])
def test_without_the_time_of_arrival_nothing_is_accepted(time: object) -> None:
    store, event = InMemoryReceipts(), keyed("k")
    event["requestContext"]["requestTimeEpoch"] = time
    answer = post(store, event)
    assert (answer["statusCode"], json.loads(answer["body"])["type"]) == (
        500,
        "urn:onceward:problem:internal-error",
    )
    assert store.writes == 0
    assert "requestContext.requestTimeEpoch: missing" in LOG.getvalue()


@pytest.mark.parametrize("values", [[None], [], None])
def test_a_key_header_that_is_null_is_no_key(values: list[str] | None) -> None:
    store, event = InMemoryReceipts(), lead_event()
    event["multiValueHeaders"]["Idempotency-Key"] = values
    assert post(store, event)["statusCode"] == 201
    ((_, key),) = store.items
    assert key.startswith(" leads:body:")


def test_single_headers_do_where_there_are_no_lists() -> None:
    store = InMemoryReceipts()
    assert post(store, keyed("k") | {"multiValueHeaders": None})["statusCode"] == 201
    assert list(store.items) == [("acme", "k")]


def test_what_was_accepted_stays_accepted_when_it_cannot_be_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise OSError("SECRET " + LEAD["email"])

    monkeypatch.setattr(metrics, "emit", broken)
    store = InMemoryReceipts()
    first = post(store, keyed("k"))
    assert first["statusCode"] == 201
    assert json.loads(first["body"])["id"]
    assert post(store, keyed("k"))["headers"]["Idempotent-Replayed"] == "true"
    assert post(store, keyed("k", {}))["statusCode"] == 400
    assert "could not tell of a request: OSError at" in caplog.text
    assert "SECRET" not in caplog.text
