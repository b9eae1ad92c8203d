"""Every target finds a fault that is planted for it: an oracle that cannot fail would prove nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from fuzz.registry import TARGETS, inputs
from handlers import authorizer, dispatch, http_request, intake, notify, read
from handlers.adapters import batch, parking, pending_index, receipt_item
from handlers.domain import addresses, bus_event, canonical_json, documents, ids, keys, webhook_proof
from handlers.operations.schema import PydanticSchema
from tenants import document

if TYPE_CHECKING:
    from collections.abc import Callable

    Plant = Callable[[pytest.MonkeyPatch], None]


def broken(*_arguments: Any, **_more: Any) -> Any:
    raise KeyError("planted")


def answering(value: Any) -> Any:
    return lambda *_arguments, **_more: value


def _first_value_wins(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(keys, "from_header", lambda values: keys.parse(values[0]) if values else None)


def _duplicates_pass(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(canonical_json, "_object", dict)


def _integers_are_doubles(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(canonical_json, "_encode", lambda value: json.dumps(value, sort_keys=True).encode())


def _body_is_trimmed(patch: pytest.MonkeyPatch) -> None:
    real = PydanticSchema.__call__
    patch.setattr(PydanticSchema, "__call__", lambda self, body: dict(real(self, body)))


def _half_made(patch: pytest.MonkeyPatch) -> None:
    # Of every acceptance the receipt is kept without what follows from it.
    real = receipt_item.to_item
    patch.setattr(
        receipt_item, "to_item", lambda receipt: {k: v for k, v in real(receipt).items() if k != "outboxId"}
    )


def _answers_500(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(intake, "settings_of", broken)


def _lone_surrogate(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(documents, "compact", answering('{"a":"\ud800"}'))


def _looks_for_ever(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(read, "_PATIENCE_MS", 10_000)
    patch.setattr(read, "_YOUNG_MS", 10**10)


def _any_key_of_two(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(authorizer, "_api_key", lambda event: event["multiValueHeaders"]["x-api-key"][0] + "x")


def _proof_of_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(webhook_proof, "compare_digest", answering(True))


def _no_secrets_asked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("handlers.webhooks._proved", broken)


def _times_are_text(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(receipt_item, "_integer", lambda item, name: int(item[name]["N"]))


def _messages_raise(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(parking, "parked_in", lambda body: json.loads(body)["image"])


def _lost(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(dispatch, "_park", answering(None))


def _another_id(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(batch, "process", answering({"batchItemFailures": [{"itemIdentifier": "message-9"}]}))


def _another_topic(patch: pytest.MonkeyPatch) -> None:
    real = bus_event.notice_in
    patch.setattr(notify, "notice_in", lambda event: replace(real(event), tenant_id="bluebird"))


def _hidden(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pending_index, "_pending_in", lambda item: int(item["pendingSince"]["N"]))


def _acknowledged(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(batch, "process", answering({"batchItemFailures": []}))


def _deep_files(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(document._Reader, "_has_tag", lambda _self, _node: broken())


def _any_time(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ids, "created_at_ms", answering(1))


def _private_is_public(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(addresses, "_is_global", answering(True))


def _unknown_media(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(http_request, "_is_json", answering(True))


PLANTED: list[tuple[str, Plant]] = [
    ("keys", _first_value_wins),
    ("requests", _unknown_media),
    ("canonical", _duplicates_pass),
    ("canonical", _integers_are_doubles),
    ("schemas", _body_is_trimmed),
    ("ingest", _half_made),
    ("ingest", _answers_500),
    ("execute", _answers_500),
    ("execute", _lone_surrogate),
    ("provider", _half_made),
    ("read", _looks_for_ever),
    ("authorizer", _any_key_of_two),
    ("webhooks", _half_made),
    ("webhooks", _no_secrets_asked),
    ("proofs", _proof_of_nothing),
    ("images", _times_are_text),
    ("messages", _messages_raise),
    ("stream", _lost),
    ("retries", _another_id),
    ("bus", _another_topic),
    ("pending", _hidden),
    ("workers", _acknowledged),
    ("tenants", _deep_files),
    ("ids", _any_time),
    ("addresses", _private_is_public),
]
# Where a seed does not do: an input as the fuzzer makes one.
MORE: dict[str, list[bytes]] = {
    "images": [b"\x01\x01\x00\x00\x0c\n"],
    "pending": [b"\x01\n{}", b'\x01\n{"pk":{"S":"a"}}'],
}


def _finds(name: str) -> BaseException | None:
    target = TARGETS[name]
    for each in [*inputs(target), *MORE.get(name, [])]:
        try:
            target.check(each)
        except Exception as error:  # noqa: BLE001 - whatever it is, the fault was found
            return error
    return None


@pytest.mark.parametrize(("name", "plant"), PLANTED, ids=lambda each: getattr(each, "__name__", each))
def test_a_planted_fault_is_found(name: str, plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    assert _finds(name) is not None


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_what_is_ordinary_and_what_was_once_found_breaks_nothing(name: str) -> None:
    assert _finds(name) is None


def test_every_target_has_a_planted_fault() -> None:
    assert {name for name, _ in PLANTED} == set(TARGETS)
