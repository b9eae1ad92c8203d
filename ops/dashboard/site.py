"""Serves the dashboards on loopback: the page's own files, and what it draws as JSON."""

from __future__ import annotations

import json
import sys
import threading
from contextlib import contextmanager, suppress
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlsplit

from ops.dashboard.body import BodyError
from ops.dashboard.drawer import Drawer, Ended, NoDashboard
from ops.dashboard.drawing import Asked
from ops.dashboard.markdown import RUNBOOK_PAGE, render
from ops.dashboard.windows import DEFAULT_PERIOD
from ops.observing.store import BrokenMetrics

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.dashboard.sources import Source

LOOPBACK: Final = "127.0.0.1"
_ROOT: Final = Path(__file__).resolve().parents[2]
ASSETS: Final = _ROOT / "web" / "dashboard"
RUNBOOK: Final = _ROOT / "docs" / "runbook.md"

_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
}
"""What is served of the page's files: nothing of another kind."""

_HEADERS: Final = {
    # Only this page's own files run and are loaded. Styles are set by script on elements, which it allows.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

_HTTP_PORT: Final = 80
"""The one that an address without a port means (RFC 9110, 4.2.1)."""

VARIABLE_PREFIX: Final = "v."
"""Of a variable's id in the page's address."""


class AddressError(ValueError):
    """The address asks for what there is not; the message says what there is."""


_REFUSED: Final[Mapping[type[Exception], HTTPStatus]] = {
    AddressError: HTTPStatus.BAD_REQUEST,
    NoDashboard: HTTPStatus.NOT_FOUND,
    BodyError: HTTPStatus.UNPROCESSABLE_ENTITY,
    BrokenMetrics: HTTPStatus.UNPROCESSABLE_ENTITY,
    Ended: HTTPStatus.SERVICE_UNAVAILABLE,
}
"""What is no fault of the server's, and is answered with its own message."""


class _Handler(BaseHTTPRequestHandler):
    """GET of the page's files, of `/api/dashboards` and of `/api/dashboard?name=...`."""

    server_version = "onceward-dashboard"
    sys_version = ""

    def __init__(self, drawer: Drawer, *arguments: Any) -> None:  # noqa: ANN401 (what socketserver passes)
        self._drawer = drawer
        super().__init__(*arguments)

    def do_GET(self) -> None:
        """Answer one request. Of what nobody thought of, the log has one line; the reader is told that."""
        try:
            self._route()
        except tuple(_REFUSED) as error:
            self._fail(_REFUSED[type(error)], str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, the reader gets an answer
            print(f"GET {self.path!r}: {error!r}", file=sys.stderr)
            self._fail(HTTPStatus.INTERNAL_SERVER_ERROR, "this server failed; where it runs it says why")

    def _route(self) -> None:
        if not self._from_here():
            self._fail(HTTPStatus.MISDIRECTED_REQUEST, "ask this server by its address on loopback")
            return
        try:
            address = urlsplit(self.path)
        except ValueError as error:
            raise AddressError(f"{self.path!r} is no address") from error
        if address.path == "/api/dashboards":
            self._answer(self._drawer.listing())
        elif address.path == "/api/dashboard":
            query = dict(parse_qsl(address.query))
            self._answer(self._drawer.dashboard(query.get("name", ""), asked(query)))
        elif address.path == RUNBOOK_PAGE:
            self._send(HTTPStatus.OK, runbook().encode(), _TYPES[".html"])
        else:
            self._file("/index.html" if address.path == "/" else address.path)

    def _from_here(self) -> bool:
        """A page of somebody else whose name was made to point at loopback shall not read this one."""
        assert isinstance(self.server, ThreadingHTTPServer)
        return self.headers.get("Host") in own_hosts(self.server.server_port)

    def _file(self, path: str) -> None:
        file = _asset(path)
        if file is None:
            self._fail(HTTPStatus.NOT_FOUND, f"there is no {path}")
        else:
            self._send(HTTPStatus.OK, file.read_bytes(), _TYPES[file.suffix])

    def _answer(self, value: object) -> None:
        self._send(HTTPStatus.OK, json.dumps(value, allow_nan=False).encode(), "application/json")

    def _fail(self, status: HTTPStatus, detail: str) -> None:
        self._send(status, json.dumps({"detail": detail}).encode(), "application/json")

    def _send(self, status: HTTPStatus, content: bytes, kind: str) -> None:
        with suppress(ConnectionError):  # the reader went on to another dashboard
            self.send_response(status)
            for name, value in {
                **_HEADERS,
                "Content-Type": kind,
                "Content-Length": str(len(content)),
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002, ANN401 (http.server's)
        """Say nothing."""


def own_hosts(port: int) -> frozenset[str]:
    """How a reader who asks this server on that port names it. Of 80, clients leave the port out."""
    names = (LOOPBACK, "localhost")
    return frozenset(f"{name}:{port}" for name in names) | frozenset(names if port == _HTTP_PORT else ())


def _asset(path: str) -> Path | None:
    """The page's own file of that name; None if it has none."""
    try:
        file = (ASSETS / path.lstrip("/")).resolve()
        there = file.is_relative_to(ASSETS) and file.is_file() and file.suffix in _TYPES
    except (OSError, ValueError):  # no name of a file at all: too long, or with a NUL
        return None
    return file if there else None


def runbook() -> str:
    """The runbook as a page: what an alarm's description points to is read without a network, too."""
    page = (ASSETS / "runbook.html").read_text(encoding="utf-8")
    return page.replace("<!-- runbook -->", render(RUNBOOK.read_text(encoding="utf-8")))


def asked(query: Mapping[str, str]) -> Asked:
    """What a page's address asks for. Raises AddressError for what there is not."""
    values = {
        name.removeprefix(VARIABLE_PREFIX): value
        for name, value in query.items()
        if name.startswith(VARIABLE_PREFIX)
    }
    try:
        return Asked(query.get("range"), query.get("period", DEFAULT_PERIOD), values)
    except ValueError as error:
        raise AddressError(str(error)) from error


@contextmanager
def serving(source: Source, port: int) -> Iterator[str]:
    """Serve the source's dashboards for the block; the value is the address.

    `port` 0 takes a free one. Raises OSError when the port is taken. Once the block has ended, the source is
    not asked any more.
    """
    drawer = Drawer(source)
    with ThreadingHTTPServer((LOOPBACK, port), partial(_Handler, drawer)) as server:
        server.daemon_threads = True  # a browser keeps connections open on which it asks for nothing
        thread = threading.Thread(target=server.serve_forever, name="dashboard", daemon=True)
        thread.start()
        try:
            yield f"http://{LOOPBACK}:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
            drawer.end()
