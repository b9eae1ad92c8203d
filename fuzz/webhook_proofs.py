"""Webhooks: who proves itself is believed, and nobody else is, whichever byte was changed."""

from __future__ import annotations

import base64
import hmac
import itertools
import json
from typing import TYPE_CHECKING, Any, Final

from fuzz import http_events
from fuzz.choices import split
from fuzz.http_answers import check_answer
from fuzz.http_handlers import check_deliverable
from fuzz.json_bodies import BODIES
from fuzz.quiet import logger, quietly
from fuzz.target import Target, require
from handlers.domain import tenant_config
from handlers.domain.webhook_proof import Proof, Sent, Unproven, verify
from handlers.settings import WebhooksSettings
from handlers.webhooks import Dependencies, receive
from tests.builders import NOW_MS
from tests.fakes.receipts import InMemoryReceipts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from handlers.domain.webhook_proof import Scheme

NOW: Final = NOW_MS // 1000
_KEY: Final = b"a key of thirty-two random bytes"
SECRET: Final[Mapping[Scheme, str]] = {
    "bearer": "t0ken",
    "basic": "user:pass",
    "header": "t0ken",
    "standard-webhooks": "whsec_" + base64.b64encode(_KEY).decode(),
    "github": "sécret",
    "stripe": "whsec_x",
    "shopify": "shpss_x",
}
SCHEMES: Final[tuple[Scheme, ...]] = tuple(SECRET)
# Those that sign the body; of the others anybody who knows the secret may send anything.
SIGNED: Final = frozenset({"standard-webhooks", "github", "stripe", "shopify"})
_LOG: Final = logger("webhooks")


def right(scheme: Scheme, body: bytes) -> dict[str, list[str]]:
    """The headers of a sender that knows the secret, made here from the schemes' own descriptions."""
    secret = SECRET[scheme].encode()
    if scheme == "bearer":
        return {"authorization": [f"Bearer {SECRET[scheme]}"]}
    if scheme == "basic":
        return {"authorization": ["Basic " + base64.b64encode(secret).decode()]}
    if scheme == "header":
        return {"x-token": [SECRET[scheme]]}
    if scheme == "github":
        return {"x-hub-signature-256": ["sha256=" + hmac.new(secret, body, "sha256").hexdigest()]}
    if scheme == "shopify":
        return {"x-shopify-hmac-sha256": [base64.b64encode(hmac.digest(secret, body, "sha256")).decode()]}
    if scheme == "stripe":
        mac = hmac.new(secret, f"{NOW}.".encode() + body, "sha256").hexdigest()
        return {"stripe-signature": [f"t={NOW},v1={mac}"]}
    mac = base64.b64encode(hmac.digest(_KEY, f"evt_1.{NOW}.".encode() + body, "sha256")).decode()
    return {
        "webhook-id": ["evt_1"],
        "webhook-timestamp": [str(NOW)],
        "webhook-signature": [f"v1,{mac}"],
    }


def believed(scheme: Scheme, headers: Mapping[str, Sequence[str]], body: bytes) -> bool:
    """Whether the sender is believed."""
    proof = Proof(scheme, "x-token" if scheme == "header" else None, 300)
    try:
        verify(proof, [SECRET[scheme]], Sent(headers, body, NOW))
    except Unproven:
        return False
    return True


def must_be_refused(scheme: Scheme, headers: Mapping[str, Sequence[str]], body: bytes) -> bool:
    """Whether no right proof of this body is in the headers, so that believing them would be a hole."""
    proof = right(scheme, body)
    if scheme in SIGNED:
        name = next(each for each in proof if "signature" in each or "hmac" in each)
        digest = proof[name][0].rpartition("v1=" if scheme == "stripe" else ",")[2]
        return digest not in "\n".join(headers.get(name, ()))
    return SECRET[scheme] not in _shown(scheme, headers)


def _shown(scheme: Scheme, headers: Mapping[str, Sequence[str]]) -> str:
    name = "x-token" if scheme == "header" else "authorization"
    values = "\n".join(headers.get(name, ()))
    if scheme != "basic":
        return values
    try:
        return base64.b64decode(values.partition(" ")[2].strip(" \t")).decode()
    except ValueError:
        return ""


def check_changed(scheme: Scheme, body: bytes, at: int, letter: str, *, in_body: bool) -> None:
    """A right proof passes; with one byte of the body, or of the proof, changed it does not."""
    headers = right(scheme, body)
    require(believed(scheme, headers, body), f"{scheme}: a right proof was refused")
    require(not believed(scheme, {}, body), f"{scheme}: no proof was believed")
    if in_body:
        changed = bytearray(body or b"\x00")
        changed[at % len(changed)] ^= ord(letter) % 255 + 1
        require(
            not (scheme in SIGNED and believed(scheme, headers, bytes(changed))), f"{scheme}: another body"
        )
        return
    for name, (value,) in headers.items():
        place = at % len(value)
        if value[place] == letter:
            continue
        sent = headers | {name: [value[:place] + letter + value[place + 1 :]]}
        # Its blanks and its scheme's name can be spelled otherwise; the proof itself cannot.
        if believed(scheme, sent, body):
            require(not must_be_refused(scheme, sent, body), f"{scheme}: a changed proof was believed")
            require(name not in ("webhook-id", "webhook-timestamp"), f"{scheme}: what is signed was changed")


def check_any(scheme: Scheme, headers: Mapping[str, Sequence[str]], body: bytes) -> None:
    """Any headers: believed or not, never an error; believed only with a right proof among them."""
    if believed(scheme, headers, body):
        require(not must_be_refused(scheme, headers, body), f"{scheme}: a wrong proof was believed")


class _Tenants:
    """One tenant with a source of each scheme."""

    reads = 0
    _config = tenant_config.from_item(
        {
            "tenantId": {"S": "acme"},
            "status": {"S": "active"},
            "webhooks": {
                "S": json.dumps(
                    {
                        scheme: {
                            "proof": {"scheme": scheme, "header": "x-token", "toleranceSeconds": 300},
                            "identity": identity,
                            "windowSeconds": 60,
                            "bodyLimitBytes": 2048,
                            "destination": None,
                        }
                        for scheme, identity in zip(
                            SCHEMES,
                            itertools.cycle(
                                (
                                    {"path": "id", "header": None, "template": None},
                                    {"path": None, "header": "webhook-id", "template": None},
                                    {"path": "id", "header": None, "template": "{id}:{data.name}"},
                                )
                            ),
                            strict=False,
                        )
                    }
                )
            },
        }
    )

    def find(self, tenant_id: str, name: str = "") -> Any:  # noqa: ANN401 - both ports in one
        """See `TenantConfigs.find` and `SecretStore.find`."""
        if not name:
            return self._config if tenant_id == "acme" else None
        return (SECRET[name.partition("/")[2]],)  # type: ignore[index] # a source's name is a scheme's


def check_receiver(event: dict[str, Any], *, proved: bool | None = None) -> dict[str, Any]:
    """Twice the same event to `webhooks`; `proved`: whether it may be let in, None when that is not known."""
    store, numbers = InMemoryReceipts(), itertools.count()
    tenants = _Tenants()
    dependencies = Dependencies(
        settings=WebhooksSettings("local", "receipts", "tenants", "/onceward/local/"),
        store=store,
        tenants=tenants,
        secrets=tenants,
        logger=_LOG,
        clock_ms=lambda: NOW_MS,
        randomness=lambda: f"random-{next(numbers)}",
    )
    with quietly():
        first, again = (receive(event, dependencies) for _ in range(2))
    check_answer(first)
    if proved is False:
        require(first["statusCode"] == 401 and not store.items, "let in without a proof")
    kept = list(store.items.values())
    taken = first["statusCode"] == 202
    require(len(kept) == taken, "an event was taken in by halves")
    require(again["statusCode"] == (200 if taken else first["statusCode"]), "another answer the second time")
    for each in kept:
        check_deliverable(each)
    return first


def _check_proof(data: bytes) -> None:
    choices, body = split(data)
    scheme = choices.pick(SCHEMES)
    at, letter = choices.number(65536), choices.pick("0aZ=, \té\ud800\x00v")
    check_changed(scheme, body, at, letter, in_body=choices.flag())
    headers: dict[str, Sequence[str]] = dict(right(scheme, body)) if choices.flag() else {}
    for name in (*right(scheme, body), "authorization"):
        if choices.flag():
            headers[name] = [choices.text() for _ in range(choices.number(3))]
    check_any(scheme, headers, body)


def _check_receiver(data: bytes) -> None:
    choices, body = split(data)
    source = choices.pick(SCHEMES)
    proof = {} if choices.flag() else right(source, body)
    tenant = "acme" if not choices.flag() else choices.text()
    name: str = source if not choices.flag() else choices.text()
    check_receiver(http_events.webhook(choices, tenant, name, body, proof), proved=None if proof else False)


def _seeds() -> list[bytes]:
    body = json.dumps(BODIES["webhooks"]).encode()
    return [bytes([index]) + more + b"\n" + body for more in (b"", b"\x03") for index in range(len(SCHEMES))]


PROOF = Target("proofs", _check_proof, _seeds)
RECEIVER = Target("webhooks", _check_receiver, _seeds)
