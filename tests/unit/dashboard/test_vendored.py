"""The chart library that comes with the page is the one that its note names, unchanged."""

from __future__ import annotations

import hashlib
import json

import pytest

from ops.dashboard.site import ASSETS

UPLOT = ASSETS / "vendor" / "uplot"
NOTE = json.loads((UPLOT / "vendored.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(NOTE["files"]))
def test_each_file_has_the_hash_of_the_note(name: str) -> None:
    assert hashlib.sha256((UPLOT / name).read_bytes()).hexdigest() == NOTE["files"][name]


def test_nothing_lies_beside_what_the_note_names() -> None:
    assert {file.name for file in UPLOT.iterdir()} == {"vendored.json", *NOTE["files"]}


def test_the_version_is_the_one_in_the_library_s_own_words() -> None:
    head = (UPLOT / "uPlot.iife.min.js").read_text(encoding="utf-8")[:300]
    assert f"(v{NOTE['version']})" in head
    assert "MIT License" in (UPLOT / "LICENSE").read_text(encoding="utf-8")


def test_the_page_names_no_address_but_its_own() -> None:
    for file in ASSETS.glob("*.*"):
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text, file
        assert "https://" not in text, file
