"""One run of `reconcile` after another, with a clock and an index of the test's choice."""

from __future__ import annotations

import io
import itertools
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

from handlers.reconcile import Dependencies, Tally, reconcile
from handlers.settings import ReconcileSettings
from tests.unit.handlers.dispatch_bench import emf
from tests.unit.handlers.work_bench import order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from handlers.domain.pending import PendingIndex
    from handlers.domain.work_message import WorkMessage
    from handlers.reconcile import Shard

ORDER = order(1)  # accepted 500 ms before NOW_MS
_LOGGERS = itertools.count()


@dataclass
class Reconciler:
    """One reconciler over an index that others may share, with a clock of the test's."""

    pending: PendingIndex
    sent: list[WorkMessage] = field(default_factory=list)
    now: int = ORDER.created_at
    error: BaseException | None = None
    progress: dict[str, object] = field(default_factory=dict)
    log: io.StringIO = field(default_factory=io.StringIO)
    order: Callable[[Any], Iterable[Shard]] = list

    def send(self, message: WorkMessage) -> None:
        if self.error is not None:
            raise self.error
        self.sent.append(message)

    def run(self, remaining_ms: Callable[[], int] = lambda: 40_000) -> dict[str, Tally]:
        dependencies = Dependencies(
            settings=ReconcileSettings("dev", "records", {}),
            pending=self.pending,
            work_queues=self,
            logger=Logger(service=f"reconcile-{next(_LOGGERS)}", level="INFO", stream=self.log),
            clock_ms=lambda: self.now,
            shuffled=lambda shards: list(self.order(shards)),
            progress=self.progress,
        )
        return reconcile(dependencies, remaining_ms)

    def log_lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.getvalue().splitlines()]


def told(output: str) -> dict[str, dict[str, Any]]:
    """The metrics of each operation."""
    return {line["Operation"]: line for line in emf(output)}
