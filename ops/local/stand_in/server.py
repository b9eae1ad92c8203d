"""The stand-in over HTTP/1.1, on loopback only.

`/<host>/<path>` is the path of that host, `/_stand-in/` is the admin's.
"""

import json
import socket
import struct
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ops.local.emulator import LOOPBACK
from ops.local.stand_in.answer import Answer, Request
from ops.local.stand_in.world import ADMIN, CutConnection, World

MAX_BODY_BYTES = 4 * 1024 * 1024
"""More than any document of the platform (256 KiB), so that whoever sends more learns of a mistake."""

IDLE_SECONDS = 300.0
"""How long a kept-alive connection may be silent; a function's worker lives about as long."""

_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER on, with no time: closing sends a reset instead of an orderly end (socket(7))."""


class Server(ThreadingHTTPServer):
    """A thread for each connection; none of them keeps the process from ending."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 512  # connections that a storm opens at once; five, the default, would refuse some

    def __init__(self, port: int, world: World) -> None:
        super().__init__((LOOPBACK, port), partial(Handler, world=world))

    def server_bind(self) -> None:
        """Bind without asking the resolver for a name of our address, which can take seconds."""
        # A connection that we cut keeps its port for a minute (TIME_WAIT): no reason not to listen there.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        socket.socket.bind(self.socket, self.server_address)
        host, port = self.socket.getsockname()[:2]
        self.server_address, self.server_name, self.server_port = (host, port), host, port

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 (socketserver's)
        """Close without an orderly end first: a connection that is to be reset would end in order."""
        self.close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 (socketserver's)
        """Say nothing of a caller that went away: its timeout is what tests provoke."""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else an answer waits 40 ms for the acknowledgement of its own head
    wbufsize = -1  # an answer leaves in one piece
    timeout = IDLE_SECONDS

    def __init__(self, *arguments: Any, world: World) -> None:  # noqa: ANN401 (socketserver's)
        self._world = world
        super().__init__(*arguments)

    def do_GET(self) -> None:
        """Answer a request, of whatever method."""
        body = self._body()
        if isinstance(body, Answer):
            self.close_connection = True  # what follows on the connection is the rest of a body
            self._send(body)
            return
        _, host, *rest = self.path.split("/", 2) if self.path.startswith("/") else ("", "", "")
        target = f"/{rest[0]}" if rest else ""
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, host, target, headers, body)
        try:
            self._send(self._world.admin(request) if host == ADMIN else self._world.answer(request))
        except CutConnection as cut:
            self._cut(reset=cut.reset)

    do_POST = do_PUT = do_DELETE = do_PATCH = do_GET  # noqa: N815 (http.server's names)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002, ANN401 (http.server's)
        """Say nothing: targets carry ids of the tenants' customers."""

    def _body(self) -> bytes | Answer:
        """The body, or the refusal of one that cannot be read."""
        if "transfer-encoding" in self.headers:
            return Answer(HTTPStatus.LENGTH_REQUIRED, {"error": "Content-Length is needed"})
        length = self.headers.get("content-length", "0")
        if not length.isdecimal():
            return Answer(HTTPStatus.BAD_REQUEST, {"error": "Content-Length is not a number"})
        if int(length) > MAX_BODY_BYTES:
            return Answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": f"more than {MAX_BODY_BYTES} bytes"})
        return self.rfile.read(int(length))

    def _send(self, answer: Answer) -> None:
        content = json.dumps(answer.body).encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.status not in (
            HTTPStatus.NO_CONTENT,
            HTTPStatus.NOT_MODIFIED,
        ):  # they have no body (RFC 9110)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        else:
            self.end_headers()

    def _cut(self, *, reset: bool) -> None:
        self.close_connection = True
        if reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
