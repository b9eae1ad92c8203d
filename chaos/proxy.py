"""A loopback proxy between the functions and their AWS: a port for each function, faults by the schedule."""

from __future__ import annotations

import http.client
import socket
import struct
import threading
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import urlsplit

from chaos import refusing
from chaos.calls import operation_of, service_of
from chaos.faults import Fault, Kind
from chaos.wires import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from chaos.wires import Wires

    _Note: TypeAlias = Callable[[Kind], None]

# How often a port looks whether it is to be closed: a run has ten of them, closed one after the other.
_POLL_SECONDS: Final = 0.05
# What the proxy says itself.
_HOP_BY_HOP: Final = frozenset({"content-length", "transfer-encoding", "connection", "server", "date"})
# SO_LINGER, on, 0 s: closing then resets the connection instead of ending it in good order.
_RESETTING: Final = struct.pack("ii", 1, 0)
_BEFORE: Final = frozenset({Kind.RESET, Kind.LATE_EFFECT, Kind.KILL_BEFORE})


@contextmanager
def between(wires: Wires, functions: Iterable[str]) -> Iterator[Wires]:
    """Run the proxy for the length of the block, with a port for each function.

    The end waits for what is still to take effect (some 12 s at most: `chaos.faults`).
    """
    with ExitStack() as stack:
        stack.callback(wires.finish)
        for function in functions:
            server = _Server(wires, function)
            thread = threading.Thread(target=server.serve_forever, args=(_POLL_SECONDS,), daemon=True)
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            wires.urls[function] = f"http://127.0.0.1:{server.server_port}"
        yield wires


def upstream_of(url: str) -> str:
    """Host and port of a URL."""
    return urlsplit(url).netloc


class _Server(ThreadingHTTPServer):
    """One function's port. Threads: a call that is answered late must hold up no other."""

    daemon_threads = True
    # A burst of new workers connects at once; the system's default of 5 would make some of them wait.
    request_queue_size = 128

    def __init__(self, wires: Wires, function: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.wires = wires
        self.function = function

    def handle_error(self, *_: object) -> None:
        """Say nothing: a caller that was killed, or has given up, is what this is for."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer is one small packet after another: without this each waits for the last one's receipt.
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def do_POST(self) -> None:
        """Pass one call on, or do to it what the schedule says."""
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        call = Call("POST", self.path, dict(self.headers.items()), body)
        service, operation = service_of(call.headers), operation_of(call.headers, body)
        function, wires = self.server.function, self.server.wires
        wires.note(function, service, call.headers)
        fault, number = wires.decide(function, service)

        def note(kind: Kind) -> None:
            wires.tally.add(kind, function, service, operation, number)

        try:
            self._answer(call, service, fault, number, note)
        except (OSError, http.client.HTTPException):
            # Whoever is on the other side has gone: the caller sees a broken connection, as it would.
            self._drop()

    def _answer(self, call: Call, service: str, fault: Fault | None, number: int, note: _Note) -> None:
        if fault is None:
            self._pass(call)
        elif fault.kind in {Kind.THROTTLE, Kind.HELD, Kind.ERROR}:
            made = refusing.failure if fault.kind is Kind.ERROR else refusing.throttle
            note(fault.kind)
            self._refuse(made(service, number))
        elif fault.kind in _BEFORE:
            self._before(call, fault, note)
        elif fault.kind in {Kind.LATENCY, Kind.COPY}:
            self._late_or_twice(call, fault, note)
        else:
            self.server.wires.forward(call)
            note(self._killed(Kind.KILL_AFTER, fault.kind, otherwise=Kind.LOST_ANSWER))
            self._drop()

    def _late_or_twice(self, call: Call, fault: Fault, note: _Note) -> None:
        """It passes; what is wrong is when, or how often."""
        if fault.kind is Kind.LATENCY:
            self.server.wires.pause(fault.seconds)
            note(fault.kind)
        answer = self.server.wires.forward(call)
        if fault.kind is Kind.COPY:
            # Before it is answered: whoever then waits for all copies waits for this one, too.
            self.server.wires.forward_later(call, fault.seconds, lambda: note(fault.kind))
        self._hand_on(*answer)

    def _before(self, call: Call, fault: Fault, note: _Note) -> None:
        """Nothing has happened yet when the caller loses its connection, or its life."""
        if fault.kind is Kind.LATE_EFFECT:
            self.server.wires.forward_later(call, fault.seconds, lambda: note(fault.kind))
        else:
            note(self._killed(Kind.KILL_BEFORE, fault.kind, otherwise=Kind.RESET))
        self._drop()

    def _killed(self, wanted: Kind, kind: Kind, otherwise: Kind) -> Kind:
        """Kill the caller if that is `wanted`; what became of the call: one that is gone lost it only."""
        killed = kind is wanted and self.server.wires.kill(self.client_address[1])
        return kind if killed else otherwise

    def _pass(self, call: Call) -> None:
        self._hand_on(*self.server.wires.forward(call))

    def _hand_on(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        kept = {name: value for name, value in headers if name.lower() not in _HOP_BY_HOP}
        self._send(status, kept, content)

    def _refuse(self, refusal: refusing.Refusal) -> None:
        headers = {"Content-Type": refusal.content_type, **refusal.headers}
        self._send(refusal.status, headers, refusal.body)

    def _send(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def _drop(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESETTING)
        self.connection.close()

    def log_message(self, *_: object) -> None:
        """Say nothing: requests carry payloads."""
