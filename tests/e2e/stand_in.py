"""The stand-in for everything outside AWS, as a test steers and asks it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx


@dataclass(frozen=True)
class StandIn:
    """Its admin interface."""

    url: str
    client: httpx.Client

    @contextmanager
    def fault(self, fault: str, value: object = None, *, times: int = 1_000, **match: str) -> Iterator[None]:
        """Let what matches go wrong for the length of the block."""
        self._put("faults", [{"match": match, "fault": fault, "value": value, "times": times}])
        try:
            yield
        finally:
            self._put("faults", [])

    def charges(self, mark: str) -> list[dict[str, Any]]:
        """Every charge whose reference is `mark`."""
        return [each for each in self._get("charges") if each.get("reference") == mark]

    def upserts(self, mark: str) -> list[dict[str, Any]]:
        """Every entity whose document holds `mark`."""
        return [each for each in self._get("upserts") if mark in str(each)]

    def _get(self, what: str) -> list[dict[str, Any]]:
        answer = self.client.get(f"{self.url}/_stand-in/{what}")
        assert answer.status_code == 200
        body = answer.json()
        found: list[dict[str, Any]] = body[what] if isinstance(body, dict) else body
        return found

    def _put(self, what: str, content: object) -> None:
        answer = self.client.put(f"{self.url}/_stand-in/{what}", json=content)
        assert answer.is_success, answer.text
