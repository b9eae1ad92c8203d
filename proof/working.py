"""Scenarios of queued work: the real `fulfil` and `deliver`, and the reconciler that finds what got lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from handlers import deliver, fulfil, reconcile
from handlers.adapters import work_batch
from handlers.adapters.delivery import Destinations
from handlers.domain.destination import addressee_of_order, addressee_of_webhook
from handlers.domain.outbox import Delivery
from handlers.domain.pending import Page
from handlers.domain.tenant_config import Destination as Address
from handlers.domain.tenant_config import IdentityConfig, SourceConfig, TenantConfig
from handlers.domain.webhook_proof import Proof
from handlers.domain.work import ORDERS, WEBHOOKS, pending_shard
from handlers.domain.work_item import WorkItem
from handlers.domain.work_message import WorkMessage
from handlers.settings import ReconcileSettings
from proof.destinations import AskingBus, AskingDestination, Bus, Destination
from proof.dispatching import STAGE
from proof.queues import AskingWorkQueues
from proof.records import AskingRecords, Kept
from proof.requests import NoSecrets, silent
from proof.scenario import Actor, Scenario
from proof.wording import count
from proof.work_queue import WORKER_LIVES_MS, AskingPauses, WorkQueue
from proof.work_rules import RECONCILER_LIVES_MS, WorkingRecords, WorkRules, due_at
from tests.builders import NOW_MS
from tests.fakes.work import Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from handlers.domain.work import Work
    from proof.ports import Port
    from proof.programs import Life
    from proof.scenario import Seen
    from proof.work_queue import Message, Queue

# As infra.settings has it: more than any search can use up.
_MAX_RECEIVES: Final = 12

_ADDRESS: Final = Address("https://erp.example/{id}", "PUT")
# Who sends it was proved when it was accepted.
_PROOF: Final = Proof("bearer", None, 0)
_ORDER: Final = Delivery("acme", "orders", "E1", "order.completed", "R1", '{"id":"R1"}', "c1", NOW_MS)
_EVENT: Final = Delivery(
    "acme",
    "webhooks",
    "E1",
    "webhook.received",
    "R1",
    '{"id":"R1","source":"shop","eventId":"e"}',
    "c1",
    NOW_MS,
)


@dataclass(frozen=True)
class _Tenants:
    """The registry: one tenant, whose orders and events go to one place."""

    reads: int = 0

    def find(self, tenant_id: str) -> TenantConfig | None:
        """See `TenantConfigs`."""
        identity = IdentityConfig(None, "X-Event-Id", None)
        source = SourceConfig(_PROOF, identity, 1, 1, _ADDRESS)
        return TenantConfig(tenant_id, "active", {"shop": source}, _ADDRESS)


@dataclass(frozen=True)
class Pending:
    """A piece of work that is pending since a moment ago.

    Attributes:
        kind: an order's, or a webhook's.
        messages: how many wait in the beginning: `dispatch` may have sent more than one.
        recorded: False: the record that they name is not there.
        max_receives: after so many receives a message is a dead letter.
    """

    kind: Work = ORDERS
    messages: int = 1
    recorded: bool = True
    max_receives: int = _MAX_RECEIVES

    @property
    def delivery(self) -> Delivery:
        """What was accepted."""
        return _ORDER if self.kind is ORDERS else _EVENT

    def ports(self, skew_ms: int) -> tuple[Port, ...]:
        """What workers and reconcilers call."""
        stored = Stored(WorkItem(self.delivery, self.kind.waiting, 0, None, 0), NOW_MS, NOW_MS)
        kept = Kept(working=((("acme", "R1"), stored),) if self.recorded else ())
        queue = WorkQueue([WorkMessage.of(self.delivery)] * self.messages, NOW_MS, self.max_receives)
        return WorkingRecords(kept, skew_ms), queue, Destination(), *([Bus()] if self.kind.announces else [])

    def __str__(self) -> str:
        """Such as ``work of an order, 2 messages``."""
        parts = [
            f"work of {'an order' if self.kind is ORDERS else 'a webhook'}",
            f"{self.messages} messages" * (self.messages > 1),
            "no record" * (not self.recorded),
            f"given up after {self.max_receives}" * (self.max_receives != _MAX_RECEIVES),
        ]
        return ", ".join(part for part in parts if part)


def work(
    workers: int,
    faults: int,
    pending: Pending = Pending(),
    *,
    reconcilers: int = 0,
    skews_ms: Sequence[int] = (),
) -> Scenario:
    """`workers` invocations, and `reconcilers` runs once it is pending too long.

    The first workers' clocks are off by `skews_ms`.
    """
    skews = (*skews_ms, *[0] * workers)
    serve = _worker(pending)
    attempts = [
        Actor(name, f"worker {skew}", serve, skew, WORKER_LIVES_MS, takes=True)
        for name, skew in zip("ABCDEF"[:workers], skews, strict=False)
    ]
    runs = [
        Actor(name, "reconciler", _reconciled, lives_ms=RECONCILER_LIVES_MS, takes=True)
        for name in "RST"[:reconcilers]
    ]
    drains = _drains(serve)
    said = [
        str(pending),
        count(reconcilers, "reconciler") * (reconcilers > 0),
        f"clocks off by {list(skews_ms)} ms" * bool(skews_ms),
    ]
    what = ", ".join(part for part in said if part)
    return Scenario(
        name=f"{what}: {count(workers, 'attempt')}, up to {count(faults, 'fault')}",
        actors=(*attempts, *runs),
        ports=pending.ports(max(map(abs, skews), default=0)),
        rules=WorkRules(tuple(one.name for one in drains)),
        begins_ms=NOW_MS,
        faults=faults,
        # Of a record that is not there nothing can be made: its message waits for a person.
        probes=drains if pending.recorded else (),
        settled_at=_settled_at,
    )


def _drains(serve: Callable[[Life], str]) -> tuple[Actor, ...]:
    """When all have ended: workers, a reconciler, workers; a person's redrive, workers."""

    def drained(life: Life) -> str:
        while (said := serve(life)) not in ("nothing to do", "failed"):
            pass
        return said

    programs: list[tuple[str, Callable[[Life], str]]] = [
        ("D1", drained),
        ("R1", _reconciled),
        ("D2", drained),
        ("P1", lambda life: f"redrives {life.ask('work queue', 'redrive')}"),
        ("D3", drained),
    ]
    return tuple(Actor(name, name, program) for name, program in programs)


def _worker(pending: Pending) -> Callable[[Life], str]:
    """One invocation, for the one message that it takes."""

    def program(life: Life) -> str:
        message: Message | None = life.ask("work queue", "receive")
        if message is None:
            return "nothing to do"
        ends = life.clock_ms() + WORKER_LIVES_MS
        worker = _made(pending, life)
        response = work_batch.run(_event(message), worker, lambda: ends - life.clock_ms())
        if response["batchItemFailures"]:
            return "failed"
        life.ask("work queue", "acknowledge", message.number)
        return "done"

    return program


def _made(pending: Pending, life: Life) -> work_batch.Worker:
    is_order = pending.kind is ORDERS
    addressee = addressee_of_order if is_order else addressee_of_webhook
    destinations = Destinations(_Tenants(), NoSecrets(), AskingDestination(life.ask), addressee)
    orders = fulfil.Fulfil(STAGE, destinations, AskingBus(life.ask))
    return work_batch.Worker(
        work=pending.kind,
        stage=STAGE,
        max_receives=pending.max_receives,
        store=AskingRecords(life.ask),
        act=orders if is_order else deliver.Deliver(destinations),
        pauses=AskingPauses(life.ask),
        words=fulfil.WORDS if is_order else deliver.WORDS,
        logger=silent(),
        clock_ms=life.clock_ms,
        owner=life.randomness(),
        detailed=lambda _tenant_id: False,
    )


class _OneShard(AskingRecords):
    """The index of pending work: of all shards but one it is known that nothing is in them."""

    def page(self, shard: str, start: object | None) -> Page:
        """See `PendingIndex`."""
        if shard in (pending_shard(ORDERS.operation, "R1"), pending_shard(WEBHOOKS.operation, "R1")):
            return super().page(shard, start)
        return Page((), 0, None)


def _reconciled(life: Life) -> str:
    """One run of the reconciler, where it would have anything to do."""
    if life.ask("records", "overdue") is None:
        return "nothing to do"
    dependencies = reconcile.Dependencies(
        settings=ReconcileSettings(STAGE, "records", {}),
        pending=_OneShard(life.ask),
        work_queues=AskingWorkQueues(life.ask),
        logger=silent(),
        clock_ms=life.clock_ms,
        shuffled=list,
    )
    try:
        tallies = reconcile.reconcile(dependencies, lambda: RECONCILER_LIVES_MS)
    except reconcile.ReconcileFailed:
        return "failed"
    return f"queued {sum(one.requeued for one in tallies.values())}"


def _event(message: Message) -> dict[str, Any]:
    attributes = {"ApproximateReceiveCount": str(message.receives)}
    record = {
        "messageId": f"message-{message.number}",
        "receiptHandle": str(message.number),
        "body": message.text.body(),
        "attributes": attributes,
        "messageAttributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:onceward-local_work",
        "awsRegion": "us-east-1",
    }
    return {"Records": [record]}


def _settled_at(seen: Seen) -> int:
    """When every message is visible, every lease over, and what has lost its message is overdue."""
    queue: Queue = seen.ports["work queue"]
    records: Kept = seen.ports["records"]
    instants = [one.visible_at for one in queue.messages]
    for _, stored in records.working:
        instants += [stored.item.lease_until + 1, *due_at(stored)]
    return max([seen.now, *instants])
