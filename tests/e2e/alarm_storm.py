"""Storms in waves, minutes apart by a clock of their own, and what the alarms make of them.

An alarm looks at windows of minutes, for a quarter of an hour and longer. A wave takes seconds; between two,
the clock by which metrics are kept is put forward. Within a wave time passes as it does.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from ops.local.state import State
from ops.observing.alarm_definitions import registered
from ops.observing.alarm_states import watch
from ops.observing.store import MetricStore
from tests.e2e.api import eventually, fresh_key
from tests.e2e.operations import APPOINTMENTS, LEADS, ORDERS, PAYMENTS
from tests.e2e.test_work import depth, reconcile
from tests.e2e.webhooks import event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import httpx

    from ops.observing.alarm_definitions import Definitions
    from ops.observing.alarm_states import History
    from ops.observing.collecting import Collector
    from ops.observing.series import Point
    from tests.e2e.api import Api
    from tests.e2e.webhooks import Sender
    from tests.platform_fixture import RunningPlatform

# The windows of alarms here are five minutes: with a wave in each, none ends for want of requests, and the
# reconciler, whose silence rings, is never silent.
_APART_MS: Final = 4 * 60_000

# How many at once: each wants a worker of every function, whose code is unpacked first and removed after it.
_CALLERS: Final = 2
_LEADS: Final = 6


class LateStore(MetricStore):
    """Keeps points under a clock that can be put forward."""

    ahead_ms: int = 0

    def put_all(self, points: Iterable[Point]) -> None:
        """As ever, but later."""
        super().put_all(replace(point, at_ms=point.at_ms + self.ahead_ms) for point in points)

    def now_ms(self) -> int:
        """What its clock says."""
        return time.time_ns() // 1_000_000 + self.ahead_ms


@dataclass(frozen=True)
class Tenant:
    """Who sends, and with what."""

    api: Api
    events: Sender


@dataclass
class Storm:
    """The platform under waves.

    Attributes:
        tenants: those who send, by id.
        poisoned: further keys that alpha uses.
    """

    platform: RunningPlatform
    store: LateStore
    collector: Collector
    tenants: dict[str, Tenant]
    poisoned: list[str] = field(default_factory=list)

    def definitions(self) -> Definitions:
        """The alarms as the program registered them."""
        return registered(State(self.platform.home / "state.json").present())

    def waves(self, count: int) -> None:
        """Send waves, each of them minutes after the one before."""
        for _ in range(count):
            self.wave()
            self.store.ahead_ms += _APART_MS

    def wave(self) -> None:
        """Send requests of every operation for every tenant, each twice; wait for what follows from them."""
        sends = [send for name, each in self.tenants.items() for send in self._sends(name, each)]
        with ThreadPoolExecutor(_CALLERS) as pool:
            answers = list(pool.map(lambda send: send(), sends))
        reconcile(self.platform)
        self._settle(answers)
        self.collector.collect()

    def watched(self, since_ms: int) -> History:
        """What the alarms make of it, from a moment of the store's clock until now."""
        return watch(self.definitions(), self.store, since_ms, self.store.now_ms())

    def _sends(self, name: str, tenant: Tenant) -> Sequence[Callable[[], httpx.Response]]:
        """Calls of one tenant, each of them twice."""
        poisoned = self.poisoned if name == "alpha" else []
        leads = [(LEADS, key) for key in poisoned] + [(LEADS, fresh_key("wave")) for _ in range(_LEADS)]
        others = [(each, fresh_key("wave")) for each in (ORDERS, ORDERS, PAYMENTS, APPOINTMENTS)]
        return 2 * [
            partial(tenant.events.send, event()),
            *(partial(each.send, tenant.api, each.body(), key) for each, key in (*leads, *others)),
        ]

    def _settle(self, answers: list[httpx.Response]) -> None:
        """Wait until nothing is under way: records are there, queues of work empty."""
        apis = {each.api.key: each.api for each in self.tenants.values()}
        for answer in answers:
            key, place = answer.request.headers.get("x-api-key"), answer.headers.get("Location")
            if answer.is_success and key is not None and place is not None:
                eventually(partial(_is_there, apis[key], place), seconds=60)
        for queue in ("orders", "webhooks"):
            eventually(partial(_is_empty, self.platform, queue), seconds=120)


def _is_there(api: Api, place: str) -> bool:
    return api.get(place).status_code == 200


def _is_empty(platform: RunningPlatform, queue: str) -> bool:
    return depth(platform, queue) == 0
