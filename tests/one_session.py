"""boto3's session and clients, made once for many tests on moto."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import boto3
from botocore.config import Config

if TYPE_CHECKING:
    import pytest


class _OneSession:
    """In the place of `boto3.Session`: parses the services' models once, and makes each client once.

    Both took a third of the time of these tests. moto answers a client that was made in another test too:
    what a client knows is where it sends, and moto forgets what was sent when its block ends.
    """

    def __init__(self) -> None:
        self._session = boto3.session.Session("testing", "testing", region_name="us-east-1")
        self._clients: dict[str, Any] = {}

    def client(self, service: str, **options: Any) -> Any:
        settings = {
            name: vars(value) if isinstance(value, Config) else value for name, value in options.items()
        }
        key = f"{service} {sorted(settings.items())}"
        if key not in self._clients:
            self._clients[key] = self._session.client(service, **options)
        return self._clients[key]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)


_ONE: Final = cache(_OneSession)


def client_made_once(service: str, **options: Any) -> Any:
    """A client that others have too: not where a test registers handlers of events on it, which stay."""
    return _ONE().client(service, **options)


def make_clients_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every client is such a one for the length of a test."""
    monkeypatch.setattr(boto3, "Session", _ONE)
    monkeypatch.setattr(boto3, "client", client_made_once)
