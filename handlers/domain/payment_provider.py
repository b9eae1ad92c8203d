"""A payment provider that honours idempotency keys: one charge per downstream key, whatever gets lost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from handlers.domain.effect import LEASE_MARGIN_MS, Effected
from handlers.domain.errors import (
    Declined,
    EffectFailed,
    EffectUnknown,
    Forbidden,
    LookupImpossible,
    NotCharged,
    RequestInProgress,
)
from handlers.domain.json_text import compact
from handlers.domain.outbound import AnswerLost, DestinationForbidden, NotSent

if TYPE_CHECKING:
    from handlers.domain.caller import OperationSettings
    from handlers.domain.effect import Attempt, Effect
    from handlers.domain.operation import SecretStore
    from handlers.domain.outbound import Answer, Outbound

SECRET: Final = "payments/provider"  # noqa: S105 - the name of one
"""Where a tenant's bearer token for its provider is, if there is one."""

# The large providers keep keys for at least a day (docs.stripe.com/api/idempotent_requests).
_HONOURS_SECONDS: Final = 24 * 60 * 60
# A charge asks a bank, which takes seconds; nobody waits for it longer than this.
_LONGEST_SECONDS: Final = 10.0
# What has to happen afterwards, one write each, must fit in too: a call of AWS takes 7 s at worst
# (handlers.adapters.aws).
_WRITE_SECONDS: Final = 7.5
_SHORTEST_SECONDS: Final = 1.0
# "In use" at the provider: its first request is under way, which takes a moment.
_IN_USE_RETRY_SECONDS: Final = 2

_OK, _REDIRECT, _CLIENT_ERROR, _SERVER_ERROR = 200, 300, 400, 500
_PAYMENT_REQUIRED, _REQUEST_TIMEOUT, _CONFLICT = 402, 408, 409


@dataclass(frozen=True)
class ProviderOptions:
    """A tenant's provider.

    Attributes:
        url: charges are at `<url>/charges`.
        checkpoint: save the charge before the answer is written (one write more): a successor then needs no
            provider.
        lookup: the provider can be asked for the charge of a key, also after it forgot the key.
        honours_seconds: how long it keeps keys.
    """

    url: str
    checkpoint: bool
    lookup: bool
    honours_seconds: int

    @classmethod
    def of(cls, settings: OperationSettings) -> ProviderOptions:
        """Read a tenant's options; raises Forbidden where it has no provider."""
        options = settings.options
        url, honours = options.get("providerUrl"), options.get("honoursSeconds", _HONOURS_SECONDS)
        if not isinstance(url, str) or not url:
            raise Forbidden("payments are not set up for this tenant")
        return cls(
            url=url.rstrip("/"),
            checkpoint=options.get("checkpoint") is True,
            lookup=options.get("lookup", True) is True,
            honours_seconds=honours if isinstance(honours, int) else _HONOURS_SECONDS,
        )


def charging(outbound: Outbound, secrets: SecretStore) -> Effect:
    """The effect that makes one charge for a downstream key, or finds the one that was made."""

    def charge(attempt: Attempt, /) -> Effected:
        saved = _charge_id(_parsed(attempt.checkpoint))
        if saved is not None:
            return _effected(saved)
        options = ProviderOptions.of(attempt.settings)
        call = _Call(outbound, secrets, attempt, options)
        # Beyond what the provider remembers the same key would charge again: the whole of this attempt, until
        # its lease is over, must lie before that.
        remembered_until = attempt.created_at + options.honours_seconds * 1000
        if attempt.resumed and attempt.lease_until + LEASE_MARGIN_MS > remembered_until:
            charge_id = call.look_up()
        else:
            charge_id = call.send()
        if options.checkpoint:
            attempt.save(compact({"id": charge_id, "status": "succeeded"}))
        return _effected(charge_id)

    return charge


@dataclass(frozen=True)
class _Call:
    """The provider, as one attempt talks to it."""

    outbound: Outbound
    secrets: SecretStore
    attempt: Attempt
    options: ProviderOptions

    def send(self) -> str:
        """Charge under the downstream key, and return the charge's id. Raises what `Effect` says."""
        body = self.attempt.body
        wanted = {name: body.get(name) for name in ("amount", "currency", "paymentMethod", "reference")}
        headers = {"Content-Type": "application/json", "Idempotency-Key": self.attempt.downstream_key}
        try:
            answer = self._call("POST", "/charges", headers, compact(wanted).encode())
        except (DestinationForbidden, NotSent) as error:
            raise EffectFailed(f"not charged: {error}") from error
        except AnswerLost as error:
            raise EffectUnknown(f"charged or not: {error}") from error
        return _charged(answer)

    def look_up(self) -> str:
        """The id of the charge that was made under the downstream key. Raises what `Effect` says."""
        if not self.options.lookup:
            raise LookupImpossible("payment provider", "it has no look-up, and may have forgotten the key")
        place = f"/charges?idempotencyKey={quote(self.attempt.downstream_key, safe='')}"
        try:
            answer = self._call("GET", place, {}, b"")
        except (DestinationForbidden, NotSent, AnswerLost) as error:
            raise EffectUnknown(f"not looked up: {error}") from error
        charges = _member(_parsed(answer.body), "charges")
        if not _OK <= answer.status < _REDIRECT or not isinstance(charges, list):
            raise EffectUnknown(f"not looked up: the provider answered {answer.status}")
        found = [charge_id for charge_id in map(_charge_id, charges) if charge_id is not None]
        if not found:
            raise NotCharged("no charge was made for this request, and none will be; pay with a new key")
        return found[0]

    def _call(self, method: str, place: str, headers: dict[str, str], body: bytes) -> Answer:
        token = self.secrets.find(self.attempt.tenant_id, SECRET)
        bearer = {"Authorization": f"Bearer {token[0]}"} if token else {}
        writes = 2 if self.options.checkpoint else 1
        left = min(self.attempt.seconds_left() - writes * _WRITE_SECONDS, _LONGEST_SECONDS)
        if left < _SHORTEST_SECONDS:
            raise NotSent("no time is left to wait for the provider")
        return self.outbound.call(
            method, f"{self.options.url}{place}", headers | bearer, body, timeout_seconds=left
        )


def _charged(answer: Answer) -> str:
    """The charge in the answer to a POST; raises what `Effect` says for any other answer."""
    document = _parsed(answer.body)
    charge_id = _charge_id(document)
    if _OK <= answer.status < _REDIRECT and charge_id is not None:
        return charge_id
    if answer.status == _PAYMENT_REQUIRED:
        raise Declined("the payment provider declined the payment")
    if answer.status == _CONFLICT:
        raise RequestInProgress(_IN_USE_RETRY_SECONDS)
    refused = _CLIENT_ERROR <= answer.status < _SERVER_ERROR and answer.status != _REQUEST_TIMEOUT
    if refused or _member(document, "charged") is False:
        raise EffectFailed(f"not charged: the provider answered {answer.status}")
    raise EffectUnknown(f"charged or not: the provider answered {answer.status}")


def _charge_id(charge: object) -> str | None:
    """The id of a charge that succeeded, else None."""
    charge_id = _member(charge, "id")
    succeeded = _member(charge, "status") == "succeeded"
    return charge_id if succeeded and isinstance(charge_id, str) and charge_id else None


def _member(document: object, name: str) -> object:
    return document.get(name) if isinstance(document, dict) else None


def _parsed(text: str | bytes | None) -> object:
    try:
        return json.loads(text or "null")
    except (ValueError, RecursionError):
        return None


def _effected(charge_id: str) -> Effected:
    return Effected({"status": "succeeded", "chargeId": charge_id})
