"""A tiny AWS behind the proxy: it remembers what took effect, and answers like a service of JSON."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ANSWER = b'{"MessageId": "one"}'


class Upstream(ThreadingHTTPServer):
    """`effects`: the bodies of the requests, in order; `seen` is set when one comes."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.effects: list[bytes] = []
        self.seen = threading.Condition()

    def wait_for(self, effects: int) -> None:
        with self.seen:
            assert self.seen.wait_for(lambda: len(self.effects) >= effects, timeout=20)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Upstream

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.seen:
            self.server.effects.append(body)
            self.server.seen.notify_all()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
