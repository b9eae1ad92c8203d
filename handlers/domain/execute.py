"""Execute mode: claim with a lease, effect, and a complete that the claim fences (DESIGN section 7)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from handlers.domain import acquire, documents, ids
from handlers.domain.accept import Accepted, Replayed
from handlers.domain.effect import Attempt
from handlers.domain.errors import FinalRefusal, LeaseLost, OncewardError, RequestInProgress, Unavailable
from handlers.domain.ports import Done, Gone
from handlers.domain.protocol import Lapsed, Replay, Won, decide
from handlers.domain.receipt import Receipt, Status, StoredResponse, purge_at
from handlers.domain.refusals import claim_of, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from handlers.domain.acquire import Acquired
    from handlers.domain.caller import OperationSettings
    from handlers.domain.effect import Effect
    from handlers.domain.operation import Document, ExecuteOperation
    from handlers.domain.ports import Held, OwnersOutcome, ReceiptStore
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
        lease_lost: told when this attempt wanted to write, and its claim was another's by then.
    """

    store: ReceiptStore
    clock_ms: Callable[[], int]
    lease_until: int
    refused: Callable[[FinalRefusal], StoredResponse]
    lease_lost: Callable[[], None]


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
        EffectFailed, EffectUnknown: see `Effect`; the claim is released.
        Unavailable, Refused: the store or a destination cannot say.
    """
    probe = documents.Ids.of(request.tenant_id, request.identity.key, request.generation, request.arrival_ms)
    documents.check_event_size(documents.document(operation, request, probe, {}), DERIVED_BYTES)
    acquired = acquire.acquire(
        runtime.store, claim_of(operation.name, request), settings, request, runtime.lease_until
    )
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
        except BaseException as error:
            if self.lost is not None and isinstance(error, LeaseLost):
                return self._overtaken(self.lost)
            self._release()
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
            return self._overtaken(outcome)
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
            save=self._save,
        )

    def _save(self, text: str) -> None:
        self.may_release = False
        outcome: OwnersOutcome = self.runtime.store.checkpoint(self.acquired.receipt, text)
        self.may_release = True
        if not isinstance(outcome, Done):
            self.lost = outcome
            raise LeaseLost("the claim was taken over")

    def _release(self) -> None:
        if self.may_release:
            # What went wrong before is what has to be said; a claim that is not released lapses.
            with suppress(OncewardError):
                if not isinstance(self.runtime.store.release(self.acquired.receipt), Done):
                    self.runtime.lease_lost()

    def _overtaken(self, found: Held | Gone) -> Replayed:
        """Never the own, unstored result: what is stored is the truth. Raises where that is no answer."""
        self.runtime.lease_lost()
        if isinstance(found, Gone):
            raise Unavailable("receipts", "the claim was evicted while its request ran")
        claim = replace(claim_of(self.operation.name, self.request), clock_ms=self.runtime.clock_ms())
        decision = decide(found.existing, claim)
        if isinstance(decision, Replay):
            return Replayed(decision.receipt, decision.response)
        if isinstance(decision, Won | Lapsed):
            # Its successor's lease is over too, and a retry takes over at once. (Own and in progress is what
            # the write's condition asks for, so that no refusal can bring it back.)
            raise RequestInProgress(1)
        raise refusal(decision, found.existing, self.request.identity)
