"""A stand-in for `POST /v1/leads` over real HTTP, whose answers a test can script, and the form's own site.

It keeps the three rules that the form relies on (a key is one lead; another body under it is 422; what is
replayed says so) and CORS as the platform's. The form's tests against the platform itself are in
`test_on_platform.py`; this one can do what that cannot be made to: break at a chosen moment.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

FORM = Path(__file__).resolve().parents[3] / "web" / "lead-form"
PUBLISHABLE_KEY = "publishable-key-of-the-fake"


@dataclass(frozen=True)
class Answer:
    """An answer that a test scripts: status, body (sent as JSON, but a text as it is) and headers."""

    status: int
    body: Mapping[str, object] | str = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


# What the next POST does instead of the usual: answer this; or break the connection before or after it acted.
Script = Answer | Literal["break before", "break after"]


@dataclass
class LeadApi:
    """The fake's state: `leads` by key, every POST's key in order, and what the next POSTs shall do."""

    leads: dict[str, object] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    script: deque[Script] = field(default_factory=deque)
    # Held, it keeps every POST waiting: a test looks at the page while the answer is on its way.
    gate: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def post(self, api_key: str, key: str, lead: object) -> tuple[Answer, bool]:
        """Answer one POST; the flag says to break the connection instead of sending the answer."""
        self.gate.wait(timeout=10)
        self.keys.append(key)
        scripted = self.script.popleft() if self.script else None
        if isinstance(scripted, Answer):
            return scripted, False
        if scripted == "break before":
            return Answer(500), True
        return self._take(api_key, key, lead), scripted == "break after"

    def _take(self, api_key: str, key: str, lead: object) -> Answer:
        if api_key != PUBLISHABLE_KEY:
            return Answer(403, {"status": 403, "detail": "no such key", "correlationId": "c-403"})
        if key in self.leads and self.leads[key] != lead:
            return Answer(422, {"status": 422, "detail": "the key stands for another request"})
        replayed = {"Idempotent-Replayed": "true"} if key in self.leads else {}
        self.leads[key] = lead
        number = list(self.leads).index(key) + 1
        return Answer(201, {"id": f"lead-{number}", "createdAt": "2026-01-01T00:00:00.000Z"}, replayed)


class _ApiHandler(BaseHTTPRequestHandler):
    def __init__(self, api: LeadApi, *args: object) -> None:
        self._api = api
        super().__init__(*args)  # type: ignore[arg-type]  # what socketserver passes

    def do_OPTIONS(self) -> None:
        self._send(
            Answer(204, headers={"Access-Control-Allow-Headers": "content-type,idempotency-key,x-api-key"})
        )

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer, broken = self._api.post(self.headers["x-api-key"], self.headers["Idempotency-Key"], body)
        if broken:
            self.close_connection = True
            return
        self._send(answer)

    def _send(self, answer: Answer) -> None:
        text = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
        content = text.encode() if answer.status != 204 else b""
        self.send_response(answer.status)
        cors = {
            "Access-Control-Allow-Origin": self.headers.get("Origin", ""),
            "Content-Type": "application/json",
        }
        exposed = {
            "Access-Control-Expose-Headers": "Idempotent-Replayed,Location,X-Correlation-Id,Retry-After"
        }
        for name, value in {**cors, **exposed, **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        with suppress(BrokenPipeError, ConnectionResetError):  # a page that waits no longer
            self.end_headers()
            self.wfile.write(content)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing: the test's own failure tells."""


class _SiteHandler(SimpleHTTPRequestHandler):
    def __init__(self, config: Mapping[str, str] | None, *args: object) -> None:
        self._config = config
        super().__init__(*args, directory=str(FORM))  # type: ignore[arg-type]  # what socketserver passes

    def do_GET(self) -> None:
        if self.path != "/config.json" or self._config is None:
            super().do_GET()
            return
        content = json.dumps(self._config).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing: the test's own failure tells."""


@contextmanager
def lead_api() -> Iterator[LeadApi]:
    """Run the fake API on a free loopback port."""
    api = LeadApi()
    api.gate.set()
    with _running(partial(_ApiHandler, api)) as api.url:
        yield api


@contextmanager
def form_site(config: Mapping[str, str] | None) -> Iterator[str]:
    """Serve the form with this config.json (None: it has none) and yield the site's address."""
    with _running(partial(_SiteHandler, config)) as url:
        yield url


@contextmanager
def _running(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    # 20 ms: how soon shutdown() is noticed; the half second of the default would be most of a test's time.
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
