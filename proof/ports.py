"""What a program can call, as the search sees it: a state that is a value, and a step to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from proof.programs import Call, Raised


@dataclass(frozen=True)
class Applied:
    """A call took effect.

    Attributes:
        state: of the port, afterwards.
        result: what the caller is answered; a `Raised` where that is an exception.
        broken: the promises that this very step broke, in words.
    """

    state: Any
    result: Any
    broken: tuple[str, ...] = ()


class Port(Protocol):
    """A part of the outside world. It keeps no state of its own: each state is an immutable value.

    Attributes:
        name: as in `Call.port`.
        resends: whether its client (the AWS SDK) sends a call again when the answer is lost.
    """

    name: str
    resends: bool

    def initial(self) -> Any:  # noqa: ANN401 - each port has its own kind of state
        """The state in which a search begins."""

    def apply(self, state: Any, call: Call, now: int) -> Applied:  # noqa: ANN401 - see `initial`
        """Let the call take effect at `now` (ms since the epoch)."""

    def unreached(self, call: Call) -> Raised | None:
        """How the caller hears that the call did not reach this port; None where that cannot happen."""

    def unanswered(self, call: Call) -> Raised | None:
        """How the caller hears that no answer came: it took effect or not. None where that cannot happen."""

    def instants(self, state: Any) -> Iterable[int]:  # noqa: ANN401 - see `initial`
        """Moments (ms since the epoch) at which this state begins to mean something else."""

    def lapses(self, state: Any, now: int) -> Iterable[tuple[str, Any, tuple[str, ...]]]:  # noqa: ANN401
        """What time alone may do to it at `now` (TTL): what it is called, the state after it, what broke."""
