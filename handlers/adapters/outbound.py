"""HTTP calls to tenants' destinations: connected to the very address that was checked, and bounded in all."""

from __future__ import annotations

import re
import socket
import ssl
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPException
from typing import TYPE_CHECKING, Final

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.util import parse_url

from handlers.domain.addresses import is_public
from handlers.domain.outbound import Answer, AnswerLost, DestinationForbidden, NotSent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from urllib3 import BaseHTTPResponse

    Resolve = Callable[[str, int], "list[str]"]

# A handshake across the world takes well under a second; who does not answer one in three will not.
_CONNECT_SECONDS: Final = 3.0
# A destination's answer is a status and perhaps a small document. A megabyte is more than any sends, and far
# from what a function's memory would notice.
MAX_ANSWER_BYTES: Final = 1024 * 1024
_CHUNK_BYTES: Final = 64 * 1024
_HTTPS_PORT: Final = 443
# What would end a header's line and begin another (RFC 9110 section 5.5).
_BREAKS: Final = re.compile(r"[\r\n\0]")


@dataclass(frozen=True)
class _Request:
    """What shall be sent, and by when its answer must be whole (`time.monotonic`, seconds)."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes
    deadline: float

    def seconds_left(self) -> float:
        """More than none: a socket takes 0 for "do not wait at all"."""
        return max(self.deadline - time.monotonic(), 0.001)


@dataclass(frozen=True)
class _Target:
    """Where a request goes. `host` is what is said of it; `address` is what is connected to."""

    host: str
    address: str
    port: int
    target: str
    tls: bool


@dataclass
class _Exchange:
    """One call, run by a thread of its own and given up by its caller when the time is over.

    No timeout of a socket bounds a call: each starts anew with every byte, and a lookup of a name has none.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    finished: threading.Event = field(default_factory=threading.Event)
    sending: bool = False
    given_up: bool = False
    connection: HTTPConnection | None = None
    answer: Answer | None = None
    error: Exception | None = None

    def may_send(self) -> bool:
        """Whether the caller still waits; from here on it must assume that the destination was reached."""
        with self.lock:
            self.sending = not self.given_up
            return self.sending

    def give_up(self) -> bool:
        """Whether the request may have been sent; if it was not, it never will be."""
        with self.lock:
            self.given_up = True
        sock = self.connection.sock if self.connection else None
        if sock is not None:
            with suppress(OSError):
                # Past TLS, whose own farewell could wait for the other side: it wakes the thread.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)
        return self.sending


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
        _check_headers(host, headers)
        request = _Request(method, url, headers, body, time.monotonic() + timeout_seconds)
        exchange = _Exchange()

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

    def _exchange(self, exchange: _Exchange, request: _Request) -> Answer:
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
                return _send(connection, target, request)
            # ValueError: whatever of an answer cannot be parsed.
            except (HTTPError, HTTPException, OSError, ValueError) as error:
                raise AnswerLost(f"{target.host}: no whole answer ({type(error).__name__})") from error
        finally:
            connection.close()

    def _target(self, url: str) -> _Target:
        host = _host_of(url)
        parsed = parse_url(url)
        if self._stand_in_url is not None:
            stand_in = parse_url(self._stand_in_url)
            path = f"{(stand_in.path or '').rstrip('/')}/{host}{parsed.request_uri}"
            return _Target(host, stand_in.host or "", stand_in.port or 80, path, tls=False)
        port = parsed.port or _HTTPS_PORT
        return _Target(host, self._checked_address(host, port), port, parsed.request_uri, tls=True)

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

    def _connection(self, target: _Target, request: _Request) -> HTTPConnection:
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


def _send(connection: HTTPConnection, target: _Target, request: _Request) -> Answer:
    connection.timeout = request.seconds_left()
    if connection.sock is not None:
        connection.sock.settimeout(connection.timeout)
    connection.request(
        request.method,
        target.target,
        body=request.body or None,
        headers={**request.headers, "Host": _host_header(target)},
        preload_content=False,
    )
    response = connection.getresponse()
    try:
        # Never followed, whatever the status: a redirect is an answer, and an address that nobody checked.
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status, headers, _read(response))
    finally:
        response.close()


def _read(response: BaseHTTPResponse) -> bytes:
    body = bytearray()
    for chunk in response.stream(_CHUNK_BYTES, decode_content=False):
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            raise HTTPError(f"over {MAX_ANSWER_BYTES} bytes")
    return bytes(body)


def _check_headers(host: str, headers: Mapping[str, str]) -> None:
    """Before anything is sent; http.client would raise with the text, and a token is a secret."""
    for name, value in headers.items():
        try:
            value.encode("latin-1")
        except UnicodeEncodeError:
            raise DestinationForbidden(f"{host}: header {name} cannot be sent: not Latin-1") from None
        if _BREAKS.search(value):
            raise DestinationForbidden(f"{host}: header {name} cannot be sent: it holds a line break")


def _host_header(target: _Target) -> str:
    return target.host if target.port == _HTTPS_PORT or not target.tls else f"{target.host}:{target.port}"


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
