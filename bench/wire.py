"""A loopback proxy before an AWS endpoint: counts requests at the wire, and can lose an answer."""

from __future__ import annotations

import http.client
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

# Longer than any call of the local AWS; a hung upstream must not hang a test for ever.
_UPSTREAM_SECONDS = 30


@dataclass
class Wire:
    """What passed.

    Attributes:
        url: where clients connect.
        operations: the DynamoDB operation of each request, in order (from X-Amz-Target).
        answers_to_lose: how many of the next answers never reach the client; the request itself does
            take effect.
    """

    url: str = ""
    operations: list[str] = field(default_factory=list)
    answers_to_lose: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def saw(self, target: str) -> bool:
        """Note a request; says whether its answer is to be lost."""
        with self._lock:
            self.operations.append(target.rpartition(".")[2])
            lost = self.answers_to_lose > 0
            self.answers_to_lose -= lost
            return lost

    def take(self) -> list[str]:
        """The operations since the last call."""
        with self._lock:
            taken, self.operations = self.operations, []
            return taken


@contextmanager
def tapped(upstream_url: str) -> Iterator[Wire]:
    """Run a proxy to `upstream_url` for the length of the block."""
    wire = Wire()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(wire, upstream_url))
    server.daemon_threads = True
    wire.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield wire
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(wire: Wire, upstream_url: str) -> type[BaseHTTPRequestHandler]:
    host = urlsplit(upstream_url).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            upstream = http.client.HTTPConnection(host, timeout=_UPSTREAM_SECONDS)
            # The headers go on as they are, Host too: the signature covers them.
            upstream.request("POST", self.path, body, dict(self.headers.items()))
            answer = upstream.getresponse()
            content = answer.read()
            upstream.close()
            if wire.saw(self.headers.get("X-Amz-Target", "")):
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in (
                    "content-length",
                    "transfer-encoding",
                    "connection",
                    "server",
                    "date",
                ):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing: requests carry payloads."""

    return Handler
