"""A payment provider that honours idempotency keys: one charge per downstream key, whatever gets lost."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from handlers.domain import payment_answers
from handlers.domain.effect import LEASE_MARGIN_MS, Effected, Incident
from handlers.domain.errors import EffectFailed, EffectUnknown, Forbidden, LookupImpossible, NotCharged
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
# The last POST of a window may have left just before the provider forgets its key. A bank's answer takes it a
# minute or two, its own time-outs included, and its list may lag behind by as much: five times that.
SETTLE_MS: Final = 10 * 60 * 1000
# 40 bits of a tenant's settings: enough to see that they are others, and 7 bytes of every receipt.
_PIN_DIGITS: Final = 10


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

    @property
    def pin(self) -> str:
        """What two attempts of one payment must have alike: where a key is known, and for how long."""
        text = compact([self.url, self.honours_seconds])
        return sha256(text.encode()).hexdigest()[:_PIN_DIGITS]


def charging(outbound: Outbound, secrets: SecretStore) -> Effect:
    """The effect that makes one charge for a downstream key, or finds the one that was made."""

    def charge(attempt: Attempt, /) -> Effected:
        saved = payment_answers.charge_id(payment_answers.parsed(attempt.checkpoint))
        if saved is not None:
            return _effected(saved)
        options = ProviderOptions.of(attempt.settings)
        if attempt.resumed and attempt.pinned not in (None, options.pin):
            # Another provider does not know the key: it would charge again, and finds nothing.
            raise LookupImpossible("payment provider", "providerUrl or honoursSeconds was changed in between")
        charge_id = _Call(outbound, secrets, attempt, options).charge_id()
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

    def charge_id(self) -> str:
        """Charge, or find the charge that was made. Raises what `Effect` says."""
        # Beyond what the provider remembers the same key would charge again: the whole of this attempt, until
        # its lease is over, must lie before that.
        if self.attempt.resumed and self.attempt.lease_until + LEASE_MARGIN_MS > self._remembered_until:
            return self._look_up()
        return self._send()

    @property
    def _remembered_until(self) -> int:
        return self.attempt.created_at + self.options.honours_seconds * 1000

    def _send(self) -> str:
        body = self.attempt.body
        wanted = {name: body.get(name) for name in ("amount", "currency", "paymentMethod", "reference")}
        headers = {"Content-Type": "application/json", "Idempotency-Key": self.attempt.downstream_key}
        try:
            answer = self._call("POST", "/charges", headers, compact(wanted).encode())
        except (DestinationForbidden, NotSent) as error:
            raise EffectFailed(f"not charged: {error}", may_pass=isinstance(error, NotSent)) from error
        except AnswerLost as error:
            raise EffectUnknown(f"charged or not: {error}") from error
        return payment_answers.charged(answer)

    def _look_up(self) -> str:
        if not self.options.lookup:
            raise LookupImpossible("payment provider", "it has no look-up, and may have forgotten the key")
        place = f"/charges?idempotencyKey={quote(self.attempt.downstream_key, safe='')}"
        try:
            answer = self._call("GET", place, {}, b"")
        except (DestinationForbidden, NotSent, AnswerLost) as error:
            raise EffectUnknown(f"not looked up: {error}") from error
        body = self.attempt.body
        expected = payment_answers.Expected(
            self.attempt.downstream_key, body.get("amount"), body.get("currency")
        )
        found = payment_answers.looked_up(answer, expected)
        if found is None:
            raise self._not_charged()
        if found.count > 1:
            self.attempt.tell(Incident.SEVERAL_CHARGES)
        return found.charge_id

    def _not_charged(self) -> NotCharged | EffectUnknown:
        """Final, but only once no POST of an earlier attempt can still be worked on."""
        if self.attempt.clock_ms() < self._remembered_until + SETTLE_MS:
            return EffectUnknown("no charge yet: an earlier request may still be under way at the provider")
        return NotCharged("no charge was made for this request, and none will be; pay with a new key")

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


def _effected(charge_id: str) -> Effected:
    return Effected({"status": "succeeded", "chargeId": charge_id})
