"""A queue of work under the scheduler: SQS brings a message until somebody deletes it, or a person has to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from proof.aws import AwsPort
from proof.ports import Applied

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from handlers.domain.work_message import WorkMessage
    from proof.programs import Ask, Call

WORKER_LIVES_MS: Final = 120_000
"""How long a worker may run (infra.timeouts)."""
# Six times its consumer's timeout (infra.components.queues).
_VISIBILITY_MS: Final = 6 * WORKER_LIVES_MS


@dataclass(frozen=True)
class Message:
    """A message. `visible_at`: when it is brought next, ms since the epoch; `receives`: how often it was."""

    number: int
    text: WorkMessage
    visible_at: int
    receives: int = 0


@dataclass(frozen=True)
class Queue:
    """What waits or is in hand, the dead letters, what was lost, and how many were ever sent."""

    messages: tuple[Message, ...]
    dead: tuple[WorkMessage, ...] = ()
    lost: tuple[WorkMessage, ...] = ()
    sent: int = 0


class AskingPauses:
    """`work_batch.Pauses` for a program."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def hide(self, pauses: Mapping[str, int]) -> None:
        """See `Pauses`."""
        for handle, seconds in pauses.items():
            self._ask("work queue", "hide", int(handle), seconds)


class WorkQueue(AwsPort):
    """The port."""

    name = "work queue"
    certain = frozenset({"receive", "acknowledge", "redrive"})

    def __init__(self, texts: Iterable[WorkMessage], begins_ms: int, max_receives: int) -> None:
        """`texts`: what waits in the beginning. After `max_receives` a message is a dead letter."""
        self._messages = tuple(Message(number, text, begins_ms) for number, text in enumerate(texts))
        self._max_receives = max_receives

    def initial(self) -> Queue:
        """See `Port`."""
        return Queue(self._messages, sent=len(self._messages))

    def apply(self, state: Queue, call: Call, now: int) -> Applied:
        """See `Port`."""
        if call.name == "receive":
            return self._received(state, now)
        if call.name == "send":
            sent = Message(state.sent, call.arguments[0], now)
            return Applied(replace(state, messages=(*state.messages, sent), sent=state.sent + 1), None)
        if call.name == "redrive":
            return _redriven(state, now)
        number = call.arguments[0]
        if call.name == "acknowledge":
            left = tuple(one for one in state.messages if one.number != number)
            return Applied(replace(state, messages=left), None)
        return Applied(_shown(state, number, now + call.arguments[1] * 1000), None)

    def _received(self, state: Queue, now: int) -> Applied:
        """The message that is visible for the longest time; those received too often are dead letters."""
        for one in sorted(state.messages, key=lambda message: (message.visible_at, message.number)):
            if one.visible_at > now:
                break
            if one.receives < self._max_receives:
                taken = replace(one, receives=one.receives + 1, visible_at=now + _VISIBILITY_MS)
                return Applied(_replaced(state, taken), taken)
            left = tuple(other for other in state.messages if other != one)
            state = replace(state, messages=left, dead=(*state.dead, one.text))
        return Applied(state, None)

    def instants(self, state: Queue) -> Iterable[int]:
        """See `Port`. When a message is brought again."""
        return [one.visible_at for one in state.messages]

    def lapses(self, state: Queue, now: int) -> Iterable[tuple[str, Queue, tuple[str, ...]]]:
        """See `Port`. A message in hand is brought again; one that waits is lost (purged, or 14 days old)."""
        for one in state.messages:
            if one.visible_at > now:
                yield f"the queue brings message {one.number + 1} AGAIN", _shown(state, one.number, now), ()
            else:
                left = tuple(other for other in state.messages if other != one)
                queue = replace(state, messages=left, lost=(*state.lost, one.text))
                yield f"the queue LOSES message {one.number + 1}", queue, ()


def _redriven(state: Queue, now: int) -> Applied:
    """An operator's `dlq redrive`, and for what was lost `dispatch replay --republish`."""
    texts = (*state.dead, *state.lost)
    again = tuple(Message(number, text, now) for number, text in enumerate(texts, state.sent))
    return Applied(Queue((*state.messages, *again), sent=state.sent + len(again)), len(again))


def _shown(state: Queue, number: int, at: int) -> Queue:
    """The queue when a message, if it is still there, is visible from `at` on."""
    for one in state.messages:
        if one.number == number:
            return _replaced(state, replace(one, visible_at=at))
    return state


def _replaced(state: Queue, message: Message) -> Queue:
    messages = tuple(message if one.number == message.number else one for one in state.messages)
    return replace(state, messages=messages)
