"""The HTTP API as a test calls it."""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx

from tests.builders import LEAD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# 64 callers at once start up to 64 cold workers on two cores, which then start one after the other.
_TIMEOUT_SECONDS = 120.0
_POLL_SECONDS = 0.05

PROBLEM = "application/problem+json"


@dataclass(frozen=True)
class Api:
    """One key of one tenant."""

    url: str
    key: str | None
    client: httpx.Client

    def post(
        self,
        body: object = None,
        *,
        idempotency_key: str | None = None,
        raw: bytes | None = None,
        headers: dict[str, str] | list[tuple[str, str]] | None = None,
        path: str = "/v1/leads",
    ) -> httpx.Response:
        """POST a lead (or `raw` bytes)."""
        sent = raw if raw is not None else json.dumps(LEAD if body is None else body).encode()
        gathered = [("content-type", "application/json"), *self._credential()]
        if idempotency_key is not None:
            gathered.append(("Idempotency-Key", idempotency_key))
        for name, value in headers.items() if isinstance(headers, dict) else (headers or []):
            gathered = [
                pair for pair in gathered if pair[0].lower() != name.lower() or name == "Idempotency-Key"
            ]
            gathered.append((name, value))
        return self.client.post(self.url + path, content=sent, headers=gathered)

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> httpx.Response:
        """GET a path."""
        return self.client.get(self.url + path, headers=[*self._credential(), *(headers or {}).items()])

    def request(self, method: str, path: str) -> httpx.Response:
        """Any method on any path."""
        return self.client.request(method, self.url + path, headers=self._credential())

    def _credential(self) -> list[tuple[str, str]]:
        return [] if self.key is None else [("x-api-key", self.key)]


def assert_problem(
    response: httpx.Response, status: int, slug: str, *, by_mock: bool = False
) -> dict[str, object]:
    """The answer is problem+json of this status and type; returns it.

    `by_mock`: made by a mock integration, whose templates the local AWS does not fill in
    (docs/not-proved-locally.md), so that its ids say nothing here.
    """
    assert response.status_code == status, response.text
    assert response.headers["Content-Type"] == PROBLEM
    body: dict[str, object] = response.json()
    assert body["type"] == f"urn:onceward:problem:{slug}"
    assert body["status"] == status
    assert body["title"]
    assert body["detail"]
    assert by_mock or body["correlationId"] == response.headers["X-Correlation-Id"]
    return body


def new_client() -> httpx.Client:
    """An HTTP client for many concurrent callers."""
    limits = httpx.Limits(max_connections=128, max_keepalive_connections=128)
    return httpx.Client(timeout=_TIMEOUT_SECONDS, limits=limits, trust_env=False)


def fresh_key(prefix: str = "e2e") -> str:
    """A key that no other test uses."""
    return f"{prefix}-{uuid.uuid4().hex}"


def eventually(probe: Callable[[], Any], *, seconds: float = 30.0) -> Any:
    """Return the first true answer of `probe`; fails when there is none in time."""
    deadline = time.monotonic() + seconds
    while True:
        found = probe()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {probe}")
        time.sleep(_POLL_SECONDS)
