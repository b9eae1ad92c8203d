"""The fake platform's HTTP: its API, and the one call of AWS that the storm makes before it sends."""

from __future__ import annotations

import base64
import json
import ssl
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from loadtest import bodies
from loadtest.history import hash_of
from loadtest.operations import APPOINTMENTS, BY_NAME, WEBHOOKS
from loadtest.signing import sign

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.unit.storm.contract import Answered
    from tests.unit.storm.fake_platform import FakePlatform

TENANTS = ("storm-a", "storm-b", "storm-c")
SECRET = "whsec_" + base64.b64encode(b"of every source of the fake platform").decode()


def key_of(tenant: str) -> str:
    return f"secret-of-{tenant}"


_TENANT_OF = {key_of(tenant): tenant for tenant in TENANTS}


def handler_of(platform: FakePlatform) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # A small answer must not wait for the client's delayed acknowledgement.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            tenant = _TENANT_OF[self.headers["x-api-key"]]
            self._answer(*platform.read(tenant, self.path.rpartition("/")[2]))

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("X-Amz-Target") == "AmazonSSM.GetParameter":
                self._answer(200, {}, json.dumps({"Parameter": {"Value": SECRET}}).encode())
                return
            self._answer(
                *_posted(
                    platform, self.path, {name.lower(): value for name, value in self.headers.items()}, raw
                )
            )

        def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            cut_off = platform.fault == "truncated" and status == 201
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("X-Correlation-Id", self.headers.get("X-Correlation-Id", ""))
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


def _posted(platform: FakePlatform, path: str, headers: Mapping[str, str], raw: bytes) -> Answered:
    name, *place = path.removeprefix("/v1/").split("/")
    body = json.loads(raw)
    if place:
        _check_signature(headers, place[1], raw)
    answered = platform.accept(
        BY_NAME[name],
        place[0] if place else _TENANT_OF[headers["x-api-key"]],
        headers.get("idempotency-key") or _derived_key(name, body, *place),
        body,
        headers["x-correlation-id"],
        place[1] if place else None,
    )
    return (503, {"Retry-After": "1"}, b"{}") if platform.fault == "unavailable" else answered


def _check_signature(headers: Mapping[str, str], source: str, raw: bytes) -> None:
    """Signatures have tests of their own; here those of the right source over the very body suffice."""
    at = headers.get("webhook-timestamp") or headers["stripe-signature"].split(",")[0].removeprefix("t=")
    signed = sign(source, SECRET, json.loads(raw)["id"], raw, int(at))
    assert all(headers[name.lower()] == value for name, value in signed.items())


def _derived_key(name: str, body: dict[str, Any], *place: str) -> str:
    if name == WEBHOOKS.name:
        return f" webhooks:{place[1]}:{body['id']}"
    if name == APPOINTMENTS.name:
        return f" appointments:fields:{hash_of([body[n] for n in ('doctorId', 'patientId', 'startsAt')])}"
    return bodies.derived_key(hash_of(body) or "")
