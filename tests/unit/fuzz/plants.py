"""Faults that are planted for the fuzzer, each with the promise that it breaks, in its oracle's words."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ruamel.yaml.constructor import SafeConstructor

from handlers import authorizer, dispatch, http_request, intake, notify, read, reconcile
from handlers.adapters import batch, parking, pending_index, receipt_item
from handlers.domain import addresses, bus_event, canonical_json, documents, ids, keys, webhook_proof
from handlers.domain.errors import InvalidBody, InvalidKey, Unavailable
from handlers.http_request import HttpRequest
from handlers.operations.schema import PydanticSchema
from tenants import addresses as addresses_of_files
from tenants import document
from tests.fakes.work import InMemoryWork

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

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


def _told_twice(patch: pytest.MonkeyPatch) -> None:
    real = notify.notify

    def published_and_failed(event: Any, dependencies: Any) -> None:
        real(event, dependencies)
        raise Unavailable("topics", "planted")

    patch.setattr(notify, "notify", published_and_failed)


def _none_is_readable(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pending_index, "_pending_in", answering(None))


def _unreadable_are_dropped(patch: pytest.MonkeyPatch) -> None:
    real = pending_index.DynamoDbPending.page
    patch.setattr(pending_index.DynamoDbPending, "page", lambda *asked: replace(real(*asked), unreadable=0))


def _marks_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(InMemoryWork, "mark_requeued", answering(True))


def _failures_are_kept_quiet(patch: pytest.MonkeyPatch) -> None:
    # Of `any(tally.failed ...)` at the end of the run.
    patch.setattr(reconcile, "any", answering(False), raising=False)
    patch.setattr("fuzz.pending._readable", answering(True))


def _acknowledged(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(batch, "process", answering({"batchItemFailures": []}))


def _readers_raise(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(document._Reader, "_has_tag", broken)


def _no_line(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(document.Document, "line_of", answering(0))


def _files_are_run(patch: pytest.MonkeyPatch) -> None:
    real, first = SafeConstructor.construct_object, iter([True])

    def run(self: Any, node: Any, *more: Any, **named: Any) -> Any:
        if next(first, False):
            sys.audit("os.system", b"true")  # what os.system tells Python before it runs anything
        return real(self, node, *more, **named)

    patch.setattr(SafeConstructor, "construct_object", run)


def _any_time(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ids, "created_at_ms", answering(1))


def _private_is_public(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(addresses, "_is_global", answering(True))


def _unknown_media(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(http_request, "_is_json", answering(True))


def _any_public(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(addresses, "_is_global", answering(True))
    patch.setattr(addresses_of_files, "_is_global", answering(True))


def _no_id_is_ours(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ids, "created_at_ms", answering(None))


def _any_key(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(keys, "from_header", answering("x"))


def _refusals_of_keys_say_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(keys, "_invalid", lambda _rule, detail: InvalidKey(detail, ()))


def _body_is_cut(patch: pytest.MonkeyPatch) -> None:
    real = HttpRequest.body
    patch.setattr(HttpRequest, "body", lambda self, limit: real(self, limit)[:-1])


def _one_is_true(patch: pytest.MonkeyPatch) -> None:
    real = canonical_json.parse
    patch.setattr(canonical_json, "parse", lambda body: _with(real(body), 1, to=True))


def _true_is_one(patch: pytest.MonkeyPatch) -> None:
    real = canonical_json._encode
    patch.setattr(canonical_json, "_encode", lambda value: b"1" if value is True else real(value))


def _with(value: Any, old: Any, *, to: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with(item, old, to=to) for name, item in value.items()}
    if isinstance(value, list):
        return [_with(item, old, to=to) for item in value]
    return to if type(value) is type(old) and value == old else value


def _refusals_say_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(canonical_json, "_invalid", lambda _rule, detail: InvalidBody(detail, ()))


def _blanks_in_strings_go(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(canonical_json, "as_sent", lambda body: "".join(body.decode().split()))


def _bodies_are_amended(patch: pytest.MonkeyPatch) -> None:
    real = PydanticSchema.__call__

    def amended(self: PydanticSchema[Any], body: Any) -> Any:
        if isinstance(body, dict):
            body["seen"] = True
        return real(self, body)

    patch.setattr(PydanticSchema, "__call__", amended)


def _nobody_is_believed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(webhook_proof, "compare_digest", answering(False))


def _answer_of_another_shape(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(batch, "process", answering({"batchItemFailures": [], "failed": []}))


def _any_receipt(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(read, "_key", lambda sent: sent)


PLANTED: list[tuple[str, Plant, str]] = [
    ("keys", _first_value_wins, "a good key was refused"),
    ("keys", _any_key, "another key than the header holds"),
    ("keys", _refusals_of_keys_say_nothing, "no fault"),
    ("requests", _unknown_media, "taken for JSON"),
    ("requests", _body_is_cut, "another body than was sent"),
    ("canonical", _duplicates_pass, "a name twice in one object was taken"),
    ("canonical", _one_is_true, "read otherwise than by Python"),
    ("canonical", _true_is_one, "the canonical form is another value"),
    ("canonical", _integers_are_doubles, "not as the package rfc8785 has it"),
    ("canonical", _refusals_say_nothing, "a refusal without a fault"),
    ("canonical", _blanks_in_strings_go, "another spelling has another canonical form"),
    ("schemas", _body_is_trimmed, "a body was changed"),
    ("schemas", _bodies_are_amended, "a body was changed in place"),
    ("ingest", _half_made, "a receipt is not read as it was written"),
    ("ingest", _answers_500, "answered 500 to what a client can send"),
    ("execute", _answers_500, "answered 500 to what a client can send"),
    ("execute", _lone_surrogate, "answered 500 to what a client can send"),
    ("provider", _half_made, "a receipt is not read as it was written"),
    ("read", _looks_for_ever, "waited longer than its patience"),
    ("read", _any_receipt, "answered 500 to what a client can send"),
    ("authorizer", _any_key_of_two, "another key was let in, or the right one was not"),
    ("webhooks", _half_made, "a receipt is not read as it was written"),
    ("webhooks", _no_secrets_asked, "answered 500 to what a client can send"),
    ("proofs", _proof_of_nothing, "header: a changed proof was believed"),
    ("proofs", _nobody_is_believed, "bearer: a right proof was refused"),
    ("images", _times_are_text, "neither a value nor CorruptItem"),
    ("images", _unreadable_are_dropped, "an item of the index was lost"),
    ("messages", _messages_raise, "neither a value nor CorruptItem"),
    ("stream", _lost, "a record was lost"),
    ("retries", _another_id, "an id that is not of this batch: Lambda takes the whole batch for failed"),
    ("retries", _answer_of_another_shape, "an answer that Lambda cannot read"),
    ("bus", _another_topic, "published on another tenant's topic"),
    ("bus", _told_twice, "published and failed"),
    ("pending", _none_is_readable, "failed, though every item can be read"),
    ("pending", _unreadable_are_dropped, "an item that nobody can read was passed over"),
    ("pending", _marks_are_forgotten, "sent twice within a period"),
    ("pending", _failures_are_kept_quiet, "failed, and nobody heard of it"),
    ("workers", _acknowledged, "undone work was acknowledged"),
    ("workers", _another_id, "an id that is not of this batch"),
    ("tenants", _readers_raise, "neither a tenant nor faults"),
    ("tenants", _no_line, "line 0 of 7"),
    ("tenants", _files_are_run, "a file was run: ['os.system']"),
    ("ids", _any_time, "an id's time is another one"),
    ("ids", _no_id_is_ours, "an id was misjudged"),
    ("addresses", _private_is_public, "files and functions judge an address differently"),
    ("addresses", _any_public, "a private address passes"),
]
