"""Figures in a page: text that a command writes between marks, and nobody by hand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def marked(name: str, text: str) -> str:
    """A part of the page with its marks."""
    return f"<!-- {name} -->\n{text.strip()}\n<!-- /{name} -->"


def put(page: Path, name: str, text: str) -> None:
    """Put `text` in the place of the part `name` of `page`. Raises ValueError where there is none."""
    old = page.read_text(encoding="utf-8")
    part = re.compile(rf"<!-- {re.escape(name)} -->\n.*?<!-- /{re.escape(name)} -->", re.DOTALL)
    new, count = part.subn(lambda _: marked(name, text), old)
    if count != 1:
        raise ValueError(f"{page}: {count} parts are marked {name}; one is needed")
    page.write_text(new, encoding="utf-8")
