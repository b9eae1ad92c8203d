"""Serves the dashboards on loopback: the page's own files, and what it draws as JSON."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager, suppress
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlsplit

from ops.dashboard.body import BodyError
from ops.dashboard.drawing import Asked, draw
from ops.dashboard.markdown import RUNBOOK_PAGE, render
from ops.dashboard.windows import DEFAULT_PERIOD

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

VARIABLE_PREFIX: Final = "v."
"""Of a variable's id in the page's address."""


class NoDashboard(LookupError):
    """There is no dashboard of that name; the message has the names of those that there are."""


class Drawer:
    """Answers what the page asks. One drawing at a time: two cores have more to do than race each other."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lock = threading.Lock()

    def listing(self) -> dict[str, Any]:
        """What there is: `title`, `live`, and the names of the `dashboards`."""
        with self._lock:
            names = list(self._source.bodies())
        return {"title": self._source.title, "live": self._source.live, "dashboards": names}

    def dashboard(self, name: str, asked: Asked) -> dict[str, Any]:
        """One dashboard drawn. Raises NoDashboard, BodyError."""
        with self._lock:
            bodies = self._source.bodies()
            if name not in bodies:
                raise NoDashboard(f"there is no dashboard {name!r}; there are {', '.join(bodies) or 'none'}")
            drawn = draw(bodies[name], self._source.seen(), asked)
            return {"name": name, **drawn, "live": self._source.live, "notice": self._source.notice()}


class _Handler(BaseHTTPRequestHandler):
    """GET of the page's files, of `/api/dashboards` and of `/api/dashboard?name=...`."""

    server_version = "onceward-dashboard"
    sys_version = ""

    def __init__(self, drawer: Drawer, *arguments: Any) -> None:  # noqa: ANN401 (what socketserver passes)
        self._drawer = drawer
        super().__init__(*arguments)

    def do_GET(self) -> None:
        """Answer one request."""
        address = urlsplit(self.path)
        if not self._from_here():
            self._fail(HTTPStatus.MISDIRECTED_REQUEST, "ask this server by its address on loopback")
        elif address.path == "/api/dashboards":
            self._answer(self._drawer.listing())
        elif address.path == "/api/dashboard":
            self._draw(dict(parse_qsl(address.query)))
        elif address.path == RUNBOOK_PAGE:
            self._send(HTTPStatus.OK, runbook().encode(), _TYPES[".html"])
        else:
            self._file("/index.html" if address.path == "/" else address.path)

    def _from_here(self) -> bool:
        """A page of somebody else whose name was made to point at loopback shall not read this one."""
        assert isinstance(self.server, ThreadingHTTPServer)
        port = self.server.server_port
        return self.headers.get("Host") in {f"{LOOPBACK}:{port}", f"localhost:{port}"}

    def _draw(self, query: Mapping[str, str]) -> None:
        try:
            self._answer(self._drawer.dashboard(query.get("name", ""), asked(query)))
        except NoDashboard as error:
            self._fail(HTTPStatus.NOT_FOUND, str(error))
        except BodyError as error:
            self._fail(HTTPStatus.UNPROCESSABLE_ENTITY, f"the dashboard's body: {error}")
        except ValueError as error:
            self._fail(HTTPStatus.BAD_REQUEST, str(error))

    def _file(self, path: str) -> None:
        file = (ASSETS / path.lstrip("/")).resolve()
        if not file.is_relative_to(ASSETS) or not file.is_file() or file.suffix not in _TYPES:
            self._fail(HTTPStatus.NOT_FOUND, f"there is no {path}")
            return
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


def runbook() -> str:
    """The runbook as a page: what an alarm's description points to is read without a network, too."""
    page = (ASSETS / "runbook.html").read_text(encoding="utf-8")
    return page.replace("<!-- runbook -->", render(RUNBOOK.read_text(encoding="utf-8")))


def asked(query: Mapping[str, str]) -> Asked:
    """What a page's address asks for. Raises ValueError for what there is not."""
    values = {
        name.removeprefix(VARIABLE_PREFIX): value
        for name, value in query.items()
        if name.startswith(VARIABLE_PREFIX)
    }
    return Asked(query.get("range"), query.get("period", DEFAULT_PERIOD), values)


@contextmanager
def serving(source: Source, port: int) -> Iterator[str]:
    """Serve the source's dashboards for the block; the value is the address.

    `port` 0 takes a free one. Raises OSError when the port is taken.
    """
    with ThreadingHTTPServer((LOOPBACK, port), partial(_Handler, Drawer(source))) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, name="dashboard", daemon=True)
        thread.start()
        try:
            yield f"http://{LOOPBACK}:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
