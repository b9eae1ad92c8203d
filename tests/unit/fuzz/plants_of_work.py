"""Faults planted in what works off batches, reads what was stored, and reads tenant files and addresses."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ruamel.yaml.constructor import SafeConstructor

from fuzz.batches import Outside
from handlers import dispatch, notify, reconcile
from handlers.adapters import batch, parking, pending_index, receipt_item, work_batch
from handlers.domain import addresses, bus_event, ids
from handlers.domain.errors import Unavailable
from tenants import addresses as addresses_of_files
from tenants import document
from tests.fakes.work import InMemoryWork
from tests.unit.fuzz.planting import Planted, answering, broken

if TYPE_CHECKING:
    import pytest


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


def _any_public(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(addresses, "_is_global", answering(True))
    patch.setattr(addresses_of_files, "_is_global", answering(True))


def _no_id_is_ours(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ids, "created_at_ms", answering(None))


def _answer_of_another_shape(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(batch, "process", answering({"batchItemFailures": [], "failed": []}))


def _nothing_is_written(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Outside, "write", answering(None))


def _no_pause(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(parking, "pause_seconds", answering(0))


def _endless_pause(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(work_batch, "pause_seconds", answering(10**6))


def _faults_without_field(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(document, "spell", answering(""))


def _parked_otherwise(patch: pytest.MonkeyPatch) -> None:
    real = parking.parked_in
    patch.setattr(parking, "parked_in", lambda body: replace(real(body), republish=True))


PLANTED: list[Planted] = [
    ("images", _times_are_text, "neither a value nor CorruptItem"),
    ("images", _unreadable_are_dropped, "an item of the index was lost"),
    ("images", _parked_otherwise, "an image is not brought back as it was parked"),
    ("messages", _messages_raise, "neither a value nor CorruptItem"),
    ("stream", _lost, "a record was lost"),
    ("stream", _nothing_is_written, "published before it was written"),
    ("retries", _another_id, "an id that is not of this batch: Lambda takes the whole batch for failed"),
    ("retries", _answer_of_another_shape, "an answer that Lambda cannot read"),
    ("retries", _no_pause, "a wild pause"),
    ("bus", _another_topic, "published on another tenant's topic"),
    ("bus", _told_twice, "published and failed"),
    ("pending", _none_is_readable, "failed, though every item can be read"),
    ("pending", _unreadable_are_dropped, "an item that nobody can read was passed over"),
    ("pending", _marks_are_forgotten, "sent twice within a period"),
    ("pending", _failures_are_kept_quiet, "failed, and nobody heard of it"),
    ("workers", _acknowledged, "undone work was acknowledged"),
    ("workers", _another_id, "an id that is not of this batch"),
    ("workers", _endless_pause, "a pause that SQS refuses"),
    ("tenants", _readers_raise, "neither a tenant nor faults"),
    ("tenants", _no_line, "line 0 of 7"),
    ("tenants", _files_are_run, "a file was run: ['os.system']"),
    ("tenants", _faults_without_field, "a fault that does not say what"),
    ("ids", _any_time, "an id's time is another one"),
    ("ids", _no_id_is_ours, "an id was misjudged"),
    ("addresses", _private_is_public, "files and functions judge an address differently"),
    ("addresses", _any_public, "a private address passes"),
]
