"""Execute mode: claim with a lease, effect, and a complete that the claim fences (DESIGN section 7)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from handlers.domain import acquire, documents, ids, lost_lease
from handlers.domain.accept import Accepted, Replayed
from handlers.domain.effect import Attempt, Incident
from handlers.domain.errors import (
    EffectFailed,
    EffectUnknown,
    FinalRefusal,
    LeaseLost,
    OncewardError,
)
from handlers.domain.ports import Done, Gone, Held
from handlers.domain.receipt import Receipt, Status, StoredResponse, purge_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from handlers.domain.acquire import Acquired
    from handlers.domain.caller import OperationSettings
    from handlers.domain.effect import Effect
    from handlers.domain.operation import Document, ExecuteOperation
    from handlers.domain.ports import OwnersOutcome, ReceiptStore
    from handlers.domain.request import Request

# What an effect may add to a document (a charge's id, a status) is known only after it ran, when no request
# can be refused for its size any more: so much is kept free for it.
DERIVED_BYTES = 4 * 1024


@dataclass(frozen=True)
class Executed(Accepted):
    """This request ran the effect, or got its final refusal (then the receipt has no outbox).

    Attributes:
        taken_over: it resumed an earlier attempt's claim.
    """

    taken_over: bool


Outcome: TypeAlias = Executed | Replayed


@dataclass(frozen=True)
class Runtime:
    """What execute mode needs beside the request.

    Attributes:
        clock_ms: the worker's clock.
        lease_until: ms since the epoch: until when this invocation may run, and a margin for skew.
        refused: the answer that a final refusal is stored as (only `handlers.http` knows how it looks).
        tell: hears of what happened beside the answer.
    """

    store: ReceiptStore
    clock_ms: Callable[[], int]
    lease_until: int
    refused: Callable[[FinalRefusal], StoredResponse]
    tell: Callable[[Incident], None]


def execute(
    operation: ExecuteOperation,
    effect: Effect,
    settings: OperationSettings,
    request: Request,
    runtime: Runtime,
) -> Outcome:
    """Let the effect happen once, and answer.

    Raises:
        BodyTooLarge: the event would be over MAX_EVENT_BYTES; nothing is written.
        KeyReused: the key is in use for another operation or body; it names the members that differ.
        RequestInProgress: the first request still runs, or the destination says that its key is in use.
        EffectFailed: it certainly did not happen, by any attempt of this window; the claim is released.
        EffectUnknown: nobody can say; the claim is released.
        Unavailable, Refused: the store or a destination cannot say.
    """
    probe = documents.Ids.of(request.tenant_id, request.identity.key, request.generation, request.arrival_ms)
    documents.check_event_size(documents.document(operation, request, probe, {}), DERIVED_BYTES)
    window_ms = settings.window_seconds * 1000
    wanted = acquire.Wanted(operation.name, window_ms, runtime.lease_until, operation.pin(settings))
    acquired = acquire.acquire(runtime.store, wanted, request)
    if isinstance(acquired, Replayed):
        return acquired
    try:
        return _Run(operation, effect, settings, request, runtime, acquired).outcome()
    except OncewardError as error:
        error.record_id = ids.record_id_of(acquired.receipt)
        raise


@dataclass
class _Run:
    """One owner's run, from the claim to the fenced complete."""

    operation: ExecuteOperation
    effect: Effect
    settings: OperationSettings
    request: Request
    runtime: Runtime
    acquired: Acquired
    # After a checkpoint that may or may not have been written the claim has to lapse by itself.
    may_release: bool = True
    lost: Held | Gone | None = None

    def outcome(self) -> Outcome:
        owned = self.acquired.receipt
        made = documents.Ids.of(owned.tenant_id, owned.key, owned.generation, owned.created_at)
        try:
            result = self._result(made)
        except EffectFailed as failed:
            return self._failed(failed)
        except BaseException as error:
            if self.lost is not None and isinstance(error, LeaseLost):
                # What is worth a checkpoint has happened.
                return self._overtaken(self.lost, done=True)
            if isinstance(self._release(), Held | Gone):
                self.runtime.tell(Incident.LEASE_LOST)
            raise
        return self._complete(*result)

    def _result(self, made: documents.Ids) -> tuple[StoredResponse, Receipt]:
        """The answer, and the receipt that holds it. From a final refusal, an answer too, nothing follows."""
        try:
            derived = self.effect(self._attempt(made.record_id)).derived
        except FinalRefusal as refused:
            response = self.runtime.refused(refused)
            return response, replace(self.acquired.receipt, response=response, outbox=None)
        return self._succeeded(made, derived)

    def _succeeded(self, made: documents.Ids, derived: Document) -> tuple[StoredResponse, Receipt]:
        text, response = documents.after_the_effect(self.operation, self.request, made, derived)
        outbox = documents.outbox(self.operation, made, text)
        stored = documents.storable(response, text)
        return response, replace(self.acquired.receipt, response=stored, outbox=outbox)

    def _complete(self, response: StoredResponse, answered: Receipt) -> Outcome:
        expires_at = answered.created_at + self.settings.window_seconds * 1000
        if self.acquired.taken_over:
            # Its window may have been over long ago: the duplicates of its retry must still meet this answer.
            expires_at = max(expires_at, answered.lease_until)
        completed = replace(
            answered,
            status=Status.COMPLETED,
            lease_until=0,
            expires_at=expires_at,
            purge_at=purge_at(self.runtime.clock_ms(), expires_at),
            checkpoint=None,
        )
        # Its failure is raised and releases nothing: whether it was written is unknown, and the claim lapses.
        outcome = self.runtime.store.complete(completed)
        if not isinstance(outcome, Done):
            return self._overtaken(outcome, done=completed.outbox is not None)
        dropped = completed.response != response
        return Executed(completed, response, self.acquired.abandoned, dropped, self.acquired.taken_over)

    def _attempt(self, record_id: str) -> Attempt:
        owned = self.acquired.receipt
        return Attempt(
            tenant_id=owned.tenant_id,
            record_id=record_id,
            downstream_key=ids.downstream_key(owned.tenant_id, owned.key, owned.generation),
            generation=owned.generation,
            body=self.request.body,
            settings=self.settings,
            created_at=owned.created_at,
            clock_ms=self.runtime.clock_ms,
            lease_until=owned.lease_until,
            resumed=self.acquired.taken_over,
            checkpoint=owned.checkpoint,
            pinned=owned.pinned,
            save=self._save,
            tell=self.runtime.tell,
        )

    def _save(self, text: str) -> None:
        self.may_release = False
        outcome: OwnersOutcome = self.runtime.store.checkpoint(self.acquired.receipt, text)
        self.may_release = True
        if not isinstance(outcome, Done):
            self.lost = outcome
            raise LeaseLost("the claim was taken over")

    def _failed(self, failed: EffectFailed) -> Replayed:
        """Raise it where it is true of every attempt of this window, else say what is known."""
        released = self._release()
        if released is None:
            # Perhaps not ours any more: a successor may have done it.
            raise EffectUnknown(f"not released, and this attempt failed: {failed}") from failed
        if not isinstance(released, Done):
            return self._overtaken(released, done=False)
        if self.acquired.taken_over and not failed.of_the_key:
            raise EffectUnknown(f"an earlier attempt may have done it, this one failed: {failed}") from failed
        raise failed

    def _release(self) -> OwnersOutcome | None:
        """What became of the release; None when nobody knows, or when it must not be tried."""
        if not self.may_release:
            return None
        # What went wrong before is what has to be said; a claim that is not released lapses.
        with suppress(OncewardError):
            return self.runtime.store.release(self.acquired.receipt)
        return None

    def _overtaken(self, found: Held | Gone, *, done: bool) -> Replayed:
        """What is stored. `done`: this attempt knows that the effect happened."""
        owned = self.acquired.receipt
        self.runtime.tell(Incident.LEASE_LOST)
        if done and not lost_lease.is_told(found, owned):
            self.runtime.tell(Incident.EFFECT_ORPHANED)
        return lost_lease.answer(found, self.operation.name, self.request, self.runtime.clock_ms())
