"""Everything outside AWS that the platform calls, and the admin's view of it; no sockets here."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import parse_qs

from ops.local.stand_in.answer import Answer, BadRequest, Request, hash_of
from ops.local.stand_in.entities import Entities
from ops.local.stand_in.faults import Fault, Faults
from ops.local.stand_in.provider import Provider

ADMIN = "_stand-in"
"""The first segment of the admin's paths; an underscore is in no host name."""

CALLS_KEPT = 10_000
"""The calls that can be looked at afterwards: more than a storm's payments and webhooks together."""

_CHARGES = "/charges"


class CutConnection(Exception):
    """No answer goes back: the connection ends here; `reset`: with a TCP reset."""

    def __init__(self, *, reset: bool) -> None:
        super().__init__("cut")
        self.reset = reset


@dataclass(frozen=True)
class Call:
    """One call that came in. `status` is None where no answer went back; `authorization` is its SHA-256."""

    method: str
    host: str
    path: str
    key: str | None
    authorization: str | None
    fault: str | None
    status: int | None
    at: float


class World:
    """The payment provider and the CRM behind one door. Safe for threads.

    `pause` waits so many seconds; it may raise CutConnection when the stand-in is being stopped.
    """

    def __init__(self, pause: Callable[[float], object] = time.sleep) -> None:
        self.provider = Provider()
        self.entities = Entities()
        self.faults = Faults()
        self._pause = pause
        self._calls: deque[Call] = deque(maxlen=CALLS_KEPT)
        self._lock = threading.Lock()

    def answer(self, request: Request) -> Answer:
        """What a destination says. Raises CutConnection where a fault says so."""
        fault = self.faults.take(request)
        try:
            answer = self._answer(request, fault)
        except CutConnection:
            self._note(request, fault, None)
            raise
        self._note(request, fault, answer.status)
        return answer

    def admin(self, request: Request) -> Answer:
        """What the admin's paths say: see docs/adr/0088."""
        try:
            return self._admin(request.method, request.target, request)
        except BadRequest as error:
            return Answer(400, {"error": str(error)})

    def saved(self) -> dict[str, Any]:
        """What outlives a restart: charges, keys and entities; no faults, settings or calls."""
        return {"provider": self.provider.saved(), "entities": self.entities.saved()}

    def restore(self, saved: dict[str, Any]) -> None:
        """Take over what `saved` gave."""
        self.provider.restore(saved["provider"])
        self.entities.restore(saved["entities"])

    def _answer(self, request: Request, fault: Fault | None) -> Answer:
        kind = None if fault is None else fault.kind
        if fault is not None and kind == "status":
            return fault.answer()
        if kind == "reset":
            raise CutConnection(reset=True)
        if fault is not None and kind == "hang":
            self._pause(fault.seconds())
            raise CutConnection(reset=False)
        late = fault.seconds() if fault is not None and kind == "latency" else 0.0
        try:
            answer = self._act(request, lambda: self._pause(late) if late else None)
        except BadRequest as error:
            answer = Answer(400, {"error": str(error)})
        if kind == "lose-answer":
            raise CutConnection(reset=False)
        return answer

    def _act(self, request: Request, working: Callable[[], object]) -> Answer:
        if request.path.endswith(_CHARGES) and request.method in ("POST", "GET"):
            account = request.host + request.path.removesuffix(_CHARGES)
            if request.method == "POST":
                return self.provider.charge(account, request, working)
            working()
            return self.provider.found(account, _asked_key(request))
        working()
        if request.method == "PUT":
            return self.entities.put(request)
        if request.method == "POST":
            return self.entities.post(request)
        if request.method == "GET":
            return self.entities.get(request)
        return Answer(405, {"error": "GET, PUT and POST are understood"}, {"Allow": "GET, PUT, POST"})

    def _note(self, request: Request, fault: Fault | None, status: int | None) -> None:
        credential = request.headers.get("authorization")
        call = Call(
            method=request.method,
            host=request.host,
            path=request.target,
            key=request.key,
            authorization=None if credential is None else hash_of(credential),
            fault=None if fault is None else fault.kind,
            status=status,
            at=time.time(),
        )
        with self._lock:
            self._calls.append(call)

    def _admin(self, method: str, target: str, request: Request) -> Answer:
        if method == "GET":
            return self._shown(target)
        if (method, target) == ("PUT", "/faults"):
            self.faults.put(request.document())
            return Answer(200, {"faults": self.faults.documents()})
        if (method, target) == ("PUT", "/settings"):
            return self._set(request.document())
        if (method, target) in (("DELETE", ""), ("DELETE", "/")):
            self._reset()
            return Answer(200, {"reset": True})
        return Answer(404, {"error": f"there is no {method} {target}"})

    def _shown(self, target: str) -> Answer:
        if target in ("", "/", "/health"):
            return Answer(200, {"running": True})
        if target == "/charges":
            charges = self.provider.documents()
            return Answer(200, {"count": len(charges), "charges": charges})
        if target == "/upserts":
            upserts = self.entities.documents()
            writes = sum(each["writes"] for each in upserts)
            return Answer(200, {"entities": len(upserts), "writes": writes, "upserts": upserts})
        if target == "/faults":
            return Answer(200, {"faults": self.faults.documents()})
        if target == "/settings":
            return Answer(200, {"keysForgottenAfterSeconds": self.provider.forgotten_after_seconds})
        if target == "/calls":
            with self._lock:
                return Answer(200, {"calls": [asdict(call) for call in self._calls]})
        return Answer(404, {"error": f"there is no GET {target}"})

    def _set(self, document: Any) -> Answer:  # noqa: ANN401 (any JSON value)
        name = "keysForgottenAfterSeconds"
        seconds = document.get(name) if isinstance(document, dict) and document.keys() == {name} else None
        if not isinstance(seconds, int | float) or isinstance(seconds, bool) or seconds < 0:
            raise BadRequest(f"settings have one member, {name}, a number from 0")
        self.provider.forgotten_after_seconds = float(seconds)
        return self._shown("/settings")

    def _reset(self) -> None:
        self.provider.clear()
        self.entities.clear()
        self.faults.put([])
        with self._lock:
            self._calls.clear()


def _asked_key(request: Request) -> str:
    """The key in the query of a look-up. Raises BadRequest."""
    asked = parse_qs(request.target.partition("?")[2]).get("idempotencyKey", [])
    if len(asked) != 1:
        raise BadRequest("idempotencyKey is missing from the query")
    return asked[0]
