"""The dead-letter queues: looking at what they hold, and taking from them, without losing any of it."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from ops.letters import Letter, letter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mypy_boto3_sqs import SQSClient

    from infra.naming import Names

DELIVERY: Final = "delivery-dlq"
NOTIFY: Final = "notify-dlq"
SOURCES: Final[Mapping[str, str | None]] = {
    "orders-dlq": "orders",
    "webhooks-dlq": "webhooks",
    "dispatch-dlq": "dispatch-retry",
    NOTIFY: None,
    DELIVERY: None,
}
"""Every dead-letter queue, and the queue that its messages go back to; None: they came from no queue."""

# Long enough for a few slow calls, short enough that a command that was killed keeps nothing from the next
# one: what it held is back by itself after these seconds.
_HIDDEN_SECONDS: Final = 300
_RENEWED_AFTER_SECONDS: Final = _HIDDEN_SECONDS / 3
# SQS may hand out again what it has handed out (its developer guide, "at-least-once delivery"), and what was
# hidden comes back: so many times in a row without anything new, and what is left is no news.
_STALE_RECEIVES: Final = 20
# To release it all, again after a pause when some of it was refused (throttling); boto3 has retried before.
_RELEASE_PAUSES_SECONDS: Final = (1.0, 3.0)
# What is not hidden by us any more needs no release (SQS API reference, ChangeMessageVisibility).
_NOT_OURS: Final = frozenset(
    {
        "ReceiptHandleIsInvalid",
        "MessageNotInflight",
        "AWS.SimpleQueueService.MessageNotInflight",
        "InvalidParameterValue",
    }
)
# ReceiveMessage and the batch calls take ten (SQS API reference).
_BATCH: Final = 10
WAIT_SECONDS = 1
"""How long an empty queue is asked: any wait at all makes SQS ask all of its servers ("long polling")."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which are meant: of `tenant_id`, sent from `since` on and before `before` (ms); None for any."""

    tenant_id: str | None = None
    before: int | None = None
    since: int | None = None

    def includes(self, one: Letter) -> bool:
        """Whether `one` is meant."""
        return (
            (self.tenant_id is None or one.tenant_id == self.tenant_id)
            and (self.before is None or one.sent_at < self.before)
            and (self.since is None or one.sent_at >= self.since)
        )


AGES: Final = (("under 1h", 3_600), ("under 1d", 86_400), ("under 7d", 7 * 86_400), ("older", None))
"""Heading of each age, and below how many seconds it is; the queues keep a message for 14 days."""


def age_of(sent_at: int, now_ms: int) -> str:
    """The heading in AGES that a message sent at `sent_at` belongs under."""
    seconds = (now_ms - sent_at) / 1000
    return next(heading for heading, below in AGES if below is None or seconds < below)


@dataclass(slots=True)
class Census:
    """What a look at a queue has found: of the letters that were meant, how many, whose, since when, and why.

    `looked` counts all letters seen, `approximate` what SQS says there are (a guess, by its documentation).
    `record_ids`: of some, to go on with. `hidden`: letters that the look could not make visible again.
    """

    queue: str
    approximate: int
    looked: int = 0
    ages: dict[str, Counter[str]] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    oldest: int | None = None
    record_ids: dict[str, str] = field(default_factory=dict)
    hidden: int = 0

    @property
    def matching(self) -> int:
        """How many letters were meant."""
        return sum(ages.total() for ages in self.ages.values())

    @property
    def tenants(self) -> dict[str, int]:
        """Letters by tenant."""
        return {tenant: ages.total() for tenant, ages in sorted(self.ages.items())}

    def count(self, one: Letter, now_ms: int) -> None:
        """Add a letter that was meant."""
        self.ages.setdefault(one.tenant_id, Counter())[age_of(one.sent_at, now_ms)] += 1
        self.oldest = one.sent_at if self.oldest is None else min(self.oldest, one.sent_at)
        if one.reason:
            self.reasons[one.reason] += 1
        if one.record_id:
            self.record_ids.setdefault(one.tenant_id, one.record_id)


class DeadLetters:
    """One dead-letter queue of a stage, by its name without the stage (`orders-dlq`)."""

    def __init__(self, client: SQSClient, names: Names, name: str) -> None:
        self.name = name
        self._client = client
        self._url = client.get_queue_url(QueueName=names.platform(name))["QueueUrl"]

    def approximate(self) -> int:
        """How many messages SQS thinks there are, held by somebody or not."""
        answer = self._client.get_queue_attributes(
            QueueUrl=self._url,
            AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
        )
        return sum(int(count) for count in answer["Attributes"].values())

    @contextmanager
    def held(self) -> Iterator[Held]:
        """Messages taken for a while; what is not deleted is visible again when the block ends.

        But for those that `Held.still_hidden` counts then.
        """
        held = Held(self._client, self._url, self.name)
        try:
            yield held
        finally:
            held.release()

    def look(
        self,
        wanted: Wanted,
        now_ms: int,
        *,
        limit: int | None = None,
        each: Callable[[Letter, Census], None] = lambda _letter, _census: None,
    ) -> Census:
        """Count the letters that are meant, among at most `limit`; `each` is told of every one of them."""
        census = Census(self.name, self.approximate())
        with self.held() as held:
            for one in held.letters(limit):
                census.looked += 1
                if wanted.includes(one):
                    census.count(one, now_ms)
                    each(one, census)
        census.hidden = held.still_hidden
        return census


class Held:
    """What one command has received from a queue and not deleted; hidden from everybody else meanwhile.

    `still_hidden`: after `release`, how many messages SQS did not make visible again. They come back by
    themselves within five minutes.
    """

    def __init__(self, client: SQSClient, url: str, name: str) -> None:
        self.still_hidden = 0
        self._client = client
        self._url = url
        self._name = name
        self._handles: dict[str, str] = {}
        self._seen: set[str] = set()
        self._renewed_at = time.monotonic()

    def letters(self, limit: int | None = None) -> Iterator[Letter]:
        """Every letter of the queue once, at most `limit`."""
        stale = 0
        while stale < _STALE_RECEIVES and (limit is None or len(self._seen) < limit):
            received = self._receive(_BATCH if limit is None else min(_BATCH, limit - len(self._seen)))
            if not received:
                return
            fresh = [one for one in received if one.message_id not in self._seen]
            stale = 0 if fresh else stale + 1
            self._seen |= {one.message_id for one in fresh}
            yield from fresh

    def delete(self, one: Letter) -> None:
        """Remove it from the queue."""
        self._client.delete_message(QueueUrl=self._url, ReceiptHandle=one.handle)
        self._handles.pop(one.message_id, None)

    def release(self) -> None:
        """Make everything visible again; never raises for what SQS refuses, and counts it."""
        hidden = self._change_visibility(list(self._handles.values()), 0)
        for pause in _RELEASE_PAUSES_SECONDS:
            if not hidden:
                break
            time.sleep(pause)
            hidden = self._change_visibility(hidden, 0)
        self.still_hidden = len(hidden)
        self._handles.clear()

    def _receive(self, most: int) -> list[Letter]:
        if time.monotonic() - self._renewed_at > _RENEWED_AFTER_SECONDS:
            # What is left in the queue would otherwise come round again and again in a long run. What is
            # refused does so, and is known then.
            self._renewed_at = time.monotonic()
            self._change_visibility(list(self._handles.values()), _HIDDEN_SECONDS)
        answer = self._client.receive_message(
            QueueUrl=self._url,
            MaxNumberOfMessages=most,
            VisibilityTimeout=_HIDDEN_SECONDS,
            WaitTimeSeconds=WAIT_SECONDS,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        received = [letter(self._name, message) for message in answer.get("Messages", [])]
        self._handles |= {one.message_id: one.handle for one in received}
        return received

    def _change_visibility(self, handles: Sequence[str], seconds: int) -> list[str]:
        """Hide messages for so long from now on; returns the handles of those that stay as they were."""
        refused: list[str] = []
        for start in range(0, len(handles), _BATCH):
            batch = handles[start : start + _BATCH]
            entries: Any = [
                {"Id": str(place), "ReceiptHandle": handle, "VisibilityTimeout": seconds}
                for place, handle in enumerate(batch)
            ]
            try:
                answer = self._client.change_message_visibility_batch(QueueUrl=self._url, Entries=entries)
            except (BotoCoreError, ClientError):
                # One batch: the others may fare better.
                refused += batch
                continue
            # The call answers 200 and says for each entry whether it was done.
            failed = [entry for entry in answer.get("Failed", []) if entry["Code"] not in _NOT_OURS]
            refused += [batch[int(entry["Id"])] for entry in failed]
        return refused
