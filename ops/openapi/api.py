"""The API as it is: its operations, and the file that its document is kept in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from handlers.operations import accepted, executed
from handlers.operations.webhooks import WEBHOOKS
from infra.openapi import FILE
from ops.openapi import document

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from handlers.domain.operation import AcceptOperation, ExecuteOperation

OPERATIONS: Final[Mapping[str, AcceptOperation | ExecuteOperation]] = {
    **accepted.BY_RESOURCE,
    **executed.BY_RESOURCE,
    "/v1/webhooks/{tenant}/{source}": WEBHOOKS,
}
"""Every operation, by the path that it is posted to."""


def is_outdated(repository: Path) -> bool:
    """Whether the file is missing, or says something else than the operations do."""
    file = repository / FILE
    return not file.is_file() or file.read_text(encoding="utf-8") != document.text(OPERATIONS)


def write(repository: Path) -> Path:
    """Write the file; returns where it is."""
    file = repository / FILE
    file.write_text(document.text(OPERATIONS), encoding="utf-8")
    return file
