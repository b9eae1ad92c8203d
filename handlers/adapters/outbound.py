"""HTTP calls to tenants' destinations: connected to the very address that was checked, and bounded in all."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from functools import cache
from http.client import HTTPException
from typing import TYPE_CHECKING, Final

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.util import parse_url

from handlers.adapters.http_exchange import HTTPS_PORT, Exchange, HttpCall, Target, check_headers, send
from handlers.domain.addresses import is_public
from handlers.domain.outbound import AnswerLost, DestinationForbidden, NotSent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from handlers.domain.outbound import Answer

    Resolve = Callable[[str, int], "list[str]"]

# A handshake across the world takes well under a second; who does not answer one in three will not.
_CONNECT_SECONDS: Final = 3.0


class OutboundHttp:
    """`Outbound` over urllib3. `stand_in_url`: on the stage `local`, who answers for every destination."""

    def __init__(
        self,
        stand_in_url: str | None,
        *,
        resolve: Resolve | None = None,
        trust: Callable[[], ssl.SSLContext] | None = None,
    ) -> None:
        """`resolve` and `trust` (the TLS context, made at the first call) are for tests.

        `trust` must check certificates and names, as `ssl.create_default_context` does.
        """
        self._stand_in_url = stand_in_url
        self._resolve = resolve or _resolve
        self._trust = cache(trust or ssl.create_default_context)

    def call(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, *, timeout_seconds: float
    ) -> Answer:
        """See `Outbound.call`. `timeout_seconds` bounds the whole: name, connection, TLS, request, answer."""
        host = _host_of(url)
        check_headers(host, headers)
        request = HttpCall(method, url, headers, body, time.monotonic() + timeout_seconds)
        exchange = Exchange()

        def run() -> None:
            try:
                exchange.answer = self._exchange(exchange, request)
            except Exception as error:  # noqa: BLE001 - it belongs to the caller's thread
                exchange.error = error
            finally:
                exchange.finished.set()

        threading.Thread(target=run, name="outbound", daemon=True).start()
        if not exchange.finished.wait(timeout_seconds):
            kind = AnswerLost if exchange.give_up() else NotSent
            raise kind(f"{host}: no answer in {timeout_seconds:g} s")
        if exchange.answer is None:
            raise exchange.error or AnswerLost(f"{host}: no answer")
        return exchange.answer

    def _exchange(self, exchange: Exchange, request: HttpCall) -> Answer:
        target = self._target(request.url)
        connection = self._connection(target, request)
        exchange.connection = connection
        try:
            try:
                connection.connect()
            except (HTTPError, OSError, ValueError) as error:  # ValueError: a name that TLS does not take
                raise NotSent(f"{target.host}: not connected ({type(error).__name__})") from error
            if not exchange.may_send():
                raise NotSent(f"{target.host}: out of time")
            try:
                return send(connection, target, request)
            # ValueError: whatever of an answer cannot be parsed.
            except (HTTPError, HTTPException, OSError, ValueError) as error:
                raise AnswerLost(f"{target.host}: no whole answer ({type(error).__name__})") from error
        finally:
            connection.close()

    def _target(self, url: str) -> Target:
        host = _host_of(url)
        parsed = parse_url(url)
        if self._stand_in_url is not None:
            stand_in = parse_url(self._stand_in_url)
            path = f"{(stand_in.path or '').rstrip('/')}/{host}{parsed.request_uri}"
            return Target(host, stand_in.host or "", stand_in.port or 80, path, tls=False)
        port = parsed.port or HTTPS_PORT
        return Target(host, self._checked_address(host, port), port, parsed.request_uri, tls=True)

    def _checked_address(self, host: str, port: int) -> str:
        try:
            addresses = self._resolve(host.strip("[]"), port)
        except (OSError, ValueError) as error:  # ValueError: a name that no lookup takes
            raise NotSent(f"{host}: no address ({type(error).__name__})") from error
        if not addresses:
            raise NotSent(f"{host}: no address")
        # One private address among public ones is a name that plays games: none of them is called.
        if not all(is_public(address) for address in addresses):
            raise DestinationForbidden(f"{host}: resolves to an address that may not be called")
        return addresses[0]

    def _connection(self, target: Target, request: HttpCall) -> HTTPConnection:
        timeout = min(_CONNECT_SECONDS, request.seconds_left())
        if not target.tls:
            return HTTPConnection(target.address, target.port, timeout=timeout)
        # By address, so that the name cannot mean another one by now; certificate and SNI are the name's.
        return HTTPSConnection(
            target.address,
            target.port,
            timeout=timeout,
            cert_reqs="CERT_REQUIRED",
            server_hostname=target.host.strip("[]"),
            ssl_context=self._trust(),
        )


def _host_of(url: str) -> str:
    try:
        parsed = parse_url(url)
    except HTTPError:
        raise DestinationForbidden("the destination is no URL") from None
    if parsed.scheme != "https" or not parsed.host or parsed.auth is not None:
        raise DestinationForbidden(f"{parsed.host or 'the destination'}: must be https, without credentials")
    return parsed.host


def _resolve(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(sockaddr[0]) for _, _, _, _, sockaddr in found]
