"""One HTTP request and its answer: bounded in size, and in time as a whole."""

from __future__ import annotations

import re
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from urllib3.exceptions import HTTPError

from handlers.domain.outbound import Answer, DestinationForbidden

if TYPE_CHECKING:
    from collections.abc import Mapping

    from urllib3 import BaseHTTPResponse
    from urllib3.connection import HTTPConnection

# A destination's answer is a status and perhaps a small document. A megabyte is more than any sends, and far
# from what a function's memory would notice.
MAX_ANSWER_BYTES: Final = 1024 * 1024
HTTPS_PORT: Final = 443
_CHUNK_BYTES: Final = 64 * 1024
# What would end a header's line and begin another (RFC 9110 section 5.5).
_BREAKS: Final = re.compile(r"[\r\n\0]")


@dataclass(frozen=True)
class HttpCall:
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
class Target:
    """Where a request goes. `host` is what is said of it; `address` is what is connected to."""

    host: str
    address: str
    port: int
    target: str
    tls: bool


@dataclass
class Exchange:
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


def send(connection: HTTPConnection, target: Target, request: HttpCall) -> Answer:
    """Send the request on a connection that stands, and read the whole answer.

    Raises HTTPError, HTTPException, OSError or ValueError: no whole answer came.
    """
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


def check_headers(host: str, headers: Mapping[str, str]) -> None:
    """Raise DestinationForbidden for a header that cannot be sent, before anything is.

    http.client would raise with the text, and a token is a secret.
    """
    for name, value in headers.items():
        try:
            value.encode("latin-1")
        except UnicodeEncodeError:
            raise DestinationForbidden(f"{host}: header {name} cannot be sent: not Latin-1") from None
        if _BREAKS.search(value):
            raise DestinationForbidden(f"{host}: header {name} cannot be sent: it holds a line break")


def _host_header(target: Target) -> str:
    return target.host if target.port == HTTPS_PORT or not target.tls else f"{target.host}:{target.port}"
