"""Receipts as DynamoDB items: what is no receipt is refused by the attribute's name, never by its value."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from handlers.adapters.receipt_item import from_item, to_item
from handlers.domain.errors import CorruptItem
from tests.builders import in_progress, receipt
from tests.unit.handlers.dispatch_bench import accepted

SECRET = "ada@private.example"
PATHS = (
    *(("pk",), ("operation",), ("fingerprint",), ("status",), ("owner",), ("generation",), ("leaseUntil",)),
    *(("createdAt",), ("expiresAt",), ("purgeAt",), ("correlationId",), ("schema",), ("outboxId",)),
    *(("response",), ("response", "status"), ("response", "headers"), ("response", "headers", "Location")),
    ("response", "body"),
    *(("outbox",), ("outbox", "type"), ("outbox", "recordId"), ("outbox", "document")),
    *(("checkpoint",), ("bodyHash",), ("pinned",), ("fields",), ("fields", "email")),
)
OPTIONAL = {
    *(("response",), ("response", "body"), ("response", "headers", "Location"), ("outbox",)),
    *(("checkpoint",), ("bodyHash",), ("pinned",), ("fields",), ("fields", "email")),
}
WHOLE = receipt(checkpoint="saved", body_hash="hash", pinned="settings", fields={"email": "abc"})
# Each is what a restore, a hand or another program could have left there.
WRONG: tuple[Any, ...] = (
    *({"S": 7}, {"S": None}, {"N": SECRET}, {"N": 7}, {"N": "1.5"}, {"N": "٣"}, {"N": "1_0"}),
    *({"M": SECRET}, {"M": None}, {"BOOL": True}, {"NULL": True}, {}, None, SECRET, [SECRET]),
)


def changed(path: tuple[str, ...], value: Any, *, remove: bool = False) -> dict[str, Any]:
    """A receipt's item with one attribute changed, or without it."""
    item: dict[str, Any] = copy.deepcopy(dict(to_item(WHOLE)))
    members = item
    for name in path[:-1]:
        members = members[name]["M"]
    assert path[-1] in members
    if remove:
        del members[path[-1]]
    else:
        members[path[-1]] = value
    return item


@pytest.mark.parametrize("stored", [receipt(), WHOLE, in_progress(), accepted(1), receipt(key="a#b")])
def test_a_receipt_comes_back_as_it_was(stored: Any) -> None:
    assert from_item(to_item(stored)) == stored


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize("path", PATHS)
def test_an_attribute_of_another_shape_is_named_and_not_quoted(path: tuple[str, ...], value: Any) -> None:
    with pytest.raises(CorruptItem) as raised:
        from_item(changed(path, value))
    assert str(raised.value).endswith(f": {path[-1]}")
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize("path", [path for path in PATHS if path not in OPTIONAL])
def test_an_attribute_that_is_not_there_is_named(path: tuple[str, ...]) -> None:
    with pytest.raises(CorruptItem, match=f": {path[-1]}$"):
        from_item(changed(path, None, remove=True))


@pytest.mark.parametrize(("path", "value"), [(("status",), {"S": SECRET}), (("pk",), {"S": SECRET})])
def test_text_that_means_nothing_is_not_quoted_either(path: tuple[str, ...], value: Any) -> None:
    with pytest.raises(CorruptItem) as raised:
        from_item(changed(path, value))
    assert SECRET not in str(raised.value)


def test_a_receipt_of_a_newer_release_is_not_guessed_at() -> None:
    with pytest.raises(CorruptItem, match="newer release"):
        from_item(changed(("schema",), {"N": "2"}))
