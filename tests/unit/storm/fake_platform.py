"""A small platform on loopback that the storm can be aimed at, with faults to be switched on.

It stands in for a deployed stage in tests of the storm and its checker only; the platform itself is tested
on the local AWS (tests/e2e).
"""

from __future__ import annotations

import json
import ssl
import threading
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from loadtest.bodies import derived_key
from loadtest.history import hash_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TENANTS = ("storm-a", "storm-b", "storm-c")


CREATED_AT = "2026-01-01T00:00:00.000Z"
# Status, headers, body.
Answered = tuple[int, dict[str, str], bytes]


def key_of(tenant: str) -> str:
    return f"secret-of-{tenant}"


@dataclass
class FakePlatform:
    """What the platform would have stored, as items of its tables and messages of its queues.

    Attributes:
        fault: None, or the name of one thing that goes wrong.
    """

    fault: str | None = None
    url: str = ""
    receipts: dict[str, dict[str, Any]] = field(default_factory=dict)
    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    events: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    reads: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def outputs(self) -> dict[str, Any]:
        return {
            "apiUrl": self.url,
            "region": "eu-central-1",
            "stage": "local",
            "tables": {"receipts": "receipts", "records": "records", "tenants": "tenants"},
            "tenants": {
                tenant: {
                    "keys": {"server": key_of(tenant)},
                    "topicArn": f"arn:aws:sns:eu-central-1:000000000000:onceward-local-{tenant}",
                    "auditQueueUrl": None,
                    "synthetic": True,
                }
                for tenant in TENANTS
            },
        }

    def write_outputs(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        (home / "local.json").write_text(json.dumps(self.outputs()))

    def accept(self, tenant: str, key: str | None, body: dict[str, Any], correlation_id: str) -> Answered:
        body_hash = hash_of(body) or ""
        pk = f"{tenant}#{key or derived_key(body_hash)}"
        with self.lock:
            known = self.receipts.get(pk)
            if known and self.fault != "unconditional-put":
                return self._again(known, body_hash)
            return self._first(tenant, pk, body, correlation_id)

    def read(self, tenant: str, record_id: str) -> Answered:
        if self.fault == "forbidden":
            return 403, {"Content-Type": "application/problem+json"}, b'{"title":"forbidden"}'
        with self.lock:
            self.reads += 1
            # Of each three, two fail.
            if self.fault == "reads-fail" and self.reads % 3:
                return 503, {"Retry-After": "1"}, b"{}"
        record = self.records.get(f"{tenant}#{record_id}")
        if record is None:
            return 404, {"Content-Type": "application/problem+json"}, b'{"title":"not found"}'
        return 200, {"Content-Type": "application/json"}, record["document"].encode()

    def _again(self, known: dict[str, Any], body_hash: str) -> Answered:
        if known["fingerprint"] != body_hash:
            return 422, {"Content-Type": "application/problem+json"}, b'{"title":"key reused"}'
        answer = known["response"]
        body = answer["body"].encode()
        if self.fault == "changed-byte":
            body = body.replace(b"id", b"Id", 1)
        return answer["status"], {**answer["headers"], "Idempotent-Replayed": "true"}, body

    def _first(self, tenant: str, pk: str, body: dict[str, Any], correlation_id: str) -> Answered:
        record_id, event_id = uuid.uuid4().hex, uuid.uuid4().hex
        document = json.dumps({"id": record_id, "createdAt": CREATED_AT, "lead": body})
        answer = json.dumps({"id": record_id, "createdAt": CREATED_AT})
        headers = {"Content-Type": "application/json", "Location": f"/v1/leads/{record_id}"}
        self.receipts[pk] = {
            "pk": pk,
            "tenantId": tenant,
            "status": "COMPLETED",
            "fingerprint": hash_of(body) or "",
            "correlationId": correlation_id,
            "response": {"status": 201, "headers": headers, "body": answer},
            "outboxId": event_id,
            "outbox": {"type": "lead.created", "recordId": record_id, "document": document},
        }
        drop = self.fault == "dropped-dispatch" and int(sha256(pk.encode()).hexdigest(), 16) % 5 == 0
        if not drop:
            self._dispatch(tenant, self.receipts[pk])
        return 201, headers, answer.encode()

    def _dispatch(self, tenant: str, receipt: dict[str, Any]) -> None:
        event_id, record_id = receipt["outboxId"], receipt["outbox"]["recordId"]
        document = receipt["outbox"]["document"]
        pk = f"{tenant}#{record_id}"
        self.records[pk] = {
            "pk": pk,
            "tenantId": tenant,
            "recordId": record_id,
            "eventId": event_id,
            "document": document,
        }
        event = {
            "specversion": "1.0",
            "id": event_id,
            "source": f"/onceward/local/{tenant}",
            "type": "lead.created",
            "subject": record_id,
            "time": CREATED_AT,
            "correlationid": receipt["correlationId"],
            "data": json.loads(document),
        }
        attributes = {"tenantId": tenant, "type": "lead.created", "eventId": event_id}
        self.events.append((tenant, json.dumps(event), attributes))


@contextmanager
def serve(fault: str | None = None, certificate: Path | None = None) -> Iterator[FakePlatform]:
    """Run a fake platform on a free loopback port; over TLS if `certificate` (PEM, with its key) is given."""
    platform = FakePlatform(fault)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(platform))
    server.daemon_threads = True
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        # The handshake happens in the connection's own thread, at its first read.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    platform.url = f"http{'s' if certificate else ''}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield platform
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(platform: FakePlatform) -> type[BaseHTTPRequestHandler]:
    tenants = {key_of(tenant): tenant for tenant in TENANTS}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # A small answer must not wait for the client's delayed acknowledgement.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            tenant = tenants[self.headers["x-api-key"]]
            self._answer(*platform.read(tenant, self.path.rpartition("/")[2]))

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            tenant, key = tenants[self.headers["x-api-key"]], self.headers.get("Idempotency-Key")
            answered = platform.accept(tenant, key, json.loads(raw), self.headers["X-Correlation-Id"])
            if platform.fault == "unavailable":
                answered = 503, {"Retry-After": "1"}, b"{}"
            self._answer(*answered)

        def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            cut_off = platform.fault == "truncated" and status == 201
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("X-Correlation-Id", self.headers["X-Correlation-Id"])
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:-9] if cut_off else body)
            self.close_connection = self.close_connection or cut_off

        def handle(self) -> None:
            try:
                super().handle()
            except (ConnectionError, TimeoutError, ssl.SSLError):
                self.close_connection = True  # the client hung up, as some are meant to

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Say nothing: a test's output is its own."""

    return Handler
