"""What all ports of AWS have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handlers.domain.errors import Unavailable
from proof.programs import Raised

if TYPE_CHECKING:
    from collections.abc import Iterable

    from proof.programs import Call


class AwsPort:
    """Reached through the SDK, which sends a call again when its answer is lost, and gives up in the end.

    `certain`: the names of calls that nothing can happen to, since no worker makes them: Lambda takes and
    acknowledges messages itself, and an operator's look is not what is searched.
    """

    name: str
    resends = True
    certain: frozenset[str] = frozenset()

    def unreached(self, call: Call) -> Raised | None:
        """See `Port`."""
        return self.unanswered(call)

    def unanswered(self, call: Call) -> Raised | None:
        """See `Port`. The SDK gave up: nobody knows whether it took effect."""
        return None if call.name in self.certain else Raised(Unavailable, (self.name, "ReadTimeoutError"))

    def instants(self, state: Any) -> Iterable[int]:  # noqa: ANN401 - see `Port`
        """See `Port`. No moment means anything to it."""
        del state
        return ()

    def lapses(self, state: Any, now: int) -> Iterable[tuple[str, Any, tuple[str, ...]]]:  # noqa: ANN401
        """See `Port`. Nothing happens by time alone."""
        del state, now
        return ()
