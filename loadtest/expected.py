"""What a run was meant to do: the verdict measures the history against it. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loadtest.answers import derived_key
from loadtest.leads import lead_hash
from loadtest.plan import plan

if TYPE_CHECKING:
    from typing import Self

    from loadtest.run import RunSettings

# The stage on which nothing throttles and nobody else interferes: there every key must come through.
_STRICT_STAGE = "local"


@dataclass(frozen=True, slots=True)
class Expected:
    """What a run was meant to do.

    Attributes:
        stage: where; it is in the source of every event.
        requests: how often each (tenant, key, body hash) is sent. A request without a key stands under the
            key that is derived from its body.
    """

    stage: str
    requests: Counter[tuple[str, str, str]]

    @classmethod
    def of(cls, settings: RunSettings) -> Self:
        """From the settings of a run. Raises ValueError when they make no plan."""
        requests: Counter[tuple[str, str, str]] = Counter()
        for one in plan(settings).requests():
            body = lead_hash(settings, one.subject, one.variant)
            requests[one.tenant, one.key or derived_key(body), body] += 1
        return cls(settings.stage, requests)

    @property
    def strict(self) -> bool:
        """Each key must be accepted and each duplicate replayed; elsewhere nearly all must."""
        return self.stage == _STRICT_STAGE
