"""A TLS server on loopback with a certificate of its own making, for names of the test's choice."""

from __future__ import annotations

import datetime as dt
import ipaddress
import socket
import ssl
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NAME = "crm.acme.example"


class Server:
    """What was asked of it, and what it answers: `answer` writes the whole response to the socket file."""

    def __init__(self, answer: Callable[[Any], None]) -> None:
        self.answer = answer
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.connections = 0
        self.port = 0


def respond(status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> Callable[[Any], None]:
    """An ordinary answer."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | (headers or {})).items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def certificate(directory: Path, name: str = NAME) -> tuple[Path, Path]:
    """A self-signed certificate for `name`, and its key, as PEM files."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    alternatives: list[x509.GeneralName] = [x509.DNSName(name)]
    if name[0].isdigit():
        alternatives = [x509.IPAddress(ipaddress.ip_address(name))]
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate_file, key_file = directory / f"{name}.pem", directory / f"{name}.key"
    certificate_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return certificate_file, key_file


@contextmanager
def serving(
    answer: Callable[[Any], None], files: tuple[Path, Path] | None, names: list[str | None] | None = None
) -> Iterator[Server]:
    """A server that runs until the block ends. `files`: None for plain HTTP; `names`: SNI as received."""
    served = Server(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one_request(self) -> None:
            served.connections += 1
            super().handle_one_request()
            self.close_connection = True

        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            served.requests.append((self.command, self.path, dict(self.headers.items()), body))
            served.answer(self)

        do_GET = do_PUT = do_POST = _any  # noqa: N815 - http.server's spelling

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            return

    class Quiet(HTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            return

    server = Quiet(("127.0.0.1", 0), Handler)
    if files is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*files)
        context.sni_callback = lambda _sock, name, _context: names.append(name) if names is not None else None
        # The handshake is the handler's, so that a client which gives up does not end the server.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    served.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def silent() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]
