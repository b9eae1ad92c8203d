"""Figures that commands write into a page, between marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ops.figures import marked, put

if TYPE_CHECKING:
    from pathlib import Path


def test_only_what_stands_between_the_marks_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"above\n{marked('a', 'old')}\nbetween\n{marked('b', 'kept')}\n", encoding="utf-8")
    put(page, "a", "\nnew \\1\n")
    told = page.read_text(encoding="utf-8")
    assert told == "above\n" + marked("a", "new \\1") + "\nbetween\n" + marked("b", "kept") + "\n"


@pytest.mark.parametrize("parts", [0, 2])
def test_a_page_without_its_one_place_is_left_as_it_is(parts: int, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    text = "\n".join([marked("a", "old")] * parts)
    page.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=f"{parts} parts are marked a; one is needed"):
        put(page, "a", "new")
    assert page.read_text(encoding="utf-8") == text
