"""The file that `onceward tenants add` writes: it is right, and so is every example in its comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tenants.loader import check_text
from tenants.template import NewTenant, render
from tests.unit.tenants.files import directory

if TYPE_CHECKING:
    from pathlib import Path

NEW = NewTenant("dunes", "Dunes", "small", ["local"], ["server"], "shared", synthetic=False)


def test_the_examples_in_the_comments_are_valid_once_they_are_no_comments(tmp_path: Path) -> None:
    path = directory(tmp_path) / "dunes.yaml"
    plain = check_text(path, render(NEW))
    assert (plain.operations.payments, plain.operations.webhooks.sources) == (None, {})
    text = re.sub(r"^  # (Secrets|`destinations).*\n", "", render(NEW), flags=re.MULTILINE)
    uncommented = check_text(path, re.sub(r"^  # ", "  ", text, flags=re.MULTILINE))
    assert uncommented.operations.payments
    assert uncommented.operations.orders.destination
    sources = uncommented.operations.webhooks.sources
    assert (sources["billing"].preset, sources["forms"].proof_scheme) == ("stripe", "header")
