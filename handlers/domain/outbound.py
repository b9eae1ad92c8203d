"""Calls to destinations outside AWS: the port, and the three ways in which a call goes wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from handlers.domain.errors import OncewardError

if TYPE_CHECKING:
    from collections.abc import Mapping


class DestinationForbidden(OncewardError):
    """The address may not be called: not https, or it resolves to a private or link-local address."""


class NotSent(OncewardError):
    """The request certainly did not reach the destination: no address, no connection, no TLS."""


class AnswerLost(OncewardError):
    """The request may have reached the destination, and no whole answer came back in time."""


@dataclass(frozen=True)
class Answer:
    """What the destination answered, whatever its status. Header names are lower-case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Outbound(Protocol):
    """HTTP calls to a tenant's destinations; never follows a redirect, never retries by itself."""

    def call(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, *, timeout_seconds: float
    ) -> Answer:
        """Send one request.

        Raises:
            DestinationForbidden, NotSent, AnswerLost: their messages name the host, never path, header or
                body.
        """
