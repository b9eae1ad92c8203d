"""Faults planted in what answers requests, and in what reads them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from handlers import authorizer, http, http_request, intake, read
from handlers.adapters import receipt_item
from handlers.domain import canonical_json, documents, keys, webhook_proof
from handlers.domain.errors import InvalidBody, InvalidKey
from handlers.http_request import HttpRequest
from handlers.operations.schema import PydanticSchema
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.fuzz.planting import Planted, answering, broken

if TYPE_CHECKING:
    import pytest


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


def _unknown_media(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(http_request, "_is_json", answering(True))


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


def _any_receipt(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(read, "_key", lambda sent: sent)


def _any_correlation_id(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(http_request, "_correlation_id", answering("a b"))


def _nobody_proves(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("handlers.webhooks.verify", answering(None))


def _receipts_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    real = InMemoryReceipts.put

    def put(self: InMemoryReceipts, receipt: Any, claim: Any) -> Any:
        outcome = real(self, receipt, claim)
        self.items.clear()
        return outcome

    patch.setattr(InMemoryReceipts, "put", put)


def _problems_without_type(patch: pytest.MonkeyPatch) -> None:
    real = http.problem

    def problem(error: Any, request: Any) -> Any:
        answer = real(error, request)
        return answer | {"headers": answer["headers"] | {"Content-Type": "text/html"}}

    patch.setattr(http, "problem", problem)


PLANTED: list[Planted] = [
    ("keys", _first_value_wins, "a good key was refused"),
    ("keys", _any_key, "another key than the header holds"),
    ("keys", _refusals_of_keys_say_nothing, "no fault"),
    ("requests", _unknown_media, "taken for JSON"),
    ("requests", _body_is_cut, "another body than was sent"),
    ("requests", _any_correlation_id, "a correlation id that a log line cannot hold"),
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
    ("ingest", _receipts_are_forgotten, "accepted, and not one receipt"),
    ("ingest", _problems_without_type, "an error that is no problem"),
    ("execute", _answers_500, "answered 500 to what a client can send"),
    ("execute", _lone_surrogate, "answered 500 to what a client can send"),
    ("provider", _half_made, "a receipt is not read as it was written"),
    ("read", _looks_for_ever, "waited longer than its patience"),
    ("read", _any_receipt, "a key was looked up that no header can carry"),
    ("authorizer", _any_key_of_two, "another key was let in, or the right one was not"),
    ("webhooks", _half_made, "a receipt is not read as it was written"),
    ("webhooks", _no_secrets_asked, "answered 500 to what a client can send"),
    ("webhooks", _nobody_proves, "let in without a proof"),
    ("proofs", _proof_of_nothing, "header: a changed proof was believed"),
    ("proofs", _nobody_is_believed, "bearer: a right proof was refused"),
]
