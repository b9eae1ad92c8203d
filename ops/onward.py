"""Where a function sent something on, told from its log line: lines carry ids, and names follow from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from handlers.domain import work

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from infra.naming import Names
    from ops.log_search import Line


def places(line: Line, names: Names) -> Mapping[str, str]:
    """The queue, topic or bus (physical names) that a line's unit was sent to; nothing where it was not."""
    of = _PLACES.get((line.function, str(line.content.get("outcome"))))
    tenant, operation = (str(line.content.get(name) or "") for name in ("tenant", "operation"))
    return {} if of is None else of(names, tenant, operation)


def _dispatched(names: Names, tenant: str, operation: str) -> Mapping[str, str]:
    follows = work.BY_OPERATION.get(operation)
    told_later = follows is not None and follows.announces
    return _queue(names, tenant, operation) | ({} if told_later else _topic(names, tenant, operation))


def _queue(names: Names, _tenant: str, operation: str) -> dict[str, str]:
    follows = work.BY_OPERATION.get(operation)
    return {} if follows is None else {"queue": names.platform(follows.queue)}


def _topic(names: Names, tenant: str, _operation: str) -> dict[str, str]:
    return {"topic": names.tenant(tenant)}


def _retry_queue(names: Names, _tenant: str, _operation: str) -> dict[str, str]:
    return {"queue": names.platform("dispatch-retry")}


def _bus(names: Names, _tenant: str, _operation: str) -> dict[str, str]:
    return {"bus": names.platform("orders")}


_PLACES: Final[Mapping[tuple[str, str], Callable[[Names, str, str], Mapping[str, str]]]] = {
    ("dispatch", "dispatched"): _dispatched,
    ("dispatch", "republished"): _topic,
    ("dispatch", "parked"): _retry_queue,
    ("fulfil", "done"): _bus,
    ("notify", "notified"): _topic,
    ("reconcile", "requeued"): _queue,
}
