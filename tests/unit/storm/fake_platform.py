"""A small platform on loopback that the storm can be aimed at, with faults to be switched on.

It stands in for a deployed stage in tests of the storm and its checker only; the platform itself is tested
on the local AWS (tests/e2e).
"""

from __future__ import annotations

import json
import ssl
import threading
import time
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from loadtest import bodies
from loadtest.history import hash_of
from loadtest.operations import APPOINTMENTS, BY_NAME, PAYMENTS
from loadtest.outside import Charge, Entity, Outside
from loadtest.signing import SOURCES
from tests.unit.storm import contract
from tests.unit.storm.fake_http import SECRET, TENANTS, handler_of, key_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from loadtest.operations import Operation
    from tests.unit.storm.contract import Answered

__all__ = ["SECRET", "TENANTS", "FakePlatform", "key_of", "serve"]

# Long enough that duplicates of a burst meet a request that still runs.
_EFFECT_SECONDS = 0.2


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
    charges: list[Charge] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)
    slots: set[str] = field(default_factory=set)
    reads: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def outputs(self) -> dict[str, Any]:
        return {
            **({} if self.url.startswith("https:") else self._aws()),
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

    def _aws(self) -> dict[str, str]:
        """Its own AWS, for the one call that the storm makes before it sends; a deployed stage has none."""
        return {"endpointUrl": self.url, "accessKeyId": "nobody", "secretAccessKey": "nothing"}

    def write_outputs(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        (home / "local.json").write_text(json.dumps(self.outputs()))

    def accept(
        self,
        operation: Operation,
        tenant: str,
        stored_key: str,
        body: dict[str, Any],
        correlation_id: str,
        source: str | None = None,
    ) -> Answered:
        """Answer a request; in execute mode its effect runs while others may come."""
        body_hash, pk = hash_of(body) or "", f"{tenant}#{stored_key}"
        with self.lock:
            known = self.receipts.get(pk)
            if known and self.fault != "unconditional-put":
                return self._again(operation, known, body_hash)
            ids = (uuid.uuid4().hex, uuid.uuid4().hex)
            claim = {"pk": pk, "tenantId": tenant, "operation": operation.name, "fingerprint": body_hash}
            self.receipts[pk] = {**claim, "status": "IN_PROGRESS", "correlationId": correlation_id}
            if not operation.may_run:
                return self._complete(operation, self.receipts[pk], ids, body, source)
        time.sleep(_EFFECT_SECONDS)
        with self.lock:
            return self._complete(operation, self.receipts[pk], ids, body, source)

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
        read = contract.as_read(BY_NAME[record["operation"]], record["document"])
        return 200, {"Content-Type": "application/json"}, read.encode()

    def _again(self, operation: Operation, known: dict[str, Any], body_hash: str) -> Answered:
        if operation.one_body and known["fingerprint"] != body_hash:
            return 422, contract.PROBLEM, b'{"title":"key reused"}'
        if known["status"] == "IN_PROGRESS":
            return contract.in_progress()
        first = known["response"]
        status, headers, body = contract.again(
            operation, (first["status"], first["headers"], first["body"].encode())
        )
        if self.fault == "changed-byte":
            body = body.replace(b"id", b"Id", 1)
        return status, headers, body

    def _complete(
        self,
        operation: Operation,
        receipt: dict[str, Any],
        ids: tuple[str, str],
        body: dict[str, Any],
        source: str | None,
    ) -> Answered:
        final = self._refused(operation, receipt["tenantId"], ids[0], body)
        status, headers, text = (
            contract.final_refusal(final, receipt["correlationId"])
            if final
            else contract.first_answer(operation, ids[0], body)
        )
        receipt |= {
            "status": "COMPLETED",
            "response": {"status": status, "headers": headers, "body": text.decode()},
        }
        if not final:
            self._follow(operation, receipt, ids, contract.document(operation, ids[0], body, source))
        return status, headers, text

    def _refused(self, operation: Operation, tenant: str, record_id: str, body: dict[str, Any]) -> int | None:
        """The effect of execute mode: a charge or a slot; the status of its refusal, or None."""
        if operation is PAYMENTS:
            if body["paymentMethod"] == "pm_declined":
                return 402
            charged = (contract.charge_id(record_id), body["amount"], body["currency"], body["reference"])
            identity, amount, currency, reference = charged
            account = f"pay.{tenant}"
            for number in range(2 if self.fault == "outside" else 1):
                charge = Charge(f"{identity}{'x' * number}", account, identity, amount, currency, reference)
                self.charges.append(charge)
        if operation is APPOINTMENTS:
            slot = f"{tenant} {bodies.slot_of(body)}"
            if slot in self.slots and self.fault != "outside":
                return 409
            self.slots.add(slot)
        return None

    def _follow(
        self, operation: Operation, receipt: dict[str, Any], ids: tuple[str, str], document: str
    ) -> None:
        outbox = {"type": operation.event_type, "recordId": ids[0], "document": document}
        receipt |= {"outboxId": ids[1], "outbox": outbox}
        unlucky = int(sha256(receipt["pk"].encode()).hexdigest(), 16) % 5 == 0
        if self.fault == "dropped-dispatch" and unlucky:
            return
        self._dispatch(operation, receipt["tenantId"], receipt)
        if operation.done is not None and not (self.fault == "outside" and unlucky):
            place = f"crm.{receipt['tenantId']}/{json.loads(document).get('eventId', ids[0])}"
            self.entities.append(Entity(place, ids[0], hash_of(json.loads(document))))

    def outside(self) -> Outside:
        """What reached provider and CRM."""
        sources = ("orders", *(f"webhooks/{source}" for source in SOURCES))
        destinations = {
            (tenant, what): f"https://crm.{tenant}/{{id}}" for tenant in TENANTS for what in sources
        }
        destinations |= {(tenant, "payments"): f"https://pay.{tenant}" for tenant in TENANTS}
        return Outside(tuple(self.charges), tuple(self.entities), destinations)

    def _dispatch(self, operation: Operation, tenant: str, receipt: dict[str, Any]) -> None:
        event_id, record_id = receipt["outboxId"], receipt["outbox"]["recordId"]
        document = receipt["outbox"]["document"]
        pk = f"{tenant}#{record_id}"
        self.records[pk] = {
            "pk": pk,
            "tenantId": tenant,
            "recordId": record_id,
            "eventId": event_id,
            "document": document,
            "operation": operation.name,
            **({"status": operation.done} if operation.done else {}),
        }
        event = {
            "specversion": "1.0",
            "id": event_id,
            "source": f"/onceward/local/{tenant}",
            "type": operation.event_type,
            "subject": record_id,
            "time": contract.CREATED_AT,
            "correlationid": receipt["correlationId"],
            "data": json.loads(contract.as_announced(operation, document)),
        }
        attributes = {"tenantId": tenant, "type": operation.event_type, "eventId": event_id}
        self.events.append((tenant, json.dumps(event), attributes))


@contextmanager
def serve(fault: str | None = None, certificate: Path | None = None) -> Iterator[FakePlatform]:
    """Run a fake platform on a free loopback port; over TLS if `certificate` (PEM, with its key) is given."""
    platform = FakePlatform(fault)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(platform))
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
